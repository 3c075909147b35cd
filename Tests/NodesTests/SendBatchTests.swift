import Chat
import Testing
import Wire

@testable import Nodes

@Suite("A batch of sends")
struct SendBatchTests {
    private let bans = BanTable()

    private func room(_ name: String) throws -> RoomID { try RoomID(name) }
    private func user(_ name: String) throws -> UserID { try UserID(name) }

    /// Creates what a node knows: the public rooms a (7) and b (3), and the private room p (5) with alice.
    private func known() throws -> KnownRooms {
        var known = KnownRooms()
        known.begin(revocations: 1)
        for (name, number, isPrivate) in [("a", Int64(7), false), ("b", 3, false), ("p", 5, true)] {
            known.add([
                KnownRooms.Answer(
                    question: KnownRooms.Question(room: try room(name), user: try user("alice")),
                    room: KnownRooms.Room(number: number, facts: RoomFacts(head: 9, isPrivate: isPrivate)),
                    role: .member)
            ])
        }
        return known
    }

    private func submission(
        _ number: UInt64, _ change: Submission.Change, in room: String?, by user: String = "alice",
        isAdmin: Bool = false
    ) throws -> Submission {
        Submission(
            ticket: Ticket(loop: 0, number: number), room: try room.map(self.room), sender: try self.user(user),
            change: change, isAdmin: isAdmin)
    }

    private func send(
        _ number: UInt64, in room: String, by user: String = "alice", id: String? = nil, replyTo: Int64? = nil,
        isAdmin: Bool = false
    ) throws -> Submission {
        let draft = Draft(clientMessageID: id, content: Content(text: "text \(number)", replyTo: replyTo))
        return try submission(number, .send(draft), in: room, by: user, isAdmin: isAdmin)
    }

    private func batch(
        _ submissions: [Submission], repeated: Set<SendBatch.Key> = [], erasing: Set<UserID> = []
    ) throws -> SendBatch {
        SendBatch(submissions[...], knowing: try known(), repeated: repeated, bans: bans, erasing: erasing)
    }

    private func numbers(_ batch: SendBatch) -> [UInt64] { batch.sends.map(\.submission.ticket.number) }

    @Test func `has the sends to known rooms, with the rooms in the order of their numbers`() throws {
        let batch = try batch([send(0, in: "a"), send(1, in: "b"), send(2, in: "a")])
        #expect(batch.rooms.map(\.number) == [3, 7])
        #expect(batch.rooms.map(\.sends) == [[1], [0, 2]])
    }

    @Test func `leaves out sends to unknown rooms, but none to other rooms`() throws {
        let batch = try batch([send(0, in: "new"), send(1, in: "a"), send(2, in: "new")])
        #expect(numbers(batch) == [1])
    }

    @Test func `leaves out sends after a change of their room, but not those after a read mark`() throws {
        let change = MessageChange(seq: 1, action: .delete, revs: nil)
        let batch = try batch([
            send(0, in: "a"), submission(1, .change(change), in: "a"), send(2, in: "a"),
            submission(3, .read(seq: 1), in: "b"), send(4, in: "b"),
        ])
        #expect(numbers(batch) == [0, 4])
    }

    @Test func `leaves out everything after a change of a user`() throws {
        let batch = try batch([
            send(0, in: "a"), submission(1, .user(user("bob"), .erase), in: nil, isAdmin: true), send(2, in: "b"),
        ])
        #expect(numbers(batch) == [0])
    }

    @Test func `has sends to private rooms from known members and admins only`() throws {
        let batch = try batch([
            send(0, in: "p"), send(1, in: "p", by: "root", isAdmin: true), send(2, in: "p", by: "bob"),
        ])
        #expect(numbers(batch) == [0, 1])
    }

    @Test func `leaves out replies to messages that the node does not know of`() throws {
        let batch = try batch([send(0, in: "a", replyTo: 9), send(1, in: "b", replyTo: 10)])
        #expect(numbers(batch) == [0])
    }

    @Test func `leaves out sends that expect a head, and later ones of their rooms, and looks nothing up for them`()
        throws
    {
        let draft = Draft(content: Content(text: "1"), expectHead: 9)
        let expecting = try submission(0, .send(draft), in: "a")
        #expect(numbers(try batch([expecting, send(1, in: "a"), send(2, in: "b")])) == [2])
        #expect(KnownRooms().questions(for: [expecting][...]).isEmpty)
    }

    @Test func `leaves out sends of banned users, even if the ban has ended, and of users who are being erased`() throws
    {
        let ban = Ban(
            user: try user("bob"), scope: .all, until: Timestamp(milliseconds: 1), reason: nil, by: try user("root"),
            createdAt: .earliest)
        bans.change([BanTable.Key(room: try room("a"), user: try user("bob")): ban], at: .earliest)
        let batch = try batch(
            [
                send(0, in: "a", by: "bob"), send(1, in: "b", by: "bob"), send(2, in: "p"),
                send(3, in: "p", by: "carol"),
            ], erasing: [user("alice")])
        #expect(numbers(batch) == [1])
    }

