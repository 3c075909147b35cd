import Chat
import TestSupport
import Testing
import Wire

@testable import Nodes

@Suite("A batch of read marks")
struct MarkBatchTests {
    private func submission(_ number: UInt64, _ change: Submission.Change, in room: String, by user: String) throws
        -> Submission
    {
        Submission(
            ticket: Ticket(loop: 0, number: number), room: try RoomID(room), sender: try UserID(user), change: change)
    }

    private func known() throws -> KnownRooms {
        var known = KnownRooms()
        known.begin(revocations: 1)
        for (name, number) in [("a", Int64(7)), ("b", 3)] {
            known.add([
                KnownRooms.Answer(
                    question: KnownRooms.Question(room: try RoomID(name), user: try UserID("alice")),
                    room: KnownRooms.Room(number: number, facts: RoomFacts(head: 9, isPrivate: false)), role: .member)
            ])
        }
        return known
    }

    @Test func `has one mark for each user and room, at the highest seq, in a fixed order`() throws {
        let batch = MarkBatch(
            try [
                submission(0, .read(seq: 2), in: "a", by: "bob"), submission(1, .read(seq: 5), in: "a", by: "bob"),
                submission(2, .read(seq: 3), in: "a", by: "bob"), submission(3, .read(seq: 1), in: "a", by: "alice"),
                submission(4, .read(seq: 1), in: "b", by: "bob"),
            ], knowing: try known(), bans: BanTable(), erasing: [])
        #expect(batch.marks.map(\.person.user.string) == ["alice", "bob", "bob"])
        #expect(batch.marks.map(\.person.room) == [7, 3, 7])
        #expect(batch.marks.map(\.seq) == [1, 1, 5])
        let outcomes = batch.outcomes([(1, true), nil, (5, true)])
        #expect(outcomes.map(\.ticket.number) == [3, 1, 0, 2])
        #expect(
            try outcomes.map { try $0.result.get() } == [
                .readMark(seq: 1, hasMoved: true), .readMark(seq: 5, hasMoved: true),
                .readMark(seq: 5, hasMoved: false), .readMark(seq: 5, hasMoved: false),
            ])
    }

    @Test func `leaves out marks after another change of their room, in unknown rooms, and at 0`() throws {
        let send = Submission.Change.send(Draft(content: Content(text: "hello")))
        let batch = MarkBatch(
            try [
                submission(0, send, in: "a", by: "bob"), submission(1, .read(seq: 5), in: "a", by: "bob"),
                submission(2, .read(seq: 1), in: "new", by: "bob"), submission(3, .read(seq: 1), in: "b", by: "alice"),
                submission(4, .read(seq: 0), in: "b", by: "bob"),
            ], knowing: try known(), bans: BanTable(), erasing: [])
        #expect(batch.marks.map(\.ticket.number) == [3])
    }
}
