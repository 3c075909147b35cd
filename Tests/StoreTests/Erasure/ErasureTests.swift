import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("An erased user")
struct ErasureTests {
    private let events = Recorder<JobEvent>()
    private static let done = JobEvent.done("erasing a user")

    private func makeLog(
        in directory: TemporaryDirectory? = nil, events: Recorder<JobEvent>? = nil
    ) throws -> TestLog {
        let events = events ?? self.events
        return try TestLog(in: directory) {
            $0.onJob = { events.record($0) }
            // Several writers would commit an erasure and changes of rooms in any order.
            $0.writers = 1
        }
    }

    private func submission(_ user: String, isAdmin: Bool = true) throws -> Submission {
        Submission(
            ticket: Ticket(loop: 9, number: .random(in: 0 ... .max)), room: nil, sender: try UserID("root"),
            change: .user(try UserID(user), .erase), isAdmin: isAdmin)
    }

    @discardableResult
    private func erase(_ user: String, isAdmin: Bool = true, _ log: TestLog) throws -> String {
        String(decoding: try log.outcome(submission(user, isAdmin: isAdmin)).get().body, as: UTF8.self)
    }

    private func status(_ user: String, _ log: TestLog) throws -> ErasureStatus? {
        let user = try UserID(user)
        return try log.read(for: "root", isAdmin: true) { .server(.erasure(user, $0)) }
    }

    private func waitUntilErased(_ user: String, _ log: TestLog) throws {
        try waitUntil { (try? status(user, log)?.state) == .erased }
    }

    private func decoded(_ seq: Int64, of room: String = "lobby", _ log: TestLog) throws -> Message {
        try Message(decoding: #require(try log.message(seq, of: room)))
    }

    /// Each part of the job removes at most ``CommitLimits/jobRows`` rows of a table.
    @Test func `has no mark and no report left, however many there were`() throws {
        let log = try makeLog()
        let count = CommitLimits.jobRows + 40
        try log.sendAll((0..<count).map { .init(room: "room\($0)", sender: "alice") })
        try log.submitAll((0..<count).map { try log.submission(.read(seq: 1), in: "room\($0)", by: "bob") })
        let rooms = "SELECT id, 1, 'alice', 'spam', 0 FROM rooms"
        try log.execute("INSERT INTO reporters (room, seq, \"user\", reason, created_at) \(rooms)")
        try log.execute("UPDATE reporters SET \"user\" = 'bob'")
        let body = TestStore.isPostgres ? "'\\x7b7d'" : "x'7b7d'"
        try log.execute(
            """
            INSERT INTO reports (room, seq, sender, body, created_at) SELECT id, 2, 'bob', \(body), 0 FROM rooms
            """)
        #expect(try log.count("reports") == count && log.count("reporters") == count)
        try erase("bob", log)
        try waitUntilErased("bob", log)
        #expect(try log.count("reports") == 0 && log.count("reporters") == 0)
        #expect(try log.texts("SELECT \"user\" FROM read_marks WHERE \"user\" = 'bob'") == [])
    }

    @Test func `leaves tombstones without a name, and no membership, read mark or reaction`() throws {
        let log = try makeLog()
        try log.sendAll([
            .init(text: "hello", sender: "alice"), .init(text: "a whisper", sender: "whisperer", id: "whisper-1"),
            .init(text: "another whisper", sender: "whisperer"),
            .init(text: "a third whisper", sender: "whisperer", id: "whisper-3"),
            .init(text: "hi", room: "den", sender: "whisperer"),
        ])
        try log.edit(2, "an edited whisper", as: "whisperer")
        try log.delete(4, as: "whisperer")
        for (key, user) in [("x", "bob"), ("x", "whisperer"), ("y", "whisperer")] {
            try log.react(key, to: 1, as: user)
        }
        try log.join("lobby", as: "whisperer")
        try log.read(to: 3, as: "whisperer")
        #expect(throws: Problem.notAnAdmin) { try erase("whisperer", isAdmin: false, log) }
        #expect(try erase("whisperer", log) == #"{"user":"whisperer","state":"erasing","messages":0}"#)
        #expect(log.listener.ends.events.first == [.erased(try UserID("whisperer"))])
        try waitUntilErased("whisperer", log)
        #expect(try status("whisperer", log)?.messages == 4)
        for (seq, room) in [(2, "lobby"), (3, "lobby"), (4, "lobby"), (1, "den")] as [(Int64, String)] {
            let message = try decoded(seq, of: room, log)
            #expect(message.deleted && message.sender == .deleted && message.clientMessageID == nil)
        }
        #expect(try decoded(1, log).reactions == [Reaction(key: "x", count: 1, users: [try UserID("bob")])])
        // Each tombstone is a change, which subscribers have received.
        #expect(try log.state() == RoomState(head: 4, rev: 14))
        let pushed = log.listener.commits.events.flatMap(\.batches).filter { $0.room.string == "lobby" }
        #expect(pushed.reduce(0) { $0 + $1.messages.count } == 14)
        let summary = try log.summary(for: "whisperer")
        #expect(summary.role == nil && summary.read == 0)
        #expect(try log.inbox(of: "whisperer").rooms.isEmpty)
        #expect(try log.message("whisper-1", from: "whisperer") == nil)
        let memberships = log.listener.memberships.events.flatMap(\.self).filter { $0.kind == .left }
        #expect(Set(memberships.map(\.room.string)) == ["lobby", "den"])
        log.close()
        try expectSound(log.path)
        for table in ["members", "read_marks", "reactions", "first_contents", "jobs", "returns"] {
            #expect(try log.count(table) == (table == "members" || table == "reactions" ? 1 : 0), "\(table)")
        }
        if TestStore.isPostgres { return }
        try purgeWords(at: log.path)
        // The user's name is kept for the status, but not the content.
        #expect(throws: CommandFailed.self, "it is gone from the file") {
            try run("grep", "-qaE", "(a|an|er|ed|rd) whisper|whisper-", log.path)
        }
    }

