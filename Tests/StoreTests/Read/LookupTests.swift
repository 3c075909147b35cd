import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A query")
struct LookupTests {
    @Test func `finds a message by its place, or by its sender's id`() throws {
        let log = try TestLog()
        let first = try log.send(.init(text: "first", sender: "alice", id: "a1"))
        let second = try log.send(.init(text: "second", sender: "bob", id: "b1"))
        #expect(try log.message(1) == first.body)
        #expect(try log.message(2) == second.body)
        for seq in [0, 3, .max, -1] as [Int64] { #expect(try log.message(seq) == nil) }
        #expect(try log.message("a1", from: "alice") == first.body)
        #expect(try log.message("a1", from: "bob") == nil)
        #expect(try log.message("b1", from: "bob") == second.body)
        #expect(try log.message("b1", from: "bob", of: "other") == nil)
        #expect(try log.message("missing", from: "bob") == nil)
        #expect(try log.message(1, of: "other") == nil)
    }

    @Test func `is answered together with others, a batch at a time`() throws {
        let log = try TestLog {
            $0.readers = 1
            $0.readBatch = 8
        }
        try log.fill(100)
        let replies = (0..<100).map { _ in Reply<StoredMessage?>(loop: 0, client: .connection(0)) { _ in } }
        let lobby = try RoomID("lobby")
        let queries = replies.enumerated().map { index, reply in
            Query(reply) { .room(lobby, .message(seq: Int64(index + 1), $0)) }
        }
        #expect(try log.problems(of: queries).allSatisfy { $0 == nil })
        for (index, reply) in replies.enumerated() {
            let message = try #require(try reply.result?.get())
            #expect(try Message(decoding: message.body).seq == Int64(index + 1))
        }
        #expect(log.listener.rounds.events.allSatisfy { (1...8).contains($0.count) })
    }

    @Test(arguments: [1, 2, 3])
    func `ends a batch if its answer fills it`(perRound: Int) throws {
        let log = try TestLog()
        let body = try log.send(.init(text: String(repeating: "x", count: 1000))).body
        let narrow = try log.reopened {
            $0.readers = 1
            $0.readBytes = body.count * perRound
        }
        let queries = try (0..<7).map { _ in try narrow.query({ .page(PageRequest(), $0) }) }
        #expect(try narrow.problems(of: queries).allSatisfy { $0 == nil })
        let counts = narrow.listener.rounds.events.map(\.count)
        #expect(counts.reduce(0, +) == 7)
        #expect(counts.allSatisfy { $0 <= perRound })
        #expect(counts.count >= (7 + perRound - 1) / perRound)
    }

    @Test func `that fails gets 503, and others are answered`() throws {
        let log = try TestLog { $0.readers = 1 }
        try log.fill(3)
        let alice = try UserID("alice")
        // Removes the index of client message ids from the file.
        try log.execute("ALTER TABLE messages RENAME COLUMN client_message_id TO lost")
        let queries = try [
            log.query({ .message(seq: 1, $0) }), log.query({ .clientMessage(sender: alice, id: "x", $0) }),
            log.query({ .message(seq: 2, $0) }), log.query({ .page(PageRequest(), $0) }),
        ]
        let problems = try log.problems(of: queries)
        let problem = problems[1]
        #expect(problem?.status == 503 && problem?.code == .unavailable)
        // PostgreSQL's reasons are for operators.
        #expect(TestStore.isPostgres || problem?.detail.hasPrefix("The history could not be read: ") == true)
        for index in [0, 2, 3] { #expect(problems[index] == nil) }

        try log.execute("ALTER TABLE messages RENAME COLUMN lost TO client_message_id")
        #expect(try log.message("x", from: "alice") == nil)
        #expect(try log.page().count == 3)
    }

    @Test func `is timed with its batch`() throws {
        let told = Recorder<Duration>()
        let log = try TestLog { $0.onRead = { told.record($0) } }
        _ = try log.state()
        _ = try log.state()
        #expect(told.events.count == 2)
    }
}
