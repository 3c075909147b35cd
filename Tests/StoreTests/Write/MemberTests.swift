import Chat
import GRDB
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Rooms and members")
struct MemberTests {
    private func code(_ result: Result<Receipt, Problem>) -> String? {
        if case .failure(let problem) = result { problem.code.string } else { nil }
    }

    private func members(_ log: TestLog, after: String? = nil, limit: Int = 10, for user: String = "alice") throws
        -> [String]
    {
        let after = try after.map { try UserID($0) }
        let found = try log.ask({ .members(after: after, limit: limit, $0) }, for: user)
        return found.members.map { "\($0.user) \($0.role)" } + (found.hasMore ? ["…"] : [])
    }

    @Test func `start with the first sender as owner, stored in one row`() throws {
        let log = try TestLog()
        for sender in ["alice", "bob", "alice"] { try log.send(.init(sender: sender)) }
        #expect(try members(log) == ["alice owner"])
    }

    @Test func `become private once, by a change or at creation`() throws {
        let log = try TestLog()
        try log.send(.init())
        for (visibility, title, expected) in [
            (nil, "a", false), (.private, nil, true), (.private, "b", false), (nil, "c", false), (.open, nil, false),
            (.private, "d", true),
        ] as [(RoomSummary.Visibility?, String?, Bool)] {
            let set = RoomChange.set(RoomSettings(visibility: visibility, title: title))
            let before = log.listener.ends.events.count
            _ = try log.change(set, by: "alice").get()
            let ends = log.listener.ends.events[before...].flatMap(\.self)
            #expect(try ends == (expected ? [.becamePrivate(RoomID("lobby"))] : []))
        }
        #expect(try log.change(.set(RoomSettings(visibility: .private)), in: "new", by: "alice").get().isNew)
        #expect(log.listener.ends.events.last == [.becamePrivate(try RoomID("new"))])
    }

    @Test(.onSQLite(.olderSchemas))
    func `of an older version belong to their first senders`() throws {
        let log = try TestLog()
        try log.sendAll([.init(sender: "bob"), .init(sender: "alice"), .init(room: "other", sender: "carol")])
        log.close()
        try log.sql { db in
            try db.execute(
                sql: """
                    DROP TABLE members; DROP TABLE read_marks;
                    DROP INDEX rooms_by_activity;
                    ALTER TABLE rooms DROP COLUMN bytes; ALTER TABLE rooms DROP COLUMN active_at;
                    ALTER TABLE rooms DROP COLUMN private; ALTER TABLE rooms DROP COLUMN title;
                    ALTER TABLE rooms DROP COLUMN created_at;
                    DELETE FROM grdb_migrations WHERE identifier IN ('v4', 'v5', 'v10', 'v11', 'v12');
                    """)
        }
        #expect(try members(try log.reopened()) == ["bob owner"])
    }

    @Test func `are managed by owners; others add and remove only themselves, in open rooms`() throws {
        let log = try TestLog()
        try log.send(.init())
        func set(_ user: String, _ role: RoomMember.Role? = nil, by actor: String) throws -> String? {
            code(try log.change(.setMember(try UserID(user), role), by: actor))
        }
        func remove(_ user: String, by actor: String) throws -> String? {
            code(try log.change(.removeMember(try UserID(user)), by: actor))
        }
        #expect(try set("bob", by: "bob") == nil)
        #expect(try set("bob", .owner, by: "bob") == "forbidden")
        #expect(try set("carol", by: "bob") == "forbidden")
        #expect(try remove("alice", by: "bob") == "forbidden")
        #expect(try remove("alice", by: "alice") == "last_owner")
        #expect(try set("alice", .member, by: "alice") == "last_owner")
        #expect(try members(log) == ["alice owner", "bob member"])
        #expect(try set("bob", .owner, by: "alice") == nil)
        #expect(try set("bob", by: "bob") == nil)
        #expect(try remove("alice", by: "bob") == nil)
        #expect(try members(log) == ["bob owner"])
        #expect(try remove("alice", by: "bob") == nil)
        #expect(try code(log.change(.set(RoomSettings(visibility: .private)), by: "bob")) == nil)
        #expect(try set("dave", by: "dave") == "room_not_found")
        #expect(try set("dave", by: "bob") == nil)
        #expect(try remove("dave", by: "dave") == nil)
        #expect(try members(log, for: "bob") == ["bob owner"])
        #expect(try code(log.change(.removeMember(try UserID("bob")), in: "nowhere", by: "bob")) == "room_not_found")
        let admin = try log.change(.setMember(try UserID("erin"), .owner), by: "root", isAdmin: true)
        #expect(code(admin) == nil)
        #expect(try members(log, for: "erin") == ["bob owner", "erin owner"])
    }

    @Test func `are listed in pages in the order of the users' ids`() throws {
        let log = try TestLog()
        try log.send(.init())
        for user in ["d", "b", "ä", "c"] { _ = try log.change(.setMember(try UserID(user), nil), by: user) }
        #expect(try members(log, limit: 2) == ["alice owner", "b member", "…"])
        #expect(try members(log, after: "b", limit: 2) == ["c member", "d member", "…"])
        #expect(try members(log, after: "d", limit: 2) == ["ä member"])
    }

