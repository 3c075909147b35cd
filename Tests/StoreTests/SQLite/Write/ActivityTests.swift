import Chat
import GRDB
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The order of a user's rooms")
struct ActivityTests {
    /// The expected rooms and memberships, computed without an index.
    private struct Model {
        struct Room {
            var activity: Int64
            var members: [String: Bool] = [:]
        }

        var rooms: [String: Room] = [:]
        /// The users who have sent to a room or read it.
        var takenPart: Set<[String]> = []

        /// Returns a user's rooms in the order of the list.
        func inbox(of user: String) -> [String] {
            rooms.filter { $0.value.members[user] != nil }
                .sorted { ($1.value.activity, $0.key) < ($0.value.activity, $1.key) }.map(\.key)
        }

        /// Returns the same rooms, with those that the user has used first.
        func mine(of user: String) -> [String] {
            let all = inbox(of: user)
            return all.filter { rooms[$0]!.members[user]! } + all.filter { !rooms[$0]!.members[user]! }
        }
    }

    private func walk(_ log: TestLog, of user: String, limit: Int) throws -> [String] {
        var ids: [String] = []
        var next: InboxCursor?
        repeat {
            let slice = try log.inbox(of: user, after: next, limit: limit)
            ids += slice.rooms.map(\.summary.room.string)
            next = slice.next
        } while next != nil
        return ids
    }

    private func isIndexed(_ log: TestLog, for user: String) throws -> Bool {
        let keys = try log.count("meta WHERE key = 'activity_fill'")
        let missing = try log.count("members WHERE \"user\" = '\(user)' AND activity IS NULL")
        return keys == 0 && missing == 0
    }

