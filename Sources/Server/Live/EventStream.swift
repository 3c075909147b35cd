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

    private init(worker: Worker, connection: Connection, subscription: Subscription) {
        self.worker = worker
        self.connection = connection
        self.subscription = subscription
    }

    /// Carries a subscription on a connection whose answer's head has been sent.
    ///
    /// - Parameters:
    ///   - slice: the first slice of the replay; its state is what the client is told first.
    /// - Returns: what the connection is to be handed to.
    static func open(
        on connection: Connection, worker: Worker, subscription: Subscription, slice: ReplaySlice
    ) -> EventStream {
        let stream = EventStream(worker: worker, connection: connection, subscription: subscription)
        connection.setDeadline(worker.services.configuration.webSocket.pingInterval)
        stream.send(worker.subscribed(subscription, slice.state))
        worker.start(subscription, with: slice, on: stream)
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

    func sendLive(_ subscription: Subscription) {
        var events: [UInt8] = []
        for notice in worker.live(subscription) { PushEncoding.appendEvent(notice, to: &events) }
        connection.write(events)
    }

    func replay(_ subscription: Subscription, since rev: Int64) {
        worker.services.metrics.replays.increment()
        worker.read(for: subscription, since: rev) { [connection] result in
            guard subscription.isActive else { return }
            switch result {
            case .success(let slice): subscription.replayed(slice)
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
        if !connection.isCongested { connection.write(Array(": ping\n\n".utf8)) }
        connection.setDeadline(worker.services.configuration.webSocket.pingInterval)
    }

    func shuttingDown(_ connection: Connection) {
        connection.finish()
    }

    func closed(_ connection: Connection) {
        worker.end(subscription)
    }
}
