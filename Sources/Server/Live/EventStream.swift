import Chat
import CoreMetrics
import HTTP
import Transport
import Wire

/// A room's changes as Server-Sent Events (WHATWG HTML, section 9.2), on a connection whose answer never ends.
final class EventStream: ConnectionHandler, SubscriptionCarrier {
    private let worker: Worker
    private let connection: Connection
    private let room: RoomID
    /// When the client's token ends, and the stream with it; `nil` for never.
    private let end: Timestamp?
    private var subscription: Subscription!

    private init(worker: Worker, connection: Connection, room: RoomID, end: Timestamp?) {
        self.worker = worker
        self.connection = connection
        self.room = room
        self.end = end
    }

    /// Subscribes a connection whose answer's head has been sent.
    ///
    /// - Parameters:
    ///   - caller: who has asked; the stream ends when the token does.
    ///   - slice: the first slice of the replay; its state is what the client is told first.
    /// - Returns: what the connection is to be handed to.
    static func open(
        on connection: Connection, worker: Worker, caller: Identity, feed: Feed, since: Int64?, slice: ReplaySlice
    ) -> EventStream {
        let stream = EventStream(worker: worker, connection: connection, room: feed.room, end: caller.end)
        stream.awaitTick()
        stream.subscription = Subscription(
            feed: feed, format: .serverSentEvents, rev: since ?? slice.rev, carrier: stream)
        worker.services.metrics.subscribers.increment()
        stream.send(
            .subscribed(room: feed.room, head: slice.state.head, rev: slice.state.rev, epoch: worker.services.log.epoch)
        )
        stream.subscription.start(with: slice)
        return stream
    }

    private func send(_ frame: ServerFrame) {
        var event: [UInt8] = []
        PushEncoding.appendEvent(frame, to: &event)
        connection.write(event)
    }

    // MARK: The subscription's bytes

    var isCongested: Bool { connection.isCongested || !connection.isOpen }

    func send(_ frames: Span<UInt8>) {
        worker.services.metrics.deliveredBytes.increment(by: Int64(frames.count))
        connection.write(frames)
    }

    func sendLive(room: RoomID, rev: Int64) {
        send(.live(room: room, rev: rev))
    }

    func replay(_ subscription: Subscription, since rev: Int64) {
        worker.services.metrics.replays.increment()
        let kind = Query.Kind.replay(since: rev, format: .serverSentEvents, bytes: Subscription.replayLimit)
        worker.ask(kind, of: room) { [weak self] result in
            guard let self, subscription.isActive else { return }
            switch result {
            case .success(.replay(let slice)): subscription.replayed(slice)
            case .success: preconditionFailure("the log answered another question")
            // An EventSource connects again by itself, from the last message that it has seen.
            case .failure: connection.finish()
            }
        }
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
        subscription.cancel()
        worker.release(subscription.feed)
        worker.services.metrics.subscribers.decrement()
    }
}