    @Test func `is no member of any room as soon as the erasure is answered, whether as a reader or for others`() throws
    {
        let log = try makeLog()
        // More than one part of the job removes.
        let rooms = (100..<700).map { "room\($0)" }
        let bob = try UserID("bob")
        try log.submitAll(
            rooms.flatMap { room in
                [
                    try log.submission(.room(.set(RoomSettings(visibility: .private))), in: room, by: "alice"),
                    try log.submission(.room(.setMember(bob, .owner)), in: room, by: "alice"),
                ]
            })
        let last = try #require(rooms.last)
        try log.send(.init(text: "secret", room: last))
        #expect(try log.inbox(of: "bob", limit: 200).rooms.count == 200)
        try log.send(.init(text: "old", room: "open", sender: "bob", id: "old"))
        try erase("bob", log)
        // Without waiting for the job.
        try log.send(.init(text: "new", room: "open", sender: "bob", id: "new"))
        #expect(try log.message("old", from: "bob", of: "open") == nil)
        #expect(try log.message("new", from: "bob", of: "open") != nil)
        #expect(try log.inbox(of: "bob").rooms.isEmpty)
        let memberships: Memberships = try log.read(for: "bob") { .ownRooms(.memberships(limit: 9, $0), within: nil) }
        #expect(memberships.rooms.isEmpty && !memberships.hasMore)
        let problems = try log.problems(of: [
            log.query({ .page(PageRequest(anchor: .newest, limit: 1), $0) }, of: last, for: "bob"),
            log.query({ .message(seq: 1, $0) }, of: last, for: "bob"),
            log.query({ .summary($0) }, of: last, for: "bob"),
            log.query({ .changes(since: 0, limit: 1, $0) }, of: last, for: "bob"),
            log.query({ .replay(since: 0, format: .webSocket, bytes: 1, $0) }, of: last, for: "bob"),
            log.query({ .bans(.all(after: nil, limit: 1, $0)) }, of: last, for: "bob"),
        ])
        #expect(problems == Array(repeating: .roomNotFound, count: 6))
        let members: RoomMembers = try log.ask({ .members(after: nil, limit: 1, $0) }, of: last, for: "alice")
        #expect(members.members.map(\.user.string) == ["alice"] && !members.hasMore)
        #expect(try log.ask({ .member(bob, $0) }, of: last, for: "alice") == nil)
        // The other owner cannot leave the room to one who is gone.
        let leave = try log.change(.removeMember(UserID("alice")), in: last, by: "alice")
        #expect(throws: Problem.lastOwner) { try leave.get() }
        // A new user of the name is one as soon as somebody adds them.
        _ = try log.change(.setMember(bob, nil), in: last, by: "alice").get()
        #expect(try log.inbox(of: "bob").rooms.map(\.summary.room.string) == [last])
        #expect(try log.summary(of: last, for: "bob").role == .member)
        #expect(try log.page(.newest, of: last, for: "bob").count == 1)
        try waitUntilErased("bob", log)
        #expect(try log.inbox(of: "bob").rooms.map(\.summary.room.string) == [last])
    }