    @Test func `has each client message id once, and leaves out those that were used before`() throws {
        let used = SendBatch.Key(room: 3, sender: try user("alice"), id: "used")
        let batch = try batch(
            [
                send(0, in: "a", id: "1"), send(1, in: "a", id: "1"), send(2, in: "a", by: "bob", id: "1"),
                send(3, in: "b", id: "used"), send(4, in: "b", id: "2"),
            ], repeated: [used])
        #expect(numbers(batch) == [0, 2, 4])
        #expect(batch.keys.map(\.id) == ["2", "1", "1"])
    }

    @Test func `leaves out sends to a room that is nearly full`() throws {
        var known = try known()
        known.add([
            KnownRooms.Answer(
                question: KnownRooms.Question(room: try room("a"), user: try user("alice")),
                room: KnownRooms.Room(number: 7, facts: RoomFacts(head: 1, rev: RoomFacts.maximumOrdinal - 1_000_000)),
                role: nil)
        ])
        let batch = SendBatch(
            try [send(0, in: "a"), send(1, in: "b")][...], knowing: known, bans: bans, erasing: [])
        #expect(numbers(batch) == [1])
    }

    @Test func `answers nothing for a room that the statement has left`() throws {
        let batch = try batch([send(0, in: "a"), send(1, in: "b")])
        let (outcomes, batches) = batch.results([SendBatch.Stored(head: 0, rev: 0, time: .earliest), nil])
        #expect(outcomes.map(\.ticket.number) == [1])
        #expect(batches.map(\.room.string) == ["b"])
    }

    @Test func `numbers its messages after those of each room, and answers in the order of submission`() throws {
        let batch = try batch([send(0, in: "a"), send(1, in: "b"), send(2, in: "a", id: "x")])
        let time = Timestamp(milliseconds: 1_700_000_000_123)
        let (outcomes, batches) = batch.results([
            SendBatch.Stored(head: 9, rev: 12, time: time), SendBatch.Stored(head: 0, rev: 0, time: time),
        ])
        #expect(outcomes.map(\.ticket.number) == [0, 1, 2])
        let messages = try outcomes.map { outcome in
            guard case .message(let message, _) = try outcome.result.get() else { preconditionFailure("no message") }
            return message
        }
        #expect(messages.map(\.seq) == [1, 10, 2])
        #expect(messages.map(\.rev) == [1, 13, 2])
        #expect(batches.map(\.since) == [12, 0])
        #expect(batches.map(\.head) == [10, 2])
        #expect(batches[1].messages == [messages[0].body, messages[2].body])
        #expect(
            String(decoding: messages[2].body, as: UTF8.self)
                == #"{"room":"a","seq":2,"rev":2,"sender":"alice","client_message_id":"x","text":"text 2","created_at":"2023-11-14T22:13:20.123Z"}"#
        )
    }
}

@Suite("A writer's cache of rooms")
struct KnownRoomsTests {
    private func answer(_ room: String, isPrivate: Bool = false, isDeleted: Bool = false) throws -> KnownRooms.Answer {
        KnownRooms.Answer(
            question: KnownRooms.Question(room: try RoomID(room), user: try UserID("alice")),
            room: KnownRooms.Room(number: 1, facts: RoomFacts(head: 2, isPrivate: isPrivate, isDeleted: isDeleted)),
            role: nil)
    }

    @Test func `is emptied when access has been taken away`() throws {
        var known = KnownRooms()
        known.begin(revocations: 1)
        known.add([try answer("a")])
        known.begin(revocations: 1)
        #expect(known[try RoomID("a")] != nil)
        known.begin(revocations: 2)
        #expect(known[try RoomID("a")] == nil)
    }

    @Test func `is emptied when it is full`() throws {
        var known = KnownRooms(limit: 2)
        known.begin(revocations: 1)
        known.add(try ["a", "b", "c"].map { try answer($0) })
        known.begin(revocations: 1)
        #expect(known[try RoomID("a")] == nil)
    }

    @Test func `needs one look-up for each room and sender, and never has deleted rooms`() throws {
        var known = KnownRooms()
        known.begin(revocations: 1)
        let submissions = try ["a", "a", "b"].map { room in
            Submission(
                ticket: Ticket(loop: 0, number: 0), room: try RoomID(room), sender: try UserID("alice"),
                change: .send(Draft(content: Content(text: "hello"))))
        }
        #expect(Set(known.questions(for: submissions[...]).map(\.room.string)) == ["a", "b"])
        known.add([try answer("a"), try answer("b", isDeleted: true)])
        #expect(known.questions(for: submissions[...]).map(\.room.string) == ["b"])
    }
}
