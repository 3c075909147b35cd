import Chat
import Synchronization
import TestSupport
import Testing
import Threads
import Wire

@testable import Store

@Suite("The backlog of large answers")
struct AnswerBacklogTests {
    @Test func `makes readers wait until the loops have taken earlier answers`() throws {
        let backlog = AnswerBacklog(limit: 200_000)
        var shares = [backlog.hold(100_000), backlog.hold(99_999)]
        backlog.waitForRoom()
        shares.append(backlog.hold(100_000))
        let (isTaken, sawTaken) = (Flag(), Flag())
        let reader = NamedThread(name: "waiting") {
            backlog.waitForRoom()
            if isTaken.isSet { sawTaken.set() }
        }
        isTaken.set()
        shares = []
        reader.join()
        #expect(sawTaken.isSet)
    }

    @Test func `does not count small answers`() {
        let backlog = AnswerBacklog(limit: 1)
        #expect(backlog.hold(AnswerBacklog.leastBytes - 1) == nil)
        backlog.waitForRoom()
    }

    @Test func `ends its waits when the log closes`() {
        let backlog = AnswerBacklog(limit: 1)
        let share = backlog.hold(AnswerBacklog.leastBytes)
        backlog.close()
        backlog.waitForRoom()
        _ = share
    }

    @Test(arguments: [false, true])
    func `holds up pages and lists of rooms in the log`(isList: Bool) throws {
        let log = try TestLog {
            $0.readers = 1
            $0.waitingAnswerBytes = 1
        }
        let text = String(repeating: "x", count: 16_000)
        for number in 0..<8 { try log.send(.init(text: text, room: "room\(number)")) }
        for _ in 0..<8 { try log.send(.init(text: text)) }
        let page = { try log.query({ .page(PageRequest(anchor: .newest, limit: 20), $0) }) }
        let list = {
            Query(Reply<InboxSlice>(loop: 0, client: .connection(1)) { _ in }, for: try UserID("alice")) {
                .ownRooms(.inbox(InboxRequest(limit: 20), $0), within: nil)
            }
        }
        let (first, second) = try (isList ? list() : page(), page())
        log.log.fetch([first])
        try log.listener.waitForReplies(to: [first])
        let (isDelivered, sawDelivered) = (Flag(), Flag())
        log.listener.onFetched.withLock { $0 = { if isDelivered.isSet { sawDelivered.set() } } }
        log.log.fetch([second])
        isDelivered.set()
        first.reply.deliver()
        try log.listener.waitForReplies(to: [second])
        #expect(sawDelivered.isSet)
    }
}

/// A flag that threads share.
private final class Flag: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock { $0 } }

    func set() { value.withLock { $0 = true } }
}