    @Test func `is not named in the bans that they set, nor in others' reasons and the titles of their rooms`() throws {
        let log = try makeLog()
        try log.sendAll([.init(sender: "ann"), .init(sender: "bob")])
        let title = "ann's room (joanna, bob & ann)"
        _ = try log.change(.set(RoomSettings(title: title)), by: "ann").get()
        func ban(_ user: String, _ reason: String, by owner: String, isAdmin: Bool = false) throws {
            let settings = BanSettings(scope: .all, reason: reason)
            _ = try log.change(.setBan(UserID(user), settings), by: owner, isAdmin: isAdmin).get()
        }
        try ban("c", "I do not like c", by: "ann")
        try ban("d", "insulted ann", by: "root", isAdmin: true)
        try ban("e", "said banner", by: "root", isAdmin: true)
        try erase("ann", log)
        try waitUntilErased("ann", log)
        func check(_ log: TestLog) throws {
            let bans: Bans = try log.read(for: "root", isAdmin: true) {
                .room(try! RoomID("lobby"), .bans(.all(after: nil, limit: 9, $0)))
            }
            #expect(bans.bans.map(\.by.string) == ["~deleted", "root", "root"])
            #expect(bans.bans.map(\.reason) == [nil, "insulted ~deleted", "said banner"])
            for ban in bans.bans {
                #expect(log.log.bans[BanTable.Key(room: try RoomID("lobby"), user: ban.user)] == ban)
            }
            #expect(try log.summary(for: "bob").title == "~deleted's room (joanna, bob & ~deleted)")
        }
        try check(log)
        try check(log.reopened())
        try expectSound(log.path)
    }

