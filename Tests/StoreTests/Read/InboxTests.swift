import Chat
import GRDB
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The rooms of a user")
struct InboxTests {
    private func ids(_ slice: InboxSlice) -> [String] { slice.rooms.map(\.summary.room.string) }

    /// Creates a log whose clock advances a second with each commit, filing at once or not before closing.
    private func makeLog(journal: Bool, _ clock: TestClock) throws -> TestLog {
        try TestLog {
            if !journal { $0.journal.messages = 0 }
            $0.journal.idleTime = 1_000_000
            $0.clock = {
                clock.step(1000)
                return clock.now
            }
        }
    }

    @Test(arguments: TestStore.journals(false, true))
    func `are sorted by their newest message, or by creation`(journal: Bool) throws {
        let clock = TestClock()
        let log = try makeLog(journal: journal, clock)
        for room in ["a", "b", "c"] { try log.send(.init(room: room)) }
        _ = try log.change(.set(RoomSettings(title: "Empty")), in: "empty", by: "alice")
        #expect(try ids(log.inbox(of: "alice")) == ["empty", "c", "b", "a"])
        try log.send(.init(room: "b", sender: "bob"))
        #expect(try ids(log.inbox(of: "alice")) == ["b", "empty", "c", "a"])
        // Edits, reactions and deletions are not activity.
        try log.edit(1, "other", of: "a")
        try log.delete(1, of: "c")
        #expect(try ids(log.inbox(of: "alice")) == ["b", "empty", "c", "a"])
        try log.send(.init(room: "a"))
        #expect(try ids(log.inbox(of: "alice")) == ["a", "b", "empty", "c"])
        #expect(try ids(log.inbox(of: "bob")) == [])
        #expect(try ids(log.reopened().inbox(of: "alice")) == ["a", "b", "empty", "c"])
    }

    @Test func `of the same time are sorted by id, also across pages`() throws {
        let clock = TestClock()
        let log = try TestLog { $0.clock = { clock.now } }
        let rooms = ["b", "A", "a.1", "a", "a-", "Z", "0"]
        for room in rooms { try log.send(.init(room: room)) }
        let sorted = rooms.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(try ids(log.inbox(of: "alice")) == sorted)
        for limit in 1...8 {
            var walked: [String] = []
            var next: InboxCursor?
            repeat {
                let slice = try log.inbox(of: "alice", after: next, limit: limit)
                #expect(slice.rooms.count == min(limit, rooms.count - walked.count))
                walked += ids(slice)
                next = slice.next
                #expect((next == nil) == (walked.count == rooms.count))
            } while next != nil
            #expect(walked == sorted)
        }
    }

    @Test(arguments: TestStore.journals(false, true))
    func `have each room's state and newest message as it is now`(journal: Bool) throws {
        let log = try makeLog(journal: journal, TestClock())
        for room in ["edited", "deleted", "plain"] {
            for sender in ["alice", "bob"] { try log.send(.init(room: room, sender: sender)) }
        }
        try log.edit(2, "better", of: "edited", as: "bob")
        try log.delete(2, of: "deleted", as: "bob")
        try log.read(to: 1, in: "edited", as: "alice")
        _ = try log.change(.set(RoomSettings(visibility: .private, title: "Us")), in: "empty", by: "alice")
        _ = try log.change(.setMember(try UserID("bob"), nil), in: "empty", by: "alice")
        try log.join("plain", as: "bob")
        for user in ["alice", "bob"] {
            let slice = try log.inbox(of: user)
            #expect(ids(slice) == (user == "alice" ? ["empty", "plain", "deleted", "edited"] : ["empty", "plain"]))
            for row in slice.rooms {
                let room = row.summary.room.string
                #expect(try row.summary == log.summary(of: room, for: user))
                #expect(row.summary.role == (user == "alice" ? .owner : .member))
                #expect(try row.lastMessage == (room == "empty" ? nil : log.message(2, of: room)))
            }
        }
    }

    @Test func `are those the user is a member of and the caller may access`() throws {
        let log = try TestLog()
        for room in ["red", "green", "blue"] { try log.send(.init(room: room)) }
        #expect(try ids(log.inbox(of: "bob")) == [])
        try log.send(.init(room: "red", sender: "bob"))
        #expect(try ids(log.inbox(of: "bob")) == [])
        try log.join("red", "blue", as: "bob")
        #expect(try Set(ids(log.inbox(of: "bob"))) == ["red", "blue"])
        _ = try log.change(.removeMember(try UserID("bob")), in: "red", by: "alice")
        #expect(try ids(log.inbox(of: "bob")) == ["blue"])
        let patterns = ["b*", "red"].map { RoomPattern($0)! }
        #expect(try Set(ids(log.inbox(of: "alice", within: patterns))) == ["red", "blue"])
        #expect(try ids(log.inbox(of: "alice", within: [])) == [])
    }

