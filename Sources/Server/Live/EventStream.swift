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
    private var subscription: Subscription!

    private init(worker: Worker, connection: Connection, room: RoomID) {
        self.worker = worker
        self.connection = connection
        self.room = room
    }

    /// Subscribes a connection whose answer's head has been sent.
    ///
    /// - Parameters:
    ///   - slice: the first slice of the replay; its state is what the client is told first.
    /// - Returns: what the connection is to be handed to.
    static func open(
        on connection: Connection, worker: Worker, feed: Feed, since: Int64?, slice: ReplaySlice
    ) -> EventStream {
        let stream = EventStream(worker: worker, connection: connection, room: feed.room)
        connection.setDeadline(worker.services.configuration.webSocket.pingInterval)
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
        if !connection.isCongested { connection.write(Array(": ping\n\n".utf8)) }
        connection.setDeadline(worker.services.configuration.webSocket.pingInterval)
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
