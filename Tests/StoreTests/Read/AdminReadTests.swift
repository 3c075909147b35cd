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
}
