import Chat
import RuleModel
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Unread mentions")
struct UnreadMentionTests {
    /// Returns the number of a user's unread mentions in a room and the first of them, in both places that have them.
    private func unread(_ user: String, of room: String = "lobby", _ log: TestLog) throws -> [Int64?] {
        let summary = try log.summary(of: room, for: user)
        let page = try log.page(.around(.mention), limit: 1, of: room, for: user)
        let state = page.readState
        #expect(state?.unreadMentions == summary.unreadMentions)
        #expect(state?.firstUnreadMention == summary.firstUnreadMention)
        if page.state.head > 0 {
            #expect(page.firstSeq == state?.firstUnreadMention ?? state?.firstUnread ?? page.state.head)
        }
        return [summary.unreadMentions, summary.firstUnreadMention]
    }

    @Test(arguments: [0, 16_384])
    func `are those of others after the mark, of the user or the room, filed or not`(journalMessages: Int) throws {
        let log = try TestLog { $0.journal.messages = journalMessages }
        try log.sendAll([
            .init(sender: "alice", mentions: ["bob"]), .init(sender: "bob", mentions: ["bob", "alice"]),
            .init(sender: "alice", mentions: ["bob"], mentionsRoom: true), .init(sender: "bob", mentionsRoom: true),
            .init(sender: "alice", mentions: ["carol"]),
        ])
        #expect(try unread("bob", log) == [2, 1])
        #expect(try unread("alice", log) == [2, 2])
        #expect(try unread("carol", log) == [3, 3])
        try log.read(to: 1, as: "bob")
        #expect(try unread("bob", log) == [1, 3])
        try log.read(to: 3, as: "bob")
        #expect(try unread("bob", log) == [0, nil])
        try log.delete(4, as: "bob")
        #expect(try unread("alice", log) == [1, 2])
        let nobody = try log.summary(for: nil)
        #expect(nobody.unreadMentions == nil && nobody.firstUnreadMention == nil)
        try log.join("lobby", as: "carol")
        let listed = try #require(try log.inbox(of: "carol").rooms.first?.summary)
        #expect(listed.unreadMentions == 2 && listed.firstUnreadMention == 3)
    }

    @Test func `by blocked users do not count`() throws {
        let log = try TestLog()
        try log.sendAll([
            .init(sender: "eve", mentions: ["bob"]), .init(sender: "alice", mentions: ["bob"]),
            .init(sender: "eve", mentionsRoom: true),
        ])
        try log.join("lobby", as: "bob")
        #expect(try unread("bob", log) == [3, 1] && log.mentions(of: "bob").messages.count == 3)
        try log.execute("INSERT INTO blocks VALUES ('bob', 'eve', 0)")
        #expect(try unread("bob", log) == [1, 2] && log.mentions(of: "bob").messages.count == 1)
        #expect(try unread("alice", log) == [1, 3])
    }

    @Test func `are counted up to 1000, behind the user's own mentions of the room`() throws {
        let log = try TestLog()
        try log.sendAll((0..<20).map { _ in .init(mentionsRoom: true) })
        try log.sendAll((0..<999).map { _ in .init(sender: "bob", mentions: ["alice"]) })
        #expect(try unread("alice", log) == [999, 21])
        for _ in 0..<2 {
            try log.send(.init(sender: "bob", mentionsRoom: true))
            #expect(try unread("alice", log) == [1000, 21])
        }
    }

    @Test func `are found by the keys of mentions`() throws {
        let log = try TestLog()
        try log.send(.init(mentions: ["bob"], mentionsRoom: true))
        let values = ["5": "9", "4": "1", "3": TestLog.literal(UnreadMessages.tombstoneEnd), "2": "'bob'", "1": "9"]
        let query = values.reduce(UnreadMessages.sql) { $0.replacing("$\($1.key)", with: $1.value) }
        #expect(try log.scans(query).allSatisfy { !$0.contains("mentions") })
    }

    // MARK: The list

    private func texts(_ slice: MentionsSlice) throws -> [String] {
        try slice.messages.map { try Message(decoding: $0).content.text }
    }

