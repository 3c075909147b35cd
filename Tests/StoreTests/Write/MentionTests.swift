import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A mention")
struct MentionTests {
    /// Returns the stored mentions as `user:seq`, by `seq`, with `*` for the room.
    private func rows(_ log: TestLog) throws -> [String] {
        try log.texts(
            """
            SELECT replace("user", ' ', '*') || ':' || (message & \(RowKey.maximumOrdinal)) || ':' || sender FROM mentions
            ORDER BY message, "user"
            """
        ).map { $0! }
    }

    private func users(_ names: String...) -> [UserID] { names.map { UserID(trusted: $0) } }

    @Test func `is stored with its message, once for each user and for the room, and not of oneself`() throws {
        let log = try TestLog()
        try log.sendAll([
            .init(text: "nobody"), .init(mentions: ["bob", "alice", "carol"]), .init(mentions: ["alice"]),
            .init(sender: "bob", mentions: ["alice"], mentionsRoom: true),
        ])
        #expect(try rows(log) == ["bob:2:alice", "carol:2:alice", "*:4:bob", "alice:4:bob"])
        let message = String(decoding: try #require(try log.message(4)), as: UTF8.self)
        #expect(message.contains(#""mentions":["alice"],"mentions_room":true,"created_at""#))
        try expectSound(log.path)
    }

    @Test func `of a repeated send is stored once, and other mentions are other content`() throws {
        let log = try TestLog()
        let send = TestLog.Send(id: "a", mentions: ["bob"])
        #expect(try log.send(send).isNew && !log.send(send).isNew)
        for other in [[], ["carol"], ["bob", "carol"]] {
            #expect(throws: Problem.clientMessageIDReused) { try log.send(.init(id: "a", mentions: other)) }
        }
        #expect(throws: Problem.clientMessageIDReused) {
            try log.send(.init(id: "a", mentions: ["bob"], mentionsRoom: true))
        }
        #expect(try rows(log) == ["bob:1:alice"])
    }

    @Test func `follows an edit, and goes with a deletion`() throws {
        let log = try TestLog()
        try log.sendAll([.init(mentions: ["bob", "carol"]), .init(mentions: ["bob"])])
        func edit(_ edit: Edit) throws -> [String] {
            try log.change(.init(seq: 1, action: .edit(edit)))
            return try rows(log).filter { $0.contains(":1:") }
        }
        #expect(try edit(Edit(text: "other")) == ["bob:1:alice", "carol:1:alice"])
        #expect(try edit(Edit(mentions: users("carol", "dave", "alice"))) == ["carol:1:alice", "dave:1:alice"])
        #expect(try edit(Edit(mentionsRoom: true)) == ["*:1:alice", "carol:1:alice", "dave:1:alice"])
        #expect(try edit(Edit(mentions: [])) == ["*:1:alice"])
        #expect(try edit(Edit(mentions: users("bob"), mentionsRoom: false)) == ["bob:1:alice"])
        try expectSound(log.path)
        try log.delete(1)
        #expect(try rows(log) == ["bob:2:alice"])
        try expectSound(log.path)
    }

    @Test func `of the room is for owners in rooms of many members, also by an edit; what is mentioned stays`() throws {
        let log = try TestLog { $0.roomMentionMembers = 2 }
        try log.send(.init())
        try log.join("lobby", as: "bob")
        let send = TestLog.Send(sender: "bob", id: "b", mentionsRoom: true)
        try log.send(send)
        try log.join("lobby", as: "carol")
        let refusal = Problem.roomMention(limit: 2)
        #expect(refusal.status == 403 && refusal.code == .forbidden && refusal.field == "mentions_room")
        #expect(throws: refusal) { try log.send(.init(sender: "bob", mentionsRoom: true)) }
        #expect(throws: refusal) { try log.send(.init(sender: "visitor", mentionsRoom: true)) }
        #expect(try !log.send(send).isNew)
        try log.send(.init(sender: "alice", mentionsRoom: true))
        try log.edit(2, "with the mention that it has", as: "bob")
        try log.send(.init(sender: "carol", mentions: ["bob"]))
        let edit = TestLog.Change(seq: 4, action: .edit(Edit(mentionsRoom: true)), user: "carol")
        #expect(throws: refusal) { try log.change(edit) }
        _ = try log.change(.removeMember(UserID("bob")), by: "bob").get()
        try log.change(edit)
        #expect(try rows(log) == ["*:2:bob", "*:3:alice", "*:4:carol", "bob:4:carol"])
    }

