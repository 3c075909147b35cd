import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("An admin's read")
struct AdminReadTests {
    private func members(_ log: TestLog) throws -> [Int64] {
        try log.read(for: "root", isAdmin: true) {
            .server(.rooms(InboxRequest(cursor: nil, limit: 10), $0))
        }.rooms.map(\.members)
    }

    @Test func `counts the members of rooms without users whose erasure is under way`() throws {
        let log = try TestLog()
        try log.send(.init())
        try log.join("lobby", as: "bob")
        #expect(try members(log) == [2])
        try log.execute("INSERT INTO erasures (\"user\", erased, messages) VALUES ('bob', 0, 0)")
        #expect(try members(log) == [1])
        #expect(try log.ask { .members(after: nil, limit: 10, $0) }.members.map(\.user.string) == ["alice"])
    }

    @Test(arguments: [0, 16_384])
    func `finds a user's last message in the most active of many rooms, filed or not`(journalMessages: Int) throws {
        let clock = TestClock()
        let log = try TestLog {
            $0.clock = { clock.now }
            $0.journal.messages = journalMessages
        }
        let rooms = (0..<1_100).map { "room\($0)" }
        try log.sendAll(rooms.map { .init(room: $0) })
        clock.step(1000)
        try log.send(.init(room: rooms[1_099]))
        let alice = try UserID("alice")
        let found = try log.read(for: "root", isAdmin: true) { .server(.user(alice, after: nil, limit: 1, $0)) }
        #expect(found.lastActivity == clock.now)
    }
}
