public import Wire

/// One client's place in one room: a revision, up to which it has everything.
///
/// It is the page after a cursor that never ends. While it is behind what its feed keeps, it reads the log, a slice at
/// a time and as fast as its client takes them; when it reaches the feed, it goes on from there. A client that stalls
/// holds up nobody. It costs this object, what was written to it last, and what the feed keeps within its limit.
///
/// Confined to its feed's loop.
public final class Subscription {
    /// The most that is sent in one go, in bytes, unless one message is longer: what a stalled client can cost.
    public static let writeLimit = 16 * 1024
    /// The most that is read from the log in one go, in bytes, unless one message is longer.
    public static let replayLimit = 64 * 1024

    /// What carries it once it has started. Whoever carries a subscription ends it before it goes.
    private unowned var carrier: (any SubscriptionCarrier)?
    /// The seat that it has in its feed's table; `nil` when it has none any more.
    var index: Int?
    /// The room's feed on this loop.
    public let feed: Feed
    /// How its client wants messages framed.
    public let format: PushFormat
    /// Whose it is; `nil` when nobody has said so.
    public let user: UserID?
    /// True if it may follow any room, as an admin's.
    public var isAdmin: Bool
    /// How many the client has been told are present; `nil` when it has not been told.
    public var toldOnline: Int32?
    private var ending: Ending?

    /// The reason why it was cancelled before it had started. A box, which nearly all do without.
    private indirect enum Ending {
        case because(Problem)
    }

    /// A subscription that joins its feed and does nothing until ``start(with:on:)``: what is published from now on is
    /// not missed, whenever the log tells what came before.
    ///
    /// - Parameters:
    ///   - user: who subscribes, if that is known.
    ///   - isAdmin: whether that is an admin.
    ///   - rev: up to where the client has everything; `nil` for where the first slice says that the room is.
    public init(feed: Feed, format: PushFormat, user: UserID?, isAdmin: Bool = false, since rev: Int64?) {
        self.feed = feed
        self.format = format
        self.user = user
        self.isAdmin = isAdmin
        feed.add(self, at: rev ?? 0)
    }

    /// The revision up to which the client has everything; 0 when the subscription has ended.
    public var rev: Int64 { index.map { feed.seats[$0].rev } ?? 0 }

    /// Begins with the first slice of the replay, or with none when the client has everything.
    public func start(with slice: ReplaySlice, on carrier: any SubscriptionCarrier) {
        self.carrier = carrier
        if let index { feed.seats[index].outlet = carrier.outlet }
        replayed(slice)
    }

    /// True if somebody carries it.
    public var hasStarted: Bool { carrier != nil }

    /// A slice of the log has been read for this subscription.
    public func replayed(_ slice: ReplaySlice) {
        guard let index, let carrier else { return }
        feed.seats[index].awaited -= 1
        // While it is held, this may be what its user may not have any more. If it may, it is read again.
        if feed.seats[index].awaited > 0, !slice.frames.isEmpty { return }
        if !slice.frames.isEmpty { carrier.send(slice.frames.span) }
        feed.seats[index].rev = max(feed.seats[index].rev, slice.rev)
        if !slice.hasMore, !feed.seats[index].isLive {
            feed.seats[index].isLive = true
            carrier.sendLive(self)
        }
        advance()
    }

    /// True if the subscription has not been cancelled.
    public var isActive: Bool { index != nil }

    /// Keeps everything from the client until ``release()``, while it is asked whether its user may still read the room.
    /// What is published meanwhile is not lost. Each call wants a release of its own.
    public func hold() {
        if let index { feed.seats[index].awaited += 1 }
    }

    /// The user may still read the room: goes on, unless something else is awaited.
    public func release() {
        guard let index else { return }
        feed.seats[index].awaited -= 1
        advance()
    }

    /// Sends what the client has not had, as far as it takes it.
    public func advance() {
        // While the log is asked the feed is not what comes next.
        while let index, let carrier, feed.seats[index].awaited == 0 {
            let reading = feed.reading(at: index)
            if reading == .level { return feed.noteCaughtUp(self) }
            // Asked last: most have had everything when they are asked a second time.
            if carrier.isCongested { return }
            guard case .frames(let range, let rev) = reading else { return readOn(carrier) }
            feed.send(range, format: format, to: carrier)
            feed.seats[index].rev = rev
        }
    }

    /// Sends a notice if the client has everything and takes more; otherwise it goes without.
    func notify(_ notice: EncodedNotice) {
        guard let index, feed.seats[index].isFed, let carrier, !carrier.isCongested else { return }
        switch notice.content {
        // People know themselves that they are typing, on whatever device.
        case .typing(_, user): return
        case .presence(_, let online):
            guard toldOnline != Int32(online) else { return }
            toldOnline = Int32(online)
        default: break
        }
        carrier.send(notice.bytes(format).span)
    }

    /// Sends the message of a revision once more if the client has had it and takes more.
    func pushAgain(_ frame: [UInt8], of rev: Int64) {
        guard let index, feed.seats[index].isFed, self.rev >= rev, let carrier, !carrier.isCongested else { return }
        carrier.send(frame.span)
    }

    private func readOn(_ carrier: any SubscriptionCarrier) {
        if let index { feed.seats[index].awaited += 1 }
        carrier.replay(self, since: rev)
    }

    /// Ends the subscription: nothing more is sent.
    public func cancel() {
        feed.remove(self)
    }

    /// Has the client of a subscription that was cancelled told why. If it had not started, whoever was about to start it
    /// does that: see ``end``.
    public func tellEnd(because problem: Problem) {
        if let carrier { carrier.ended(self, because: problem) } else { ending = .because(problem) }
    }

    /// The reason why the subscription was cancelled before it had started; `nil` when it was not, or for no reason.
    public var end: Problem? {
        if case .because(let problem)? = ending { problem } else { nil }
    }
}

/// What carries a subscription's bytes to its client: a WebSocket or an event stream.
public protocol SubscriptionCarrier: AnyObject {
    /// Where a feed may write by itself what it would give to ``send(_:)`` when the carrier is not congested; `nil` when all
    /// has to come by.
    var outlet: PushOutlet? { get }
    /// True if what was sent before is still on its way, so that nothing more should be sent.
    var isCongested: Bool { get }
    /// Sends ready frames. They are gone after the call.
    func send(_ frames: Span<UInt8>)
    /// Sends the notice that the subscription has caught up: `{"type":"live","room","rev"}`.
    func sendLive(_ subscription: Subscription)
    /// Asks the log for what changed after `rev`; the answer comes to ``Subscription/replayed(_:)``.
    func replay(_ subscription: Subscription, since rev: Int64)
    /// The subscription was cancelled for this reason, which its client is to be told.
    func ended(_ subscription: Subscription, because problem: Problem)
}

extension SubscriptionCarrier {
    /// None: all comes by.
    public var outlet: PushOutlet? { nil }
}
