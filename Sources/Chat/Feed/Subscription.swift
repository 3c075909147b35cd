public import Wire

/// One client's subscription to one room. Confined to its feed's loop.
///
/// It is a cursor in the room's feed: a revision up to which the client has everything. While it is behind what the feed
/// keeps, it reads the log, a slice at a time and at its client's pace; when it reaches the feed, it goes on from there. A
/// client that stalls delays nobody. It costs this object, what was last written to it, and what the feed keeps within its
/// limit.
public final class Subscription {
    /// Maximum number of bytes that are sent at once, unless one message is longer: the cost of a stalled client.
    public static let writeLimit = 16 * 1024
    /// Maximum number of bytes that are read from the log at once, unless one message is longer.
    public static let replayLimit = 64 * 1024

    /// The connection that serves it; `nil` until it starts. The carrier ends its subscriptions before it goes.
    private(set) unowned var carrier: (any SubscriptionCarrier)?
    /// The place of its cursor, as its feed keeps it; `nil` once it has ended.
    var place: Int?
    /// The room's feed on this loop.
    public let feed: Feed
    /// The format in which its client wants messages.
    public let format: PushFormat
    /// The user; `nil` for a caller without a name.
    public let user: UserID?
    /// True if it may follow any room, as an admin's.
    public var isAdmin: Bool
    /// The number of present users that the client was last told; `nil` when it has not been told.
    public var toldOnline: Int32?
    private var ending: Ending?

    /// The reason why it was cancelled before it had started. Indirect, because hardly any subscription has one.
    private indirect enum Ending {
        case because(Problem)
    }

    /// Creates a subscription that joins its feed, and sends nothing until ``start(with:on:)``. Messages that are published
    /// from now on are not missed, whenever the log answers.
    ///
    /// - Parameters:
    ///   - rev: the revision up to which the client has everything; `nil` for the room's in the first slice.
    public init(feed: Feed, format: PushFormat, user: UserID?, isAdmin: Bool = false, since rev: Int64?) {
        self.feed = feed
        self.format = format
        self.user = user
        self.isAdmin = isAdmin
        feed.add(self, at: rev ?? 0)
    }

    /// The revision up to which the client has everything; 0 when the subscription has ended.
    public var rev: Int64 { place.map { feed.cursors[$0].rev } ?? 0 }

    /// Starts with the first slice of the replay, or with an empty one if the client has everything.
    public func start(with slice: ReplaySlice, on carrier: any SubscriptionCarrier) {
        self.carrier = carrier
        feed.start(self, with: slice)
    }

    /// True once a carrier serves it.
    public var hasStarted: Bool { carrier != nil }

    /// Sends a slice of the log that was read for this subscription.
    public func replayed(_ slice: ReplaySlice) {
        feed.replayed(slice, for: self)
    }

    /// True if the subscription has not been cancelled.
    public var isActive: Bool { place != nil }

    /// Sends nothing until ``release()``, while the log is asked whether the user may still read the room. Messages that are
    /// published meanwhile are not missed. Balance each call with a release.
    public func hold() {
        feed.hold(self)
    }

    /// Goes on after the log has answered that the user may still read the room, unless another answer is awaited.
    public func release() {
        feed.release(self)
    }

    /// Sends what the client lacks, as far as it takes it.
    public func advance() {
        feed.advance(self)
    }

    /// Sends a notice if the client takes bytes now; otherwise it does without. The client must have every message.
    func notify(_ notice: EncodedNotice) {
        guard let carrier, !carrier.isCongested else { return }
        switch notice.content {
        // Users know themselves that they are typing, on whatever device.
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

    /// Tells the client why its subscription was cancelled. If it had not started, the reason is kept in ``end`` for whoever
    /// was about to start it.
    public func tellEnd(because problem: Problem) {
        if let carrier { carrier.ended(self, because: problem) } else { ending = .because(problem) }
    }

    /// The reason why the subscription was cancelled before it had started; `nil` if it was not, or without a reason.
    public var end: Problem? {
        if case .because(let problem)? = ending { problem } else { nil }
    }
}

/// A connection that carries a subscription's bytes to its client: a WebSocket or an event stream.
public protocol SubscriptionCarrier: AnyObject {
    /// The number of the socket for ``Outlets/push(_:to:)``, by which a feed may write what it would give to ``send(_:)`` when
    /// the carrier is not congested. It is valid until the subscription ends; `nil` if all bytes must go through the carrier.
    var outlet: UInt64? { get }
    /// True if earlier bytes are still being sent, so that nothing more should be.
    var isCongested: Bool { get }
    /// Sends frames, which are valid during the call only.
    func send(_ frames: Span<UInt8>)
    /// Sends the notice that the subscription has caught up: `{"type":"live","room","rev"}`.
    func sendLive(_ subscription: Subscription)
    /// Asks the log for what changed after `rev`; the answer comes to ``Subscription/replayed(_:)``.
    func replay(_ subscription: Subscription, since rev: Int64)
    /// Tells the client that the subscription was cancelled, and why.
    func ended(_ subscription: Subscription, because problem: Problem)
}

extension SubscriptionCarrier {
    /// `nil`: all bytes go through the carrier.
    public var outlet: UInt64? { nil }
}
