public import Wire

/// One client's subscription to one room. Confined to its feed's loop.
///
/// It is a cursor in the room's feed: the revision up to which the client has every change. If it is behind the
/// messages that the feed keeps, it reads the log, one slice at a time and at its client's pace. Once it reaches the
/// feed, it continues from there. A stalled client delays nobody. It costs this object, the bytes last written to it,
/// and the messages that the feed keeps within its limit.
public final class Subscription {
    /// Maximum number of bytes to send at once, unless one message is longer. This bounds the cost of a stalled client.
    public static let writeLimit = 16 * 1024
    /// Maximum number of bytes to read from the log at once, unless one message is longer.
    public static let replayLimit = 64 * 1024

    /// The connection that carries it; `nil` until it starts. The carrier ends its subscriptions before it is
    /// destroyed.
    private(set) unowned var carrier: (any SubscriptionCarrier)?
    /// The index of its cursor, maintained by its feed; `nil` once it has ended.
    var index: Int?
    /// The room's feed on this loop.
    public let feed: Feed
    /// The format of the client's messages.
    public let format: PushFormat
    /// The user; `nil` for a caller without a name.
    public let user: UserID?
    /// True if the user is an admin, who may follow any room.
    public var isAdmin: Bool
    /// The number of present users that the client was last told; `nil` if it was never told.
    public var toldOnline: Int32?
    private var ending: Ending?

    /// The reason why it was cancelled before it started. Indirect, because few subscriptions have one.
    private indirect enum Ending {
        case because(Problem)
    }

    /// Creates a subscription that joins its feed, and sends nothing until ``start(with:on:)``. Messages published from
    /// now on are not missed, however late the log answers.
    ///
    /// - Parameters:
    ///   - rev: the revision up to which the client has every change; `nil` to use the room's revision in the first
    ///     slice.
    public init(feed: Feed, format: PushFormat, user: UserID?, isAdmin: Bool = false, since rev: Int64?) {
        self.feed = feed
        self.format = format
        self.user = user
        self.isAdmin = isAdmin
        feed.add(self, at: rev ?? 0)
    }

    /// The revision up to which the client has every change; 0 once the subscription has ended.
    public var rev: Int64 { index.map { feed.cursors[$0].rev } ?? 0 }

    /// Starts with the first slice of the replay, which is empty if the client has every change.
    public func start(with slice: ReplaySlice, on carrier: any SubscriptionCarrier) {
        self.carrier = carrier
        feed.start(self, with: slice)
    }

    /// True once a carrier serves it.
    public var hasStarted: Bool { carrier != nil }

    /// Sends a slice of the log that this subscription requested.
    public func replayed(_ slice: ReplaySlice) {
        feed.replayed(slice, for: self)
    }

    /// True if the subscription has not been cancelled.
    public var isActive: Bool { index != nil }

    /// Holds the subscription until ``release()``, while the log is asked whether the user may still read the room.
    /// Messages published meanwhile are not missed. Each call needs a matching release.
    public func hold() {
        feed.hold(self)
    }

    /// Continues after the log has answered that the user may still read the room, unless another answer is awaited.
    public func release() {
        feed.release(self)
    }

    /// Sends the messages that the client lacks, as far as it takes them.
    public func advance() {
        feed.advance(self)
    }

    /// Sends a notice if the client takes bytes now; otherwise drops it. The client must have every message.
    func notify(_ notice: EncodedNotice) {
        guard let carrier, !carrier.isCongested else { return }
        if let recipient = notice.recipient, recipient != user { return }
        switch notice.content {
        // Users are not told about their own typing, on any device.
        case .typing(_, user): return
        case .presence(_, let online):
            guard toldOnline != Int32(online) else { return }
            toldOnline = Int32(online)
        default: break
        }
        carrier.send(notice.bytes(format).span)
    }

    /// Ends the subscription: nothing more is sent.
    public func cancel() {
        feed.remove(self)
    }

    /// Tells the client why its subscription was cancelled. If it has not started, ``end`` keeps the reason for the
    /// code that is about to start it.
    public func tellEnd(because problem: Problem) {
        if let carrier { carrier.ended(self, because: problem) } else { ending = .because(problem) }
    }

    /// The reason why the subscription was cancelled before it started; `nil` if it was not, or if there is no reason.
    public var end: Problem? {
        if case .because(let problem)? = ending { problem } else { nil }
    }
}

/// A connection that carries a subscription's bytes to its client: a WebSocket or an event stream.
public protocol SubscriptionCarrier: AnyObject {
    /// The number of the socket for ``Outlets/push(_:to:)``. A feed may push there the bytes that it would pass to
    /// ``send(_:)``, if the carrier is not congested. Valid until the subscription ends; `nil` if all bytes must go
    /// through the carrier.
    var outlet: UInt64? { get }
    /// True while earlier bytes are still being sent, so that no more should be.
    var isCongested: Bool { get }
    /// Sends frames, which are valid during the call only.
    func send(_ frames: Span<UInt8>)
    /// Sends the notice that the subscription has caught up: `{"type":"live","room","rev"}`.
    func sendLive(_ subscription: Subscription)
    /// Asks the log for the changes after `rev`. The answer goes to ``Subscription/replayed(_:)``.
    func replay(_ subscription: Subscription, since rev: Int64)
    /// Tells the client that the subscription was cancelled, with the reason.
    func ended(_ subscription: Subscription, because problem: Problem)
}

extension SubscriptionCarrier {
    /// `nil`: all bytes go through the carrier.
    public var outlet: UInt64? { nil }
}
