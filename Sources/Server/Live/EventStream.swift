import Chat
import CoreMetrics
import HTTP
import Transport
import Wire

/// A room's changes as Server-Sent Events (WHATWG HTML, section 9.2), on a connection whose answer never ends.
final class EventStream: ConnectionHandler, SubscriptionCarrier {
    private let worker: Worker
    private let connection: Connection
    private let subscription: Subscription
    /// When the client's token ends, and the stream with it; `nil` for never.
    private let end: Timestamp?
    /// What stands between the subscription and the connection when the request has asked for faults.
    private var faulty: FaultyCarrier?

    private init(worker: Worker, connection: Connection, caller: Identity, subscription: Subscription) {
        self.worker = worker
        self.connection = connection
        self.subscription = subscription
        end = caller.end
        connection.takesPushes = true
    }

    /// Carries a subscription on a connection whose answer's head has been sent.
    ///
    /// - Parameters:
    ///   - caller: who has asked; the stream ends when the token does.
    ///   - slice: the first slice of the replay; its state is what the client is told first.
    /// - Returns: what the connection is to be handed to.
    static func open(
        on connection: Connection, worker: Worker, caller: Identity, subscription: Subscription, slice: ReplaySlice,
        faults: FaultPlan?
    ) -> EventStream {
        let stream = EventStream(worker: worker, connection: connection, caller: caller, subscription: subscription)
        stream.awaitTick()
        stream.send(worker.subscribed(subscription, slice.state, faults))
        stream.faulty = faults?.carrier(of: subscription, before: stream, on: connection)
        worker.start(subscription, with: slice, on: stream.faulty ?? stream)
        return stream
    }

    private func send(_ frame: ServerFrame) {
        var event: [UInt8] = []
        PushEncoding.appendEvent(frame, to: &event)
        connection.write(event)
    }

    // MARK: The subscription's bytes

    var isCongested: Bool { connection.isCongested || !connection.isOpen }
    var outlet: PushOutlet? { connection.pushOutlet }

    func send(_ frames: Span<UInt8>) {
        worker.services.metrics.deliveredBytes.increment(by: Int64(frames.count))
        connection.write(frames)
    }

    func sendLive(_ subscription: Subscription) {
        var events: [UInt8] = []
        for notice in worker.live(subscription) { PushEncoding.appendEvent(notice, to: &events) }
        connection.write(events)
    }

    func replay(_ subscription: Subscription, since rev: Int64) {
        worker.services.metrics.replays.increment()
        worker.read(for: subscription, since: rev) { [worker, connection] result in
            guard subscription.isActive else { return }
            switch result {
            case .success(let slice): subscription.replayed(slice)
            case .failure(let problem) where [.notAMember, .roomDeleted].contains(problem.code):
                worker.end([subscription], because: problem)
            // An EventSource connects again by itself, from the last message that it has seen.
            case .failure: connection.finish()
            }
        }
    }

    /// An EventSource connects again, and is refused then.
    func ended(_ subscription: Subscription, because problem: Problem) {
        send(.error(problem, room: subscription.feed.room.string))
        connection.finish()
    }

    // MARK: The connection

    /// A client has nothing to say on an event stream; what it pipelines behind the request is dropped.
    func received(_ bytes: Span<UInt8>, on connection: Connection) {}

    func drained(_ connection: Connection) {
        subscription.advance()
    }

    /// A comment keeps proxies from closing a quiet stream, and finds out whether the client is still there.
    func deadlineReached(_ connection: Connection) {
        // An EventSource connects again by itself; it is told then that its token has expired.
        if let end, Timestamp.now() >= end { return connection.finish() }
        if !connection.isCongested { connection.write(Array(": ping\n\n".utf8)) }
        awaitTick()
    }

    /// Has the connection call back for the next comment, or at the token's end if that comes first.
    private func awaitTick() {
        var wait = worker.services.configuration.webSocket.pingInterval
        if let end { wait = min(wait, .milliseconds(end.milliseconds - Timestamp.now().milliseconds)) }
        connection.setDeadline(max(.milliseconds(1), wait))
    }

    func shuttingDown(_ connection: Connection) {
        connection.finish()
    }

    func closed(_ connection: Connection) {
        worker.end(subscription)
    }
}