    @Test func `may return at once as a new one, whose data stays`() throws {
        let log = try makeLog()
        for _ in 0..<3 { try log.fill(1000, "long") }
        try log.sendAll([
            .init(text: "old", sender: "bob", id: "a"), .init(text: "older", sender: "bob", id: "b"),
            .init(text: "hello", sender: "alice"), .init(text: "old", room: "den", sender: "bob", id: "a"),
        ])
        try log.react("x", to: 3, as: "bob")
        try log.react("y", to: 3, as: "bob")
        try log.read(to: 3, as: "bob")
        // In one commit, so that the job has not started.
        let results = try log.submitAll(
            [submission("bob")] + log.submissions([.init(text: "new", sender: "bob", id: "a")])
                + [
                    log.submission(.init(seq: 3, action: .addReaction(ReactionKey("x")), user: "bob")),
                    log.submission(.init(seq: 2, action: .edit(Edit(text: "mine?")), user: "bob")),
                    log.submission(.room(.setMember(try UserID("bob"), nil)), in: "den", by: "root", isAdmin: true),
                    log.submission(.read(seq: 1), by: "bob"),
                ] + log.submissions([.init(text: "new", room: "attic", sender: "bob")]))
        let sent = try results[1].get()
        #expect(sent.isNew && sent.seq == 4)
        #expect(throws: Problem.notTheSender) { try results[3].get() }
        for index in [0, 2, 4, 5, 6] { #expect(throws: Never.self) { try results[index].get() } }
        try waitUntilErased("bob", log)
        #expect(try status("bob", log)?.messages == 3)
        for (seq, room) in [(1, "lobby"), (2, "lobby"), (1, "den")] as [(Int64, String)] {
            #expect(try decoded(seq, of: room, log).sender == .deleted)
        }
        #expect(try decoded(4, log).content.text == "new")
        #expect(try decoded(1, of: "attic", log).content.text == "new")
        #expect(try decoded(3, log).reactions == [Reaction(key: "x", count: 1, users: [try UserID("bob")])])
        #expect(try log.summary(for: "bob").read == 1)
        #expect(try log.summary(of: "den", for: "bob").role == .member)
        #expect(try log.summary(of: "attic", for: "bob").role == .owner)
        // A repetition of either send is recognized.
        #expect(try log.send(.init(text: "new", sender: "bob", id: "a")).seq == 4)
        #expect(try log.send(.init(text: "new", sender: "bob", id: "b")).seq == 5)
        try expectSound(log.path)
    }

    @Test func `is erased together with the new one if that is requested before the end`() throws {
        let log = try makeLog()
        for _ in 0..<3 { try log.fill(1000, "long") }
        try log.send(.init(sender: "bob"))
        let results = try log.submitAll(
            [submission("bob")] + log.submissions([.init(text: "new", sender: "bob")]) + [submission("bob")])
        for result in results { #expect(throws: Never.self) { try result.get() } }
        try waitUntilErased("bob", log)
        #expect(try decoded(2, log).sender == .deleted)
        #expect(try status("bob", log)?.messages == 2)
        _ = try log.send(.init(text: "third", sender: "bob"))
        #expect(try erase("bob", log) == #"{"user":"bob","state":"erasing","messages":0}"#)
        try waitUntilErased("bob", log)
        #expect(try status("bob", log)?.messages == 1)
        try expectSound(log.path)
    }

    @Test(arguments: [0, 200, 700])
    func `is erased completely after a crash, and the database is sound at any point`(messages: Int) throws {
        let log = try makeLog()
        try log.sendAll((0..<1000).map { .init(text: "\($0)", sender: $0 % 2 == 0 ? "bob" : "alice", id: "\($0)") })
        try log.submitAll(
            (1...300).map { seq in
                try log.submission(.init(seq: 2 * seq, action: .addReaction(ReactionKey("❤️")), user: "bob"))
            })
        try log.sendAll((0..<300).map { .init(room: "room\($0)", sender: "bob") })
        try erase("bob", log)
        try waitUntil { (try? status("bob", log)?.messages).map { $0 >= Int64(messages) } ?? false }
        let copy = try log.copied()
        try expectSound(copy.path(of: "log.db"))
        let restored = try makeLog(in: copy, events: Recorder())
        // A new user of the name, while the job goes on.
        let new = try restored.send(.init(text: "new", sender: "bob"))
        try waitUntilErased("bob", restored)
        #expect(try status("bob", restored)?.messages == 800)
        #expect(try decoded(new.seq, restored).content.text == "new")
        #expect(try restored.count("messages WHERE sender = 'bob'") == 1)
        for rows in ["reactions", "members"] {
            #expect(try restored.count("\(rows) WHERE \"user\" = 'bob'") == 0, "\(rows)")
        }
        #expect(try decoded(2, restored).reactions.isEmpty)
        try expectSound(restored.path)
    }

    @Test func `was the last owner of a private room, which stays for admins`() throws {
        let log = try makeLog()
        _ = try log.change(.set(RoomSettings(visibility: .private)), by: "bob").get()
        try erase("bob", log)
        try waitUntilErased("bob", log)
        #expect(throws: Problem.roomNotFound) { try log.summary(for: "bob") }
        _ = try log.change(.setMember(try UserID("carol"), .owner), by: "root", isAdmin: true).get()
        #expect(try log.summary(for: "carol").role == .owner)
        try expectSound(log.path)
    }

    @Test func `is shown under a name that nobody can use`() {
        #expect(throws: Problem.invalidUser) { try UserID("~deleted") }
        #expect(throws: Never.self) { try UserID("~deleted2") }
    }
}