    @Test(arguments: TestStore.journals((1, 0), (2, 4), (3, 12), (4, 100_000)))
    func `follows their activity, after sends, read marks, joins and leaves, filed or not`(
        seed: UInt64, journalMessages: Int
    ) throws {
        var generator = SeededGenerator(seed: seed)
        let clock = TestClock()
        let log = try TestLog {
            $0.journal.messages = journalMessages
            $0.journal.messagesOfRoom = 5
            $0.journal.idleTime = 1_000_000
            $0.clock = { clock.now }
        }
        var model = Model()
        let users = ["alice", "bob", "carol"]
        for step in 0..<400 {
            clock.step(Int64.random(in: 0...2, using: &generator))
            let user = users.randomElement(using: &generator)!
            let room = "room\(Int.random(in: 0..<30, using: &generator))"
            let now = clock.now.milliseconds
            let isMember = model.rooms[room]?.members[user] != nil
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                try log.send(.init(room: room, sender: user, id: "\(step)"))
                model.takenPart.insert([room, user])
                if model.rooms[room] == nil { model.rooms[room] = .init(activity: now, members: [user: true]) }
                model.rooms[room]!.activity = now
                if isMember { model.rooms[room]!.members[user] = true }
            case 5:
                guard model.rooms[room] == nil else { continue }
                _ = try log.change(.set(RoomSettings()), in: room, by: user).get()
                model.rooms[room] = .init(activity: now, members: [user: true])
            case 6, 7:
                guard model.rooms[room] != nil, !isMember else { continue }
                let isOwnDoing = Bool.random(using: &generator)
                let submission = try log.submission(
                    .room(.setMember(try UserID(user), nil)), in: room, by: isOwnDoing ? user : "admin",
                    isAdmin: true)
                _ = try log.outcome(submission).get()
                model.rooms[room]!.members[user] = isOwnDoing || model.takenPart.contains([room, user])
            case 8:
                guard isMember else { continue }
                guard case .readMark(_, hasMoved: true) = try log.read(to: 1_000, in: room, as: user) else { continue }
                model.rooms[room]!.members[user] = true
                model.takenPart.insert([room, user])
            default:
                guard isMember, try log.change(.removeMember(try UserID(user)), in: room, by: user).isSuccess else {
                    continue
                }
                model.rooms[room]!.members[user] = nil
            }
            guard step % 4 == 0 else { continue }
            let limit = Int.random(in: 1...8, using: &generator)
            for user in users {
                #expect(try walk(log, of: user, limit: limit) == model.inbox(of: user))
                let mine = model.mine(of: user)
                let (rooms, hasMore) = try log.memberships(of: user, limit: limit)
                #expect(rooms == Array(mine.prefix(limit)) && hasMore == (mine.count > limit))
            }
        }
        #expect(try isIndexed(log, for: "alice"))
    }

    @Test(arguments: TestStore.journals(0, 100_000))
    func `is computed on reading for rooms with more than 64 members`(journalMessages: Int) throws {
        #expect(ActivityStatements.maximumMembers == 64)
        let clock = TestClock()
        let log = try TestLog {
            $0.journal.messages = journalMessages
            $0.clock = {
                clock.step(1)
                return clock.now
            }
        }
        for room in ["large", "small", "other", "another", "more"] { try log.send(.init(room: room)) }
        func expectKept(_ expected: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
            // PostgreSQL computes it for every room.
            if TestStore.isPostgres { return }
            let large = "members WHERE activity <> \(Int64.max) AND room = (SELECT id FROM rooms WHERE name = 'large')"
            #expect(try log.count(large) == expected, sourceLocation: sourceLocation)
        }
        for index in 0..<70 {
            try log.join("large", as: "user\(index)")
            try expectKept(index + 2 <= 64 ? index + 2 : 0)
        }
        try log.send(.init(room: "small"))
        #expect(try walk(log, of: "alice", limit: 2) == ["small", "more", "another", "other", "large"])
        try log.send(.init(room: "large", sender: "user3"))
        #expect(try walk(log, of: "alice", limit: 2) == ["large", "small", "more", "another", "other"])
        for index in 0..<40 { _ = try log.change(.removeMember(try UserID("user\(index)")), in: "large", by: "alice") }
        try log.send(.init(room: "large"))
        // An edit files the earlier messages.
        try log.edit(2, "x", of: "large", as: "user3")
        try expectKept(31)
        #expect(try walk(log, of: "user60", limit: 1) == ["large"])
    }

    @Test func `starts with rooms the user has sent to or read, however many were added`() throws {
        let log = try TestLog { $0.journal.messages = 0 }
        for room in ["own", "read"] { try log.send(.init(room: room, sender: room == "own" ? "victim" : "alice")) }
        for room in ["sent", "joined"] { try log.send(.init(room: room)) }
        _ = try log.change(.setMember(try UserID("victim"), nil), in: "read", by: "alice").get()
        _ = try log.change(.setMember(try UserID("victim"), nil), in: "sent", by: "alice").get()
        try log.read(to: 1, in: "read", as: "victim")
        try log.send(.init(room: "sent", sender: "victim"))
        try log.join("joined", as: "victim")
        for index in 0..<50 {
            try log.send(.init(room: "flood\(index)", sender: "mallory"))
            _ = try log.change(.setMember(try UserID("victim"), nil), in: "flood\(index)", by: "mallory").get()
        }
        let (rooms, hasMore) = try log.memberships(of: "victim", limit: 10)
        #expect(Set(rooms.prefix(4)) == ["own", "read", "sent", "joined"] && rooms.count == 10 && hasMore)
        #expect(rooms.dropFirst(4).allSatisfy { $0.hasPrefix("flood") })
    }

    @Test(.onSQLite(.olderSchemas))
    func `is filled in for an earlier version's database while it serves`() throws {
        let directory = try TemporaryDirectory()
        try makeDatabase(at: directory.path(of: "log.db"), upTo: "v7")
        let database = try DatabaseQueue(path: directory.path(of: "log.db"))
        let alice = try UserID("alice")
        let rooms = 700
        try database.write { db in
            for number in 1...rooms {
                let id = try RoomID("room\(number)")
                try db.execute(
                    sql: "INSERT INTO rooms (id, name, created_at) VALUES (?, ?, 5)", arguments: [number, id.string])
                for user in ["alice", "bob"] {
                    try db.execute(
                        sql: "INSERT INTO members (room, user, owner) VALUES (?, ?, 0)", arguments: [number, user])
                }
                guard number % 2 == 0 else { continue }
                let time = Timestamp(milliseconds: Int64(10_000 - number))
                var body: [UInt8] = []
                Message.encode(
                    room: id, seq: 1, rev: 1, sender: alice, draft: TestLog.Send().draft, createdAt: time, into: &body)
                try db.execute(
                    sql: "INSERT INTO messages (id, rev, created_at, sender, body) VALUES (?, 1, ?, 'alice', ?)",
                    arguments: [number << 36 + 1, time.milliseconds, String(decoding: body, as: UTF8.self)])
            }
            try db.execute(sql: "INSERT INTO read_marks VALUES ('bob', 699, 1)")
        }
        try database.close()

        let events = Recorder<JobEvent>()
        let log = try TestLog(in: directory) { ($0.onJob, $0.indexes) = ({ events.record($0) }, false) }
        // Rooms with a message, latest first, then those created at the same time.
        let expected =
            stride(from: 2, through: rooms, by: 2).map { "room\($0)" }
            + stride(from: 1, through: rooms, by: 2).map { "room\($0)" }.sorted()
        #expect(try walk(log, of: "alice", limit: 200) == expected)
        let job = "sorting users' rooms by activity"
        try events.wait { $0.last == .done(job) }
        // A part of 256 memberships covers 128 of 700 rooms.
        #expect(events.events.dropLast() == [18, 36, 54, 73, 91].map { .progress(job, percent: $0) })
        #expect(try isIndexed(log, for: "alice"))
        #expect(try walk(log, of: "alice", limit: 200) == expected)
        #expect(try log.memberships(of: "alice", limit: 1).rooms == ["room2"])
        #expect(try log.memberships(of: "bob", limit: 1).rooms == ["room699"])
        // Rows added by other programs are in the lists, too.
        try log.sql { try $0.execute(sql: "INSERT INTO members (room, user, owner) VALUES (4, 'carol', 0)") }
        #expect(try walk(log, of: "carol", limit: 2) == ["room4"])
    }

    @Test(.onSQLite(.olderSchemas))
    func `continues to be filled in after a restart`() throws {
        let log = try TestLog()
        for room in ["a", "b", "c"] { try log.send(.init(room: room)) }
        log.close()
        try log.sql { db in
            try db.execute(sql: "UPDATE members SET activity = NULL WHERE room > 1")
            try db.execute(sql: "INSERT INTO meta VALUES ('activity_fill', '1:alice')")
            try db.execute(sql: "INSERT INTO jobs (kind, number, phase, place) VALUES ('activity', 3, 0, 1)")
        }
        let events = Recorder<JobEvent>()
        let again = try TestLog(at: log.path, of: log) { $0.onJob = { events.record($0) } }
        try events.wait { $0.last == .done("sorting users' rooms by activity") }
        #expect(try isIndexed(again, for: "alice"))
        #expect(try Set(walk(again, of: "alice", limit: 1)) == ["a", "b", "c"])
    }

    @Test func `is read by searches, without reading other rooms`() throws {
        let log = try TestLog()
        guard !TestStore.isPostgres else {
            let statement = """
                SELECT rooms.id, engaged, rooms.active_at FROM members JOIN rooms ON rooms.id = members.room
                WHERE members."user" = 'a'
                """
            #expect(try log.scans(statement) == [])
            return
        }
        try log.sql { db in
            func plan(_ condition: String) throws -> [String] {
                let statement = """
                    SELECT rooms.id, activity, engaged, name
                    FROM members INDEXED BY members_by_activity
                        CROSS JOIN rooms ON rooms.id = members.room AND rooms.deleted = 0
                    WHERE members.user = 'a' AND \(condition)
                    """
                return try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + statement).map { $0["detail"] as String }
            }
            for condition in [
                "engaged = 1 AND activity <= 5 AND activity < \(Int64.max) ORDER BY activity DESC",
                "engaged IN (0, 1) AND activity = \(Int64.max)",
            ] {
                let plan = try plan(condition)
                #expect(plan.count == 2 && plan.allSatisfy { $0.hasPrefix("SEARCH ") }, "\(plan)")
                #expect(
                    plan.first?.contains("COVERING INDEX members_by_activity (user=? AND engaged=?") == true, "\(plan)")
            }
        }
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
