import Chat
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A full queue")
struct OverloadTests {
    @Test func `refuses one more submission at once with 503, and stores the waiting ones`() throws {
        let gate = Gate()
        let log = try TestLog { $0.submissionQueue = 5 }
        // The writer is held up while it reports the first message, so the others stay in the queue.
        log.listener.onCommitted.withLock { $0 = { gate.pass() } }
        log.log.submit(try log.submissions([.init()]))
        gate.waitForArrival()
        log.listener.onCommitted.withLock { $0 = nil }

        let waiting = try log.submissions((0..<8).map { .init(text: "\($0)") })
        log.log.submit(Array(waiting[..<3]))
        #expect(log.log.queuedSubmissions == 3)
        log.log.submit(Array(waiting[3...]))
        let refused = try log.listener.outcomes(waiting[5...].map(\.ticket))
        for outcome in refused {
            let problem = #expect(throws: Problem.overloaded) { try outcome.result.get() }
            #expect(problem?.status == 503 && problem?.retryAfter == 1)
        }
        #expect(log.log.queuedSubmissions == 5)
        gate.open()
        let stored = try log.listener.outcomes(waiting[..<5].map(\.ticket))
        #expect(try stored.map { try $0.result.get().seq } == [2, 3, 4, 5, 6])
        #expect(log.log.queuedSubmissions == 0)
        #expect(try log.send(.init()).seq == 7)
    }

    @Test func `refuses one more query at once with 503, and answers the waiting ones`() throws {
        let gate = Gate()
        let log = try TestLog {
            $0.readers = 1
            $0.queryQueue = 3
        }
        log.listener.onFetched.withLock { $0 = { gate.pass() } }
        log.log.fetch([try log.query({ .state($0) })])
        gate.waitForArrival()
        log.listener.onFetched.withLock { $0 = nil }

        let waiting = try (0..<5).map { _ in try log.query({ .state($0) }) }
        log.log.fetch(waiting)
        try log.listener.waitForReplies(to: Array(waiting[3...]))
        #expect(waiting[3...].allSatisfy { $0.reply.problem == .overloaded })
        #expect(log.log.queuedQueries == 3)
        gate.open()
        try log.listener.waitForReplies(to: Array(waiting[..<3]))
        #expect(waiting[..<3].allSatisfy { $0.reply.problem == nil })
    }
}
