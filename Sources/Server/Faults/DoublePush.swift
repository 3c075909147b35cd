import Chat
import Synchronization
import Wire

/// Pushes messages twice. It sits between the log and the dispatcher, where it sees the outcome of each change and the
/// pushed batches.
///
/// The second push is posted after the first, by the same thread, so every loop handles it later. Only subscribers that
/// received the message get it again; the feeds do not record it.
final class DoublePush: LogObserver {
    private let dispatcher: LoopDispatcher
    /// The rooms of changes to push twice, by ticket.
    private let expected = Mutex<[Ticket: RoomID]>([:])

    init(_ dispatcher: LoopDispatcher) {
        self.dispatcher = dispatcher
    }

    /// Marks a change to be pushed twice. Call it in the turn that submits the change.
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

    func fetched(_ replies: [any PendingReply]) {
        dispatcher.fetched(replies)
    }

    /// Returns the batch with only this outcome's message; `nil` if the change is not marked or pushed nothing.
    private static func push(
        of outcome: Outcome, to expected: inout [Ticket: RoomID], among batches: [Batch]
    ) -> Batch? {
        guard let room = expected.removeValue(forKey: outcome.ticket),
            case .success(.message(let message, _)) = outcome.result,
            let batch = batches.first(where: { $0.room == room }), case let index = Int(message.rev - batch.firstRev),
            batch.messages.indices.contains(index)
        else { return nil }
        return Batch(room: room, firstRev: message.rev, head: batch.head, messages: [batch.messages[index]])
    }
}
