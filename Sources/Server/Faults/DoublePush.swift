import Chat
import Synchronization
import Wire

/// Has messages pushed twice: it stands between the log and the dispatcher, where it hears what has become of each change
/// and what is pushed.
///
/// The second push is posted after the first one, by the same thread, so that it comes after it on every loop. Only
/// those who have had the message get it again; the feeds do not hear of it.
final class DoublePush: LogObserver {
    private let dispatcher: Dispatcher
    /// The rooms of changes that are to be pushed twice, by the tickets of their outcomes.
    private let expected = Mutex<[Ticket: RoomID]>([:])

    init(_ dispatcher: Dispatcher) {
        self.dispatcher = dispatcher
    }

    /// Has what becomes of a change pushed twice. In the turn in which it was submitted.
    func expect(_ ticket: Ticket, in room: RoomID) {
        expected.withLock { $0[ticket] = room }
    }

    func committed(_ outcomes: [Outcome], _ batches: [Batch]) {
        dispatcher.committed(outcomes, batches)
        let again = expected.withLock { expected in
            outcomes.compactMap { Self.push(of: $0, to: &expected, among: batches) }
        }
        if !again.isEmpty { dispatcher.pushAgain(again) }
    }

    func membershipsChanged(_ changes: [MembershipChange]) {
        dispatcher.membershipsChanged(changes)
    }

    func accessEnded(_ ends: [AccessEnd]) {
        dispatcher.accessEnded(ends)
    }

    func fetched(_ answers: [Answer]) {
        dispatcher.fetched(answers)
    }

    /// What an outcome has had pushed, by itself; `nil` when it is not expected, or nothing was pushed.
    private static func push(
        of outcome: Outcome, to expected: inout [Ticket: RoomID], among batches: [Batch]
    ) -> Batch? {
        guard let room = expected.removeValue(forKey: outcome.ticket), case .success(let stored) = outcome.result,
            let batch = batches.first(where: { $0.room == room }), case let index = Int(stored.rev - batch.firstRev),
            batch.messages.indices.contains(index)
        else { return nil }
        return Batch(room: room, firstRev: stored.rev, head: batch.head, messages: [batch.messages[index]])
    }
}