    @Test func `of all rooms are in a list, newest first, in pages, each once`() throws {
        let clock = TestClock()
        let log = try TestLog { $0.clock = { clock.now } }
        for number in 0..<12 {
            try log.send(
                .init(
                    text: "\(number)", room: "room\(number % 3)", mentions: number % 2 == 0 ? ["bob"] : [],
                    mentionsRoom: number % 3 == 0))
            if number % 4 == 0 { clock.step(1000) }
        }
        try log.join("room0", as: "bob")
        #expect(try texts(log.mentions(of: "bob")).count == 8)
        var (found, cursor, pages): ([String], MessageCursor?, Int) = ([], nil, 0)
        repeat {
            let slice = try log.mentions(of: "bob", after: cursor, limit: 3)
            #expect(slice.messages.count == 3 || slice.next == nil)
            found += try texts(slice)
            cursor = try slice.next.map { try MessageCursor(parsing: $0.description) }
            pages += 1
        } while cursor != nil
        #expect(try pages == 3 && found == texts(log.mentions(of: "bob")))
        #expect(Set(found) == ["0", "2", "3", "4", "6", "8", "9", "10"])
        #expect(try texts(log.mentions(of: "alice")).isEmpty && texts(log.mentions(of: "eve")).isEmpty)
    }

    @Test func `are listed of rooms that the user may read now only`() throws {
        let log = try TestLog()
        for room in ["open", "private", "gone", "banned"] {
            try log.send(.init(text: room, room: room, mentions: ["bob"], mentionsRoom: true))
        }
        _ = try log.change(.set(RoomSettings(visibility: .private)), in: "private", by: "alice").get()
        _ = try log.change(.delete, in: "gone", by: "alice").get()
        _ = try log.change(.setBan(UserID("bob"), BanSettings(scope: .all)), in: "banned", by: "alice").get()
        #expect(try texts(log.mentions(of: "bob")) == ["open"])
        #expect(try texts(log.mentions(of: "bob", within: [RoomPattern("p*")!])) == [])
        _ = try log.change(.setMember(UserID("bob"), nil), in: "private", by: "alice").get()
        #expect(try Set(texts(log.mentions(of: "bob"))) == ["open", "private"])
        #expect(try texts(log.mentions(of: "bob", within: [RoomPattern("p*")!])) == ["private"])
    }

    @Test func `of an admin by name are listed of rooms of others, too, which an admin may read`() throws {
        let log = try TestLog()
        try log.sendAll([
            .init(text: "name", room: "plans", mentions: ["root"]),
            .init(text: "room", room: "plans", mentionsRoom: true),
        ])
        _ = try log.change(.set(RoomSettings(visibility: .private)), in: "plans", by: "alice").get()
        #expect(try texts(log.mentions(of: "root")) == [])
        #expect(try texts(log.mentions(of: "root", isAdmin: true)) == ["name"])
        #expect(try texts(log.mentions(of: "root", within: [RoomPattern("other")!], isAdmin: true)) == [])
        _ = try log.change(.delete, in: "plans", by: "alice").get()
        #expect(try texts(log.mentions(of: "root", isAdmin: true)) == [])
    }

    @Test func `of a direct room stay listed when the room is taken off the user's list`() throws {
        let log = try TestLog()
        let room = try log.makeDirect("alice", with: "bob")
        try log.sendAll([
            .init(text: "room", room: room, sender: "bob", mentionsRoom: true),
            .init(text: "name", room: room, sender: "bob", mentions: ["alice"]),
        ])
        #expect(try texts(log.mentions(of: "alice")) == ["name", "room"])
        _ = try log.change(.removeMember(UserID("alice")), in: room, by: "alice").get()
        #expect(try log.inbox(of: "alice").rooms.isEmpty)
        #expect(try texts(log.mentions(of: "alice")) == ["name", "room"])
    }

    // MARK: Any history

