public import Wire

/// A room's latest messages on one loop, and the subscribers that read them there.
///
/// Confined to its loop. Messages come in once a commit, encoded; each subscriber is a cursor into the bytes. They are
/// kept for as long as a subscriber is without them, within a limit.
///
/// Ten thousand writes take a tenth of a second, in which nobody else on the loop would be served. So subscribers are
/// visited some at a time, and what is committed meanwhile is written together with what they have not had yet.
public final class Feed {
    /// How many subscribers are visited in one go.
    public static let sweepSize = 1024
    /// How many notices wait for their turn at most; those that come then are dropped.
    public static let waitingNotices = 16

    /// The room.
    public let room: RoomID
    /// The subscribers, in no order; also those that have not started yet.
    public private(set) var subscribers: [Subscription] = []
    /// The messages as WebSocket frames.
    private var frames: ByteLog
    /// The messages as compressed WebSocket frames, while somebody wants them so.
    private var deflated: ByteLog?
    private var deflatedSubscribers = 0
    /// The messages as Server-Sent Events, once somebody wants them so.
    private var events: ByteLog?
    let deflater: PushDeflater
    /// The log's epoch.
    public let epoch: String
    private let limit: Int
    private let sweepSize: Int
    /// Brings messages to the subscribers.
    private var sweep = Sweep(over: 0)
    /// Whether more was published after this sweep had begun.
    private var isStale = false
    /// Whether everybody that this sweep has visited has everything.
    private var areLevel = true
    /// Notices that wait until there are no messages to bring, each with how far it has come.
    private var notices: [(notice: FramedNotice, sweep: Sweep)] = []

    /// A feed without messages and subscribers.
    ///
    /// - Parameters:
    ///   - epoch: the log's epoch, which events' ids carry.
    ///   - deflater: the loop's.
    ///   - limit: how many bytes of messages it keeps, for each format.
    ///   - sweepSize: how many subscribers are visited in one go.
    public init(
        room: RoomID, epoch: String, deflater: PushDeflater, limit: Int = ByteLog.defaultLimit,
        sweepSize: Int = Feed.sweepSize
    ) {
        self.room = room
        self.epoch = epoch
        self.deflater = deflater
        self.limit = limit
        self.sweepSize = sweepSize
        frames = ByteLog(limit: limit)
    }

    /// Whether nobody needs the feed.
    public var isIdle: Bool { subscribers.isEmpty }

    /// Takes over what a commit has changed, and begins to bring it to those subscribers that can take it.
    ///
    /// - Returns: whether that is done; if not, ``advance()`` goes on.
    @discardableResult
    public func publish(_ batch: FramedBatch) -> Bool {
        // Nobody who keeps up is to be without bytes that make room for these.
        if !sweep.isOver, !frames.hasRoom(for: batch.frames.count) { finishSweep() }
        frames.append(batch.frames, ends: batch.ends, firstRev: batch.firstRev)
        if deflated != nil {
            let encoded = batch.deflated(by: deflater)
            deflated!.append(encoded.bytes, ends: encoded.ends, firstRev: batch.firstRev)
        }
        if events != nil {
            let encoded = batch.events(epoch: epoch)
            events!.append(encoded.bytes, ends: encoded.ends, firstRev: batch.firstRev)
        }
        guard sweep.isOver else {
            isStale = true
            return false
        }
        beginSweep()
        return advance()
    }

    /// Brings a notice to those subscribers that have everything and take it at once.
    ///
    /// - Returns: whether that is done; if not, ``advance()`` goes on.
    @discardableResult
    public func notify(_ notice: FramedNotice) -> Bool {
        guard notices.count < Self.waitingNotices else { return false }
        notices.append((notice, Sweep(over: subscribers.count)))
        guard sweep.isOver, notices.count == 1 else { return false }
        return advance()
    }

    /// Visits the next subscribers: with messages, or if there are none to bring, with a notice.
    ///
    /// - Returns: whether there is nothing more to do.
    @discardableResult
    public func advance() -> Bool {
        if sweep.isOver { advanceNotice() } else { advanceSweep() }
        return sweep.isOver && notices.isEmpty
    }

    private func beginSweep() {
        sweep = Sweep(over: subscribers.count)
        isStale = false
        areLevel = true
    }

    /// Brings all that there is to every subscriber that can take it, at once.
    func finishSweep() {
        while !sweep.isOver { advanceSweep() }
    }

    private func advanceSweep() {
        let rev = frames.rev
        for place in sweep.next(sweepSize) where place < subscribers.count {
            let subscriber = subscribers[place]
            subscriber.advance()
            // Also those that wait to start count: what is published meanwhile is theirs.
            if subscriber.rev != rev { areLevel = false }
        }
        guard sweep.isOver else { return }
        if isStale {
            beginSweep()
        } else if areLevel {
            forgetSent()
        }
    }

    private func advanceNotice() {
        guard !notices.isEmpty else { return }
        for place in notices[0].sweep.next(sweepSize) where place < subscribers.count {
            subscribers[place].notify(notices[0].notice)
        }
        if notices[0].sweep.isOver { notices.removeFirst() }
    }

    /// Drops what every subscriber has: a room whose subscribers keep up costs no bytes, and copies none.
    private func forgetSent() {
        frames.forgetSent()
        deflated?.forgetSent()
        events?.forgetSent()
    }

    /// What a subscriber at `rev` gets next.
    func next(after rev: Int64, format: PushFormat, limit: Int) -> ByteLog.Reading {
        switch format {
        case .webSocket: frames.next(after: rev, limit: limit)
        case .deflatedWebSocket: deflated!.next(after: rev, limit: limit)
        case .serverSentEvents: events!.next(after: rev, limit: limit)
        }
    }

    /// Hands over the bytes that a reading's range is of.
    func send(_ range: Range<Int>, format: PushFormat, to carrier: any SubscriptionCarrier) {
        // A reference of our own: whatever sending brings about, these bytes stay.
        let bytes =
            switch format {
            case .webSocket: frames.bytes
            case .deflatedWebSocket: deflated!.bytes
            case .serverSentEvents: events!.bytes
            }
        carrier.send(bytes.span.extracting(range))
    }

    func add(_ subscription: Subscription) {
        // A format that begins now must know that it lacks what has been published before.
        switch subscription.format {
        case .webSocket:
            break
        case .deflatedWebSocket:
            if deflated == nil { deflated = ByteLog(limit: limit, rev: frames.rev) }
            deflatedSubscribers += 1
        case .serverSentEvents:
            if events == nil { events = ByteLog(limit: limit, rev: frames.rev) }
        }
        subscription.index = subscribers.count
        subscribers.append(subscription)
    }

    /// Takes a subscriber out, in constant time: the last one takes its place.
    func remove(_ subscription: Subscription) {
        guard let index = subscription.index else { return }
        subscription.index = nil
        if subscription.format == .deflatedWebSocket {
            deflatedSubscribers -= 1
            if deflatedSubscribers == 0 { deflated = nil }
        }
        let last = subscribers.removeLast()
        if last !== subscription {
            subscribers[index] = last
            last.index = index
        }
    }
}
