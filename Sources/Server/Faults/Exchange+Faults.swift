import Chat
import HTTP
import HTTPTypes
import Synchronization
import Transport
import Wire

/// Injection of faults into requests and answers. Active only if the server was started with `--faults`.
extension Exchange {
    /// Serves a request with the faults that it asks for.
    ///
    /// - Throws: 400 `invalid_fault`, or the requested refusal.
    func serveWithFaults(_ target: DecodedTarget) throws(Problem) {
        // A browser's preflight request has the parameter, too, but the faults are meant for the request itself.
        guard request.method != .options, let wanted = try FaultPlan(request, target) else { return try serve(target) }
        let path = target.segments.joined(separator: "/")
        let plan = worker.services.faults.map { wanted.due(request.method, path, $0.counts) } ?? wanted
        faults = plan
        guard let milliseconds = plan[.delay] else { return try serve(target, unless: plan.refusal) }
        worker.loop.after(.milliseconds(milliseconds)) { [self] in
            do throws(Problem) {
                try serve(target, unless: plan.refusal)
            } catch {
                refuse(error)
            }
        }
    }

    private func serve(_ target: DecodedTarget, unless refusal: Problem?) throws(Problem) {
        if let refusal { throw refusal }
        try serve(target)
    }

    /// Returns true if a fault withholds the answer, which then comes later or never.
    func isWithheld(_ status: HTTPResponse.Status, _ contentType: String, _ body: Span<UInt8>, _ isAsIs: Bool) -> Bool {
        guard let plan = faults else { return false }
        // A repeated send is answered; otherwise the client could never succeed. Counted faults end by themselves, so
        // they need no exception.
        let isRepeatedSend = request.method == .post && status == .ok
        if let lost = plan.fault(.lostAnswer), lost.occasions != .all || !isRepeatedSend {
            takeHTTP()?.connection.finish()
            return true
        }
        guard let milliseconds = plan[.lateAnswer] else { return false }
        faults = nil
        var content: [UInt8] = []
        content.append(copying: body)
        worker.loop.after(.milliseconds(milliseconds)) { [self, content] in
            send(status, contentType: contentType, body: content.span, isAsIs: isAsIs)
        }
        return true
    }

    /// Pushes the change's messages twice, if the request asks for it.
    func doublePush(of ticket: Ticket, in room: RoomID) {
        guard let faults, faults[.doublePush] != nil else { return }
        worker.services.faults?.doublePush.expect(ticket, in: room)
    }

    /// The epoch that the request's answers name.
    var epoch: String { worker.epoch(faults) }

    /// Returns a list of rooms with the epoch that the request's answers name.
    func withEpoch(_ slice: InboxSlice) -> InboxSlice {
        guard let faults, faults[.newEpoch] != nil else { return slice }
        let epoch = epoch
        var slice = slice
        for index in slice.rooms.indices { slice.rooms[index].summary.epoch = epoch }
        slice.next?.epoch = epoch
        return slice
    }
}

extension Worker {
    /// Returns the log's epoch, or the one that a request asks for in its place.
    func epoch(_ faults: FaultPlan?) -> String {
        let epoch = services.log.epoch
        guard let faults, faults[.newEpoch] != nil else { return epoch }
        return epoch + FaultPlan.epochSuffix
    }
}

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

    func abandoned(_ tickets: [Ticket]) -> Set<Ticket> {
        dispatcher.abandoned(tickets)
    }

    /// Returns the batch with only this outcome's message; `nil` if the change is not marked or pushed nothing.
    private static func push(
        of outcome: Outcome, to expected: inout [Ticket: RoomID], among batches: [Batch]
    ) -> Batch? {
        guard let room = expected.removeValue(forKey: outcome.ticket),
            case .success(.message(let message, _)) = outcome.result,
            let batch = batches.first(where: { $0.room == room }), let index = batch.index(of: message.rev)
        else { return nil }
        return Batch(room: room, firstRev: message.rev, head: batch.head, messages: [batch.messages[index]])
    }
}
