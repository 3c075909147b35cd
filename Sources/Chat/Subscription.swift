public import Wire

/// What carries a subscription's bytes to its client: a WebSocket or an event stream.
public protocol SubscriptionCarrier: AnyObject {
    /// Whether what was sent before is still on its way, so that nothing more should be sent.
    var isCongested: Bool { get }
    /// Sends ready frames. They are gone after the call.
    func send(_ frames: Span<UInt8>)
    /// Sends the notice that the subscription has caught up: `{"type":"live","room","rev"}`.
    func sendLive(room: RoomID, rev: Int64)
    /// Asks the log for what changed after `rev`; the answer comes to ``Subscription/replayed(_:)``.
    func replay(_ subscription: Subscription, since rev: Int64)
}

/// One client's place in one room: a revision, up to which it has everything.
///
/// It is the page after a cursor that never ends. While it is behind what its feed keeps, it reads the log, a slice at
/// a time and as fast as its client takes them; when it reaches the feed, it goes on from there. A client that stalls
/// holds up nobody and costs nothing but this object.
///
/// Confined to its feed's loop.
public final class Subscription {
    /// The most that is sent in one go, in bytes, unless one message is longer: what a stalled client can cost.
    public static let writeLimit = 16 * 1024
    /// The most that is read from the log in one go, in bytes, unless one message is longer.
    public static let replayLimit = 64 * 1024

    /// The room's feed on this loop.
    public let feed: Feed
    /// How its client wants messages framed.
    public let format: PushFormat
    /// The revision up to which the client has everything.
    public private(set) var rev: Int64
    /// Where the feed's table holds this subscription; `nil` when it does not.
    var index: Int?

    private unowned let carrier: any SubscriptionCarrier
    /// Whether an answer of the log is awaited, the first one to begin with.
    private var isReading = true
    /// Whether the client has been told that it has caught up.
    private var isLive = false

    /// A subscription that continues after `rev`. It does nothing until ``start(after:)``.
    public init(feed: Feed, format: PushFormat, rev: Int64, carrier: any SubscriptionCarrier) {
        self.feed = feed
        self.format = format
        self.rev = rev
        self.carrier = carrier
        feed.add(self)
    }

    /// Begins with the first slice of the replay, or with none when the client has everything.
    public func start(with slice: ReplaySlice) {
        replayed(slice)
    }

    /// A slice of the log has been read for this subscription.
    public func replayed(_ slice: ReplaySlice) {
        isReading = false
        guard index != nil else { return }
        if !slice.frames.isEmpty { carrier.send(slice.frames.span) }
        rev = max(rev, slice.rev)
        if !slice.hasMore, !isLive {
            isLive = true
            carrier.sendLive(room: feed.room, rev: rev)
        }
        advance()
    }

    /// Whether the subscription has not been cancelled.
    public var isActive: Bool { index != nil }

    /// Sends what the client has not had, as far as it takes it.
    public func advance() {
        // Until the replay is over the feed is not what comes next.
        while index != nil, !isReading, !carrier.isCongested {
            guard isLive else { return readOn() }
            switch feed.next(after: rev, format: format, limit: Self.writeLimit) {
            case .level:
                return
            case .frames(let range, let newRev):
                feed.send(range, format: format, to: carrier)
                rev = newRev
            case .behind:
                return readOn()
            }
        }
    }

    private func readOn() {
        isReading = true
        carrier.replay(self, since: rev)
    }

    /// Ends the subscription.
    public func cancel() {
        feed.remove(self)
    }
}