    @Test func `are created and changed by owners, and survive a restart and a crash`() throws {
        var log = try TestLog()
        let made = try log.change(.set(RoomSettings(visibility: .private, title: "Us")), by: "alice").get()
        #expect(made.isNew)
        for log in [log, try log.crashed()] {
            let summary = try log.summary(for: "alice")
            #expect(summary.visibility == .private && summary.title == "Us" && summary.head == 0)
            #expect(throws: Problem.roomNotFound) { try log.state() }
        }
        log = try log.reopened()
        #expect(try log.summary(for: "alice").visibility == .private)
        #expect(try !log.change(.set(RoomSettings(title: "")), by: "alice").get().isNew)
        #expect(try log.summary(for: "alice").visibility == .private)
        #expect(try log.summary(for: "alice").title == nil)
        _ = try log.change(.set(RoomSettings(visibility: .open)), by: "alice")
        #expect(try code(log.change(.set(RoomSettings(title: "x")), by: "bob")) == "forbidden")
        #expect(try log.summary(for: nil).visibility == .open)
    }

    @Test func `that are private are hidden from others from the commit on`() throws {
        let log = try TestLog()
        try log.send(.init(id: "a"))
        let makePrivate = try log.submission(.room(.set(RoomSettings(visibility: .private))), by: "alice")
        let sends = try log.submissions([.init(sender: "bob"), .init(sender: "bob", replyTo: 9), .init()])
        log.log.submit([makePrivate] + sends)
        let outcomes = try log.listener.outcomes(sends.map(\.ticket)).map { code($0.result) }
        #expect(outcomes == ["room_not_found", "room_not_found", nil])
        #expect(try code(log.outcome(log.submission(.read(seq: 1), by: "bob"))) == "room_not_found")

        let alice = try UserID("alice")
        for (user, problem) in [("bob", .roomNotFound), (nil, .roomNotFound), ("alice", nil)] as [(String?, Problem?)] {
            let queries = [
                try log.query({ .page(PageRequest(), $0) }, for: user),
                try log.query({ .message(seq: 1, $0) }, for: user),
                try log.query({ .clientMessage(sender: alice, id: "a", $0) }, for: user),
                try log.query({ .changes(since: 0, limit: 10, $0) }, for: user),
                try log.query({ .replay(since: 0, format: .webSocket, bytes: 100, $0) }, for: user),
                try log.query({ .state($0) }, for: user), try log.query({ .summary($0) }, for: user),
                try log.query({ .members(after: nil, limit: 10, $0) }, for: user),
                try log.query({ .member(alice, $0) }, for: user),
            ]
            #expect(try log.problems(of: queries) == Array(repeating: problem, count: queries.count))
        }
        // The refusal of one query does not affect others.
        let queries = try ["bob", "alice", nil, "alice"].map { try log.query({ .state($0) }, for: $0) }
        #expect(try log.problems(of: queries) == [.roomNotFound, nil, .roomNotFound, nil])
    }

    @Test func `that only admins may create do not exist before`() throws {
        let log = try TestLog { $0.roomsByAdminsOnly = true }
        #expect(try code(log.sendAll([.init()])[0]) == "room_not_found")
        #expect(try code(log.change(.set(RoomSettings()), by: "alice")) == "room_not_found")
        #expect(throws: Problem.roomNotFound) { try log.state() }
        #expect(try log.change(.set(RoomSettings()), by: "root", isAdmin: true).get().isNew)
        #expect(try log.state() == RoomState())
        #expect(try log.send(.init()).seq == 1)
    }

    @Test func `with members added by admins only still allow joining and leaving`() throws {
        let log = try TestLog { $0.membersByAdminsOnly = true }
        try log.send(.init())
        let (bob, carol) = (try UserID("bob"), try UserID("carol"))
        #expect(try code(log.change(.setMember(bob, nil), by: "alice")) == "forbidden")
        #expect(Problem.membersByAdminsOnly.status == 403 && Problem.membersByAdminsOnly.code == .forbidden)
        #expect(try log.change(.setMember(bob, nil), by: "root", isAdmin: true).get().isNew)
        #expect(try log.change(.setMember(bob, .owner), by: "alice").get().isNew == false)
        #expect(try log.change(.setMember(carol, nil), by: "carol").get().isNew)
        _ = try log.change(.removeMember(carol), by: "bob").get()
        #expect(log.listener.ends.events.last == [.removed(carol, from: try RoomID("lobby"))])
        #expect(try code(log.change(.setMember(carol, nil), by: "bob")) == "forbidden")
    }

    @Test func `are looked up by searches, not by scans`() throws {
        let log = try TestLog()
        for query in [
            "SELECT id, private FROM rooms WHERE name = 'a'",
            "SELECT owner FROM members WHERE room = 1 AND \"user\" = 'a'",
            "SELECT 1 FROM members WHERE room = 1 AND owner = 1 LIMIT 2",
            "SELECT \"user\", owner FROM members WHERE room = 1 AND \"user\" > 'a' ORDER BY \"user\" LIMIT 3",
        ] {
            #expect(try log.scans(query) == [], "\(query)")
        }
    }
}