    /// The messages of a room as clients read them.
    private func messages(_ room: String, _ log: TestLog) throws -> [Message] {
        let head = try log.state(of: room).head
        return try (0..<head).map { try Message(decoding: #require(try log.message($0 + 1, of: room))) }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `are those of a recount after any history of sends, edits, deletions, erasures, blocks and levels`(
        seed: UInt64
    ) throws {
        let clock = TestClock()
        let log = try TestLog {
            $0.clock = { clock.now }
            // Several writers would commit an erasure and changes of rooms in any order.
            $0.writers = 1
        }
        let shape = RandomHistory.Shape(
            "of mentions",
            kinds: [
                .send, .send, .sendWithID, .read, .edit, .edit, .delete, .setMember, .eraseUser, .setNotify, .setNotify,
            ])
        var history = RandomHistory(shape, seed: seed)
        let users = (0..<shape.users).map { "user\($0)" }
        let rooms = (0..<shape.rooms).map { "room\($0)" }
        var heads: [RoomID: Int64] = [:]
        // The mentions of erased users, as `user/room/seq`, until an edit removes them from their messages.
        var erased: Set<String> = []
        for step in 1...120 {
            clock.step(Int64.random(in: 0...3, using: &history.random))
            let submission = try history.submission { heads[$0] ?? 0 }
            let result = try log.outcome(submission)
            for room in rooms { heads[try RoomID(room)] = try log.state(of: room).head }
            if case .user(let user, .erase) = submission.change, case .success = result {
                erased.formUnion(try mentions(of: user.string, in: rooms, log))
                // Until then a mention of the user is nobody's.
                try waitUntil { try log.number("SELECT count(*) FROM jobs") == 0 }
            }
            for user in users {
                let present = try mentions(of: user, in: rooms, log)
                erased = erased.filter { !$0.hasPrefix("\(user)/") || present.contains($0) }
            }
            if step % 7 == 0 {
                let first = Int.random(in: 0..<users.count, using: &history.random)
                let second = (first + Int.random(in: 1..<users.count, using: &history.random)) % users.count
                try log.execute(
                    "INSERT INTO blocks VALUES ('\(users[first])', '\(users[second])', 0) ON CONFLICT DO NOTHING")
            }
            guard step % 10 == 0 else { continue }
            try waitUntil { try log.number("SELECT count(*) FROM jobs") == 0 }
            for user in users { try expectRecount(of: user, in: rooms, erased, log) }
        }
        try expectSound(log.path)
    }

    /// Returns the messages that mention a user by name.
    private func mentions(of user: String, in rooms: [String], _ log: TestLog) throws -> Set<String> {
        var found: Set<String> = []
        for room in rooms {
            for message in try messages(room, log)
            where message.content.mentions.users.contains(where: { $0.string == user }) {
                found.insert("\(user)/\(room)/\(message.seq)")
            }
        }
        return found
    }

    private func expectRecount(of user: String, in rooms: [String], _ erased: Set<String>, _ log: TestLog) throws {
        var mentioning: [(message: Message, number: Int64)] = []
        let blocked = try log.texts("SELECT blocked FROM blocks WHERE \"user\" = '\(user)'")
        for room in rooms {
            let summary = try log.summary(of: room, for: user)
            let number = try log.number("SELECT id FROM rooms WHERE name = '\(room)'") ?? 0
            var unread: [Int64] = []
            for message in try messages(room, log) where !message.deleted && message.sender.string != user {
                if blocked.contains(message.sender.string) { continue }
                let isOwn =
                    !erased.contains("\(user)/\(room)/\(message.seq)")
                    && message.content.mentions.users.contains { $0.string == user }
                guard isOwn || message.content.mentions.room else { continue }
                if message.seq > summary.read! { unread.append(message.seq) }
                if isOwn || summary.role != nil { mentioning.append((message, number)) }
            }
            #expect(try self.unread(user, of: room, log) == [Int64(unread.count), unread.first], "\(user) in \(room)")
        }
        mentioning.sort {
            ($0.message.createdAt, $0.number, $0.message.seq) > ($1.message.createdAt, $1.number, $1.message.seq)
        }
        let listed = try log.mentions(of: user, limit: 200).messages.map { try Message(decoding: $0) }
        let expected = mentioning.map { "\($0.message.room)/\($0.message.seq)" }
        #expect(listed.map { "\($0.room)/\($0.seq)" } == expected, "\(user)")
    }
}
