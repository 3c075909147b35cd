import Chat
import Testing
import Wire

@testable import Nodes

@Suite("A writer's turns")
struct WriterTurnsTests {
    private let start = ContinuousClock.now
    private let room = try! RoomID("lobby")
    private let access = AccessState(node: "node", age: .seconds(1), clock: { .earliest })

    private func submission(_ number: UInt64, _ change: Submission.Change) -> Submission {
        Submission(
            ticket: Ticket(loop: 0, number: number), room: room, sender: try! UserID("alice"), change: change,
            arrival: start)
    }

    private func send(_ number: UInt64, id: String?) -> Submission {
        submission(number, .send(Draft(clientMessageID: id, content: Content(text: "hello"))))
    }

    private func turns(_ submissions: [Submission]) -> WriterTurns {
        var turns = WriterTurns(access, Facts.Policy())
        turns.begin(submissions[...], at: start)
        return turns
    }

    private func name(_ step: WriterTurns.Step) -> String {
        switch step {
        case .judge(let submissions): "judge \(submissions.count)"
        case .connect: "connect"
        case .lookUp(let questions): "look up \(questions.count)"
        case .store(let batch, let revocations): "store \(batch.sends.count) knowing \(revocations)"
        case .findRepeated(let keys): "find \(keys.map(\.id))"
        case .move(let batch, _, _): "move \(batch.marks.count)"
        case .catchUp(let isOptional): isOptional ? "catch up, if possible" : "catch up"
        case .transact(let submissions): "transact \(submissions.count)"
        case .report(let outcomes, let batches): "report \(outcomes.count) of \(batches.count)"
        case .end: "end"
        }
    }

    /// Takes the steps up to the batch of sends or marks, and returns the name of the next one.
    private func batch(_ turns: inout WriterTurns, revocations: Int64 = 0) -> String {
        while true {
            let step = turns.next(at: start)
            switch step {
            case .judge(let submissions): turns.judged(submissions, at: start)
            case .connect: turns.connected()
            case .lookUp(let questions):
                let room = KnownRooms.Room(number: 1, facts: RoomFacts(head: 4, rev: 4))
                turns.lookedUp(
                    (questions.map { KnownRooms.Answer(question: $0, room: room, role: .owner) }, revocations))
            default: return name(step)
            }
        }
    }

    private var stored: SendAnswer { .stored([SendBatch.Stored(head: 4, rev: 4, time: .earliest)]) }

    @Test func `store sends first, then move marks, then commit the others one after the other`() {
        var turns = turns([
            send(0, id: "a"), submission(1, .read(seq: 2)),
            submission(2, .change(MessageChange(seq: 1, action: .delete))),
        ])
        #expect(batch(&turns) == "store 1 knowing 0")
        turns.stored(stored)
        #expect(name(turns.next(at: start)) == "report 1 of 1")
        turns.reported()
        #expect(batch(&turns) == "move 1")
        turns.moved([(2, true)])
        #expect(name(turns.next(at: start)) == "report 1 of 0")
        turns.reported()
        #expect(batch(&turns) == "transact 1")
        turns.transacted(1)
        #expect(name(turns.next(at: start)) == "end")
    }

    @Test func `leave a repeated send to a transaction`() {
        var turns = turns([send(0, id: "a"), send(1, id: "b")])
        #expect(batch(&turns) == "store 2 knowing 0")
        turns.stored(.repeated)
        guard case .findRepeated(let keys) = turns.next(at: start) else {
            Issue.record("no question")
            return
        }
        turns.found(repeated: [keys[0]])
        #expect(batch(&turns) == "store 1 knowing 0")
        turns.stored(stored)
        turns.reported()
        #expect(batch(&turns) == "transact 1")
    }

    @Test func `read the events of access for facts of a later state, and give up after some attempts`() {
        var turns = turns([send(0, id: "a")])
        for _ in 0..<8 {
            #expect(batch(&turns, revocations: 1) == "catch up")
            turns.caughtUp()
        }
        #expect(batch(&turns) == "transact 1")
    }

    @Test func `report what was stored after the events of access are read, if a room was left`() {
        var turns = turns([send(0, id: "a")])
        #expect(batch(&turns) == "store 1 knowing 0")
        turns.stored(.stored([nil]))
        #expect(name(turns.next(at: start)) == "catch up, if possible")
        turns.caughtUp()
        #expect(name(turns.next(at: start)) == "report 0 of 0")
        turns.reported()
        #expect(batch(&turns) == "store 1 knowing 0")
    }

    @Test func `refuse sends without a client message id after a lost commit, and try the others again`() {
        var turns = turns([send(0, id: nil), send(1, id: "b")])
        #expect(batch(&turns) == "store 2 knowing 0")
        guard case .refuseUnconfirmed(let refused) = turns.failed(.unknown(nil), at: start) else {
            Issue.record("not refused")
            return
        }
        #expect(refused.map(\.ticket.number) == [0])
        #expect(batch(&turns) == "store 1 knowing 0")
        guard case .giveUp(let unconfirmed, let others) = turns.failed(.unknown(nil), at: start + .seconds(2)) else {
            Issue.record("not given up")
            return
        }
        #expect(unconfirmed.isEmpty && others.map(\.ticket.number) == [1])
        #expect(name(turns.next(at: start)) == "end")
    }

    @Test func `judge submissions again if the process may have been stopped since`() {
        var turns = turns([send(0, id: "a")])
        turns.judged(turns.rest, at: start)
        _ = turns.next(at: start)
        turns.connected()
        _ = turns.next(at: start)
        let room = KnownRooms.Room(number: 1, facts: RoomFacts())
        let question = KnownRooms.Question(room: self.room, user: try! UserID("alice"))
        turns.lookedUp(([KnownRooms.Answer(question: question, room: room, role: nil)], 0))
        #expect(name(turns.next(at: start + Submission.youth)) == "judge 1")
    }

    @Test func `hold the submissions of a locked room, and commit one by one if another row is locked`() {
        var turns = turns([send(0, id: "a"), send(1, id: "b")])
        #expect(batch(&turns) == "store 2 knowing 0")
        _ = turns.failed(.locked([]), at: start)
        #expect(batch(&turns) == "transact 1")
        guard case .hold(let rooms) = turns.failed(.locked([room]), at: start) else {
            Issue.record("not held")
            return
        }
        var held = HeldRooms()
        turns.hold(rooms, in: &held, at: start)
        #expect(held.count == 2 && turns.rest.isEmpty)
    }
}
