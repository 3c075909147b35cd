import Chat
import CoreMetrics
import HTTPTypes
import Transport
import Wire

/// A subscription to a room as Server-Sent Events (WHATWG HTML, section 9.2), on a connection whose answer never ends.
final class EventStream: ConnectionHandler, SubscriptionCarrier, UserConnection {
    private let worker: Worker
    private let connection: Connection
    private let subscription: Subscription
    /// The user who opened the stream.
    let user: UserID?
    var userIndex: Int32?
    /// The time when the client's token expires and the stream ends; `nil` for never.
    private let end: Timestamp?
    /// The reply that the subscription waits for; `nil` for none.
    private var reading: Reply<ReplaySlice>?

    private init(
        worker: Worker, connection: Connection, caller: Identity, subscription: Subscription
    ) {
        self.worker = worker
        self.connection = connection
        self.subscription = subscription
        user = caller.user
        end = caller.end
        connection.takesPushes = true
    }

    /// Carries a subscription on a connection whose answer's head was sent.
    ///
    /// - Parameters:
    ///   - caller: The caller. The stream ends when the caller's token expires.
    ///   - since: The client's position; `nil` for none.
    ///   - slice: The first slice of the replay. Its state goes into the first event.
    /// - Returns: The handler for the connection.
    static func open(
        on connection: Connection, worker: Worker, caller: Identity, subscription: Subscription, since: Int64?,
        slice: ReplaySlice
    ) -> EventStream {
        let stream = EventStream(
            worker: worker, connection: connection, caller: caller, subscription: subscription)
        // A lost client does not acknowledge heartbeats.
        connection.setAcknowledgementTimeout(worker.services.configuration.transport.noProgress)
        stream.awaitTick()
        var beginning: [UInt8] = []
        EventStreamText.appendRetry(EventStreamText.usualRetry, to: &beginning)
        PushEncoding.appendEvent(
            worker.subscribed(subscription, slice.state), id: stream.id(since ?? slice.state.rev),
            to: &beginning)
        connection.write(beginning)
        worker.users.opened(stream)
        worker.start(subscription, with: slice, on: stream)
        return stream
    }

    /// Returns the id of an event after which the client has everything up to `rev`.
    private func id(_ rev: Int64) -> String { "\(worker.epoch):\(rev)" }

    // MARK: The subscription's bytes

    var isCongested: Bool { connection.isCongested || !connection.isOpen }
    var outlet: UInt64? { connection.outlet }

    func send(_ frames: Span<UInt8>) {
        worker.services.metrics.deliveredBytes.increment(by: Int64(frames.count))
        connection.write(frames)
    }

    func sendLive(_ subscription: Subscription) {
        var events: [UInt8] = []
        for notice in worker.live(subscription) {
            let id: String? = if case .live(_, let rev) = notice { id(rev) } else { nil }
            PushEncoding.appendEvent(notice, id: id, to: &events)
        }
        connection.write(events)
    }

    func replay(_ subscription: Subscription, since rev: Int64) {
        worker.services.metrics.replays.increment()
        reading = worker.read(for: subscription, since: rev, client: connection.client) { [worker, connection] result in
            guard subscription.isActive else { return }
            switch result {
            case .success(let slice): subscription.replayed(slice)
            case .failure(let problem) where [.notAMember, .roomDeleted, .banned].contains(problem.code):
                worker.end([subscription], because: problem)
            // An EventSource reconnects by itself, from the last event it has received.
            case .failure: connection.finish()
            }
        }
    }

    /// Sends the reason and ends the stream. An EventSource reconnects, and is then refused.
    func ended(_ subscription: Subscription, because problem: Problem) {
        var event: [UInt8] = []
        PushEncoding.appendEvent(.error(problem, room: subscription.feed.room.string), to: &event)
        connection.write(event)
        connection.finish()
    }

    func end(because problem: Problem) {
        worker.end([subscription], because: problem)
    }

    // MARK: The connection

    /// Clients send nothing on an event stream. Pipelined requests are dropped.
    func received(_ bytes: Span<UInt8>, on connection: Connection) {}

    func drained(_ connection: Connection) {
        subscription.advance()
    }

    /// Sends a heartbeat: a comment, which keeps proxies from closing a quiet stream.
    func deadlineReached(_ connection: Connection) {
        // An EventSource reconnects by itself, and is then told that its token has expired.
        if let end, Timestamp.now() >= end { return connection.finish() }
        if !connection.isCongested { connection.write(Array(": ping\n\n".utf8)) }
        awaitTick()
    }

    /// Sets the deadline to the next heartbeat, or to the token's expiry if that comes first.
    private func awaitTick() {
        var wait = worker.services.configuration.eventHeartbeat
        if let end { wait = min(wait, .milliseconds(end.milliseconds - Timestamp.now().milliseconds)) }
        connection.setDeadline(max(.milliseconds(1), wait))
    }

    func shuttingDown(_ connection: Connection) {
        connection.finish()
    }

    func closed(_ connection: Connection) {
        worker.users.closed(self)
        worker.log.cancel(reading)
        worker.end(subscription)
        worker.logClosed(connection, code: nil, because: nil)
    }
}

/// The parts of an event stream other than frames: its head, its reconnection time, and refusals.
enum EventStreamText {
    /// The range of reconnection times in milliseconds. Each stream gets a random one, so that clients whose streams
    /// end together do not return together.
    static let usualRetry = 2000...4000

    /// The id of the event of a permanent refusal. An EventSource still reconnects with this id as `Last-Event-ID`, and
    /// gets 204, which stops it. It cannot be mistaken for a position.
    static let refusedID = "refused"

    /// The header fields of an event stream: caches store nothing, and nginx forwards each event at once.
    static let fields = [
        HTTPField(name: .cacheControl, value: "no-store"), HTTPField(name: .xAccelBuffering, value: "no"),
    ]

    /// Appends a random reconnection time from a range in milliseconds.
    static func appendRetry(_ milliseconds: ClosedRange<Int>, to out: inout [UInt8]) {
        out += Array("retry: \(Int.random(in: milliseconds))\n".utf8)
    }

    /// Returns the complete content of an answer that refuses a reconnecting EventSource.
    static func refusal(_ problem: Problem, room: String) -> [UInt8] {
        var content: [UInt8] = []
        appendRetry(retry(after: problem), to: &content)
        PushEncoding.appendEvent(
            .error(problem, room: room), id: problem.isPermanent ? refusedID : nil, to: &content)
        return content
    }

    /// Returns the range of reconnection times in milliseconds, no sooner than the problem allows.
    private static func retry(after problem: Problem) -> ClosedRange<Int> {
        let least = max((problem.retryAfter ?? 0) * 1000, usualRetry.lowerBound)
        return least...least * 2
    }
}

extension Problem {
    /// True if the same request will be refused again. False for rate limits, time-outs and unavailable servers.
    var isPermanent: Bool { status < 500 && status != 408 && status != 429 }
}

extension HTTPField.Name {
    /// The header that disables nginx's buffering of an answer.
    static let xAccelBuffering = HTTPField.Name("X-Accel-Buffering")!
}