    @Test func `include rooms only in the journal after a crash`() throws {
        let log = try makeLog(journal: true, TestClock())
        for room in ["a", "b", "a"] { try log.send(.init(room: room)) }
        let slice = try log.crashed().inbox(of: "alice")
        #expect(ids(slice) == ["a", "b"] && slice.rooms.map(\.summary.head) == [2, 1])
    }

    @Test(.onSQLite(.olderSchemas))
    func `of an older version without messages come last`() throws {
        let log = try TestLog()
        for room in ["old", "older"] { _ = try log.change(.set(RoomSettings()), in: room, by: "alice") }
        try log.sql { try $0.execute(sql: "UPDATE rooms SET created_at = NULL; UPDATE members SET activity = 0") }
        try log.send(.init(room: "new"))
        #expect(try ids(log.inbox(of: "alice", limit: 2)) == ["new", "old"])
        #expect(try ids(log.inbox(of: "alice", after: log.inbox(of: "alice", limit: 2).next)) == ["older"])
    }

    @Test func `read during sends and filing are never behind what was reported, nor without their newest message`()
        throws
    {
        let log = try TestLog {
            $0.journal.messages = 40
            $0.journal.messagesOfRoom = 7
        }
        let rooms = (0..<10).map { "room\($0)" }
        for room in rooms { try log.send(.init(room: room)) }
        let heard = Mutex(Dictionary(uniqueKeysWithValues: rooms.map { ($0, Int64(1)) }))
        inParallel(3) { index in
            if index == 0 {
                for round in 0..<600 {
                    let room = rooms[round * 7 % 10]
                    let stored = try log.send(.init(room: room))
                    heard.withLock { $0[room] = stored.seq }
                }
            } else {
                for _ in 0..<200 {
                    let known = heard.withLock { $0 }
                    let slice = try log.inbox(of: "alice")
                    #expect(slice.rooms.count == rooms.count)
                    for row in slice.rooms {
                        #expect(row.summary.head >= known[row.summary.room.string]!)
                        let last = try Message(decoding: try #require(row.lastMessage))
                        #expect(last.seq == row.summary.head && row.summary.rev == last.rev)
                    }
                }
            }
        }
    }

    @Test func `are found by searches alone`() throws {
        let log = try TestLog()
        let statement = """
            SELECT rooms.id, (
                SELECT messages.created_at FROM messages
                WHERE messages.id > (members.room << 36) AND messages.id <= ((members.room << 36) | 68719476735)
                ORDER BY messages.id DESC LIMIT 1
            ), rooms.created_at
            FROM members JOIN rooms ON rooms.id = members.room WHERE members."user" = 'a'
            """
        #expect(try log.scans(statement) == [])
    }

    @Test func `are reported when they begin and end, once each, in order, before the senders' outcomes`() throws {
        let log = try TestLog()
        try log.send(.init())
        try log.send(.init())
        try log.join("lobby", "lobby", as: "bob")
        _ = try log.change(.setMember(try UserID("bob"), .owner), by: "alice")
        _ = try log.change(.setMember(try UserID("carol"), nil), by: "carol")
        for _ in 1...2 { _ = try log.change(.removeMember(try UserID("carol")), by: "alice") }
        _ = try log.change(.removeMember(try UserID("bob")), by: "carol")
        _ = try log.change(.set(RoomSettings()), in: "other", by: "dave")
        let told = log.listener.memberships.events.joined().map { "\($0.user) \($0.room) \($0.kind)" }
        #expect(
            told == [
                "alice lobby joined(rev: 0)", "bob lobby joined(rev: 2)", "carol lobby joined(rev: 2)",
                "carol lobby left", "dave other joined(rev: 0)",
            ])
        // In one commit: messages sent after the user joined have higher revisions.
        let joining = try log.submission(.room(.setMember(try UserID("erin"), nil)), by: "erin")
        try log.submitAll(log.submissions([.init()]) + [joining] + log.submissions([.init()]))
        #expect(log.listener.memberships.events.last?.first?.kind == .joined(rev: 3))
    }
}