    @Test func `is as durable as its message, and found once its message is filed`() throws {
        let log = try TestLog { $0.journal.idleTime = 60_000 }
        try log.send(.init(mentions: ["bob"]))
        try expectSound(log.path)
        let after = try log.crashed()
        #expect(try rows(after) == ["bob:1:alice"])
        try after.delete(1)
        #expect(try rows(after).isEmpty)
        try expectSound(after.path)
    }

    @Test func `expires with its message`() throws {
        let clock = TestClock()
        let log = try TestLog {
            $0.clock = { clock.now }
            ($0.keepDays, $0.expiryPause, $0.expiryInterval) = (1, 1, 1)
        }
        try log.send(.init(mentions: ["bob"], mentionsRoom: true))
        clock.step(86_400_001)
        try waitUntil { try rows(log).isEmpty }
        try expectSound(log.path)
    }

    @Test func `goes with its room`() throws {
        let log = try TestLog()
        try log.sendAll([.init(mentions: ["bob"], mentionsRoom: true), .init(room: "other", mentions: ["bob"])])
        _ = try log.change(.delete, by: "alice").get()
        try waitUntil { try rows(log) == ["bob:1:alice"] }
        try expectSound(log.path)
    }

    @Test func `by an erased user goes with its message, and of an erased user stays in its message only`() throws {
        let log = try TestLog { $0.writers = 1 }
        try log.sendAll([
            .init(sender: "bob", mentions: ["alice"]), .init(sender: "alice", mentions: ["bob", "carol"]),
        ])
        _ = try log.outcome(
            Submission(
                ticket: Ticket(loop: 9, number: 1), room: nil, sender: UserID("root"),
                change: .user(UserID("bob"), .erase), isAdmin: true)
        ).get()
        try waitUntil { try rows(log) == ["carol:2:alice"] && log.number("SELECT erased FROM erasures") == 1 }
        let kept = try Message(decoding: #require(try log.message(2)))
        #expect(kept.content.mentions == Mentions(users: users("bob", "carol")))
        try expectSound(log.path)
        // The id belongs to a new user now.
        try log.send(.init(sender: "alice", mentions: ["bob"]))
        #expect(try rows(log) == ["carol:2:alice", "bob:3:alice"])
        try expectSound(log.path)
    }

    @Test(arguments: [
        ("DELETE FROM mentions WHERE message & 7 = 1", "seq 1: the snapshot mentions bob, but the table does not"),
        (
            "DELETE FROM mentions WHERE message & 7 = 2",
            "seq 2: the snapshot mentions the room, but the table does not"
        ),
        (
            "UPDATE mentions SET \"user\" = 'carol' WHERE message & 7 = 1",
            "seq 1: the table has a mention of carol, but the snapshot does not"
        ),
        (
            "UPDATE mentions SET message = message + 2 WHERE message & 7 = 2",
            "seq 4: the table has a mention of the room, but the snapshot does not"
        ),
        ("UPDATE mentions SET sender = 'bob'", "seq 2: a mention of this message has another sender or created_at"),
        (
            "UPDATE mentions SET message = message + 100 WHERE message & 7 = 2",
            "room lobby: the last mention is at 102, but the room ends at 4"
        ),
    ])
    func `that does not agree with its message is found by a check`(statement: String, finding: String) throws {
        for isFiled in [true, false] {
            let log = try TestLog { $0.journal.idleTime = 60_000 }
            try log.sendAll([.init(mentions: ["bob"]), .init(mentionsRoom: true), .init(), .init()])
            if isFiled { try log.edit(4, "filed") }
            try log.execute(statement)
            let damages = try DatabaseCheck(TestStore.location(of: log.path)).run().damages
            #expect(damages.contains { "\($0)".contains(finding) }, "\(damages)")
        }
    }
}
