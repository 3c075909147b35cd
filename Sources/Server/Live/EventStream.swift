import Chat
import CoreMetrics
import HTTP
import HTTPTypes
import Transport
import Wire

/// A room's changes as Server-Sent Events (WHATWG HTML, section 9.2), on a connection whose answer never ends.
final class EventStream: ConnectionHandler, SubscriptionCarrier, UserConnection {
    private let worker: Worker
    private let connection: Connection
    private let subscription: Subscription
    /// The epoch that events' ids name, which is another than the log's when the request has asked for that fault.
    private let epoch: String
    /// The user who has opened it.
    private let user: UserID?
    /// The time when the client's token ends, and the stream with it; `nil` for never.
    private let end: Timestamp?
    /// What stands between the subscription and the connection when the request has asked for faults.
    private var faulty: FaultyCarrier?
    /// The read of the log that the subscription waits for; 0 for none.
    private var reading: UInt64 = 0

    private init(
        worker: Worker, connection: Connection, caller: Identity, subscription: Subscription, epoch: String
    ) {
        self.worker = worker
        self.connection = connection
        self.subscription = subscription
        self.epoch = epoch
        user = caller.user
        end = caller.end
        connection.takesPushes = true
    }

    /// Carries a subscription on a connection whose answer's head has been sent.
    ///
    /// - Parameters:
    ///   - caller: who has asked; the stream ends when the token does.
    ///   - since: the position that the client has asked for; `nil` for now.
    ///   - slice: the first slice of the replay; its state is what the client is told first.
    /// - Returns: what the connection is to be handed to.
    static func open(
        on connection: Connection, worker: Worker, caller: Identity, subscription: Subscription, since: Int64?,
        slice: ReplaySlice, faults: FaultPlan?
    ) -> EventStream {
        let stream = EventStream(
            worker: worker, connection: connection, caller: caller, subscription: subscription,
            epoch: worker.epoch(faults))
        // A client that is gone without a word acknowledges no heartbeat.
        connection.setAcknowledgementTimeout(worker.services.configuration.transport.noProgress)
        stream.awaitTick()
        var beginning: [UInt8] = []
        EventStreamText.appendRetry(EventStreamText.usualRetry, to: &beginning)
        PushEncoding.appendEvent(
            worker.subscribed(subscription, slice.state, faults), id: stream.id(since ?? slice.state.rev),
            to: &beginning)
        connection.write(beginning)
        stream.faulty = faults?.carrier(of: subscription, before: stream, on: connection)
        worker.opened(stream, by: caller.user)
        worker.start(subscription, with: slice, on: stream.faulty ?? stream)
        return stream
    }

    /// The id of an event after which a client has everything up to `rev`.
    private func id(_ rev: Int64) -> String { "\(epoch):\(rev)" }

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
        reading = worker.read(for: subscription, since: rev, asker: connection.asker) { [worker, connection] result in
            guard subscription.isActive else { return }
            switch result {
            case .success(let slice): subscription.replayed(slice)
            case .failure(let problem) where [.notAMember, .roomDeleted, .banned].contains(problem.code):
                worker.end([subscription], because: problem)
            // An EventSource connects again by itself, from the last event that it has received.
            case .failure: connection.finish()
            }
        }
    }

    /// Tells the client why, and ends the stream. An EventSource connects again, and is refused then.
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

    /// A client has nothing to say on an event stream; what it pipelines behind the request is dropped.
    func received(_ bytes: Span<UInt8>, on connection: Connection) {}

    func drained(_ connection: Connection) {
        subscription.advance()
    }

    /// Sends a heartbeat: a comment, which keeps proxies from closing a quiet stream.
    func deadlineReached(_ connection: Connection) {
        // An EventSource connects again by itself; it is told then that its token has expired.
        if let end, Timestamp.now() >= end { return connection.finish() }
        if !connection.isCongested { connection.write(Array(": ping\n\n".utf8)) }
        awaitTick()
    }

    /// Has the connection call back for the next heartbeat, or at the token's end if that comes first.
    private func awaitTick() {
        var wait = worker.services.configuration.eventHeartbeat
        if let end { wait = min(wait, .milliseconds(end.milliseconds - Timestamp.now().milliseconds)) }
        connection.setDeadline(max(.milliseconds(1), wait))
    }

    func shuttingDown(_ connection: Connection) {
        connection.finish()
    }

    func closed(_ connection: Connection) {
        worker.closed(self, of: user)
        worker.cancel(reading)
        worker.end(subscription)
        worker.logClosed(connection, code: nil, because: nil)
    }
}

/// The parts of an event stream beside its frames: its head, heartbeats, and the pause before a client reconnects.
enum EventStreamText {
    /// The time that an EventSource waits before it connects again, in milliseconds: each a random time, so that those
    /// whose streams have ended together come back one after the other.
    static let usualRetry = 2000...4000

    /// The id of the event that refuses a stream for good. An EventSource connects again all the same, sends the id as
    /// `Last-Event-ID`, and is answered 204, which ends it. No position reads like it.
    static let refusedID = "refused"

    /// The fields of an event stream's answer: caches keep nothing of it, and nginx hands each event on as it comes.
    static let fields = [
        HTTPField(name: .cacheControl, value: "no-store"), HTTPField(name: .xAccelBuffering, value: "no"),
    ]

    /// Appends the time after which an EventSource is to connect again, from a range in milliseconds.
    static func appendRetry(_ milliseconds: ClosedRange<Int>, to out: inout [UInt8]) {
        out += Array("retry: \(Int.random(in: milliseconds))\n".utf8)
    }

    /// The whole content of an answer that refuses an EventSource which has connected again.
    static func refusal(_ problem: Problem, room: String) -> [UInt8] {
        var content: [UInt8] = []
        appendRetry(retry(after: problem), to: &content)
        PushEncoding.appendEvent(
            .error(problem, room: room), id: problem.isPermanent ? refusedID : nil, to: &content)
        return content
    }

    /// The time until the next try, in milliseconds: no sooner than the problem says, and not all at once.
    private static func retry(after problem: Problem) -> ClosedRange<Int> {
        let least = max((problem.retryAfter ?? 0) * 1000, usualRetry.lowerBound)
        return least...least * 2
    }
}

extension Problem {
    /// True if the same request will be refused again: not so for limits, time-outs, and a server that cannot serve.
    var isPermanent: Bool { status < 500 && status != 408 && status != 429 }
}

extension HTTPField.Name {
    /// Tells nginx not to buffer an answer.
    static let xAccelBuffering = HTTPField.Name("X-Accel-Buffering")!
}
