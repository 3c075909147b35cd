public import Wire

/// A room's latest messages on one loop, and the subscribers that read them there.
///
/// Confined to its loop. Messages come in once a commit, encoded; each subscriber is a cursor into the bytes. They are
/// kept for as long as a subscriber is without them, within a limit.
public final class Feed {
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
    private let deflater: PushDeflater
    private let epoch: String
    private let limit: Int

    /// A feed without messages and subscribers.
    ///
    /// - Parameters:
    ///   - epoch: the log's epoch, which events' ids carry.
    ///   - deflater: the loop's.
    ///   - limit: how many bytes of messages it keeps, for each format.
    public init(room: RoomID, epoch: String, deflater: PushDeflater, limit: Int = ByteLog.defaultLimit) {
        self.room = room
        self.epoch = epoch
        self.deflater = deflater
        self.limit = limit
        frames = ByteLog(limit: limit)
    }

    /// Whether nobody needs the feed.
    public var isIdle: Bool { subscribers.isEmpty }

    /// Takes over what a commit has changed, and brings every subscriber up to it that can take it now.
    public func publish(_ batch: FramedBatch) {
        frames.append(batch.frames, ends: batch.ends, firstRev: batch.firstRev)
        if deflated != nil {
            let encoded = batch.deflated(by: deflater)
            deflated!.append(encoded.bytes, ends: encoded.ends, firstRev: batch.firstRev)
        }
        if events != nil {
            let encoded = batch.events(epoch: epoch)
            events!.append(encoded.bytes, ends: encoded.ends, firstRev: batch.firstRev)
        }
        let rev = frames.rev
        // Also those that wait to start count: what is published meanwhile is theirs.
        var areLevel = true
        for subscriber in subscribers {
            subscriber.advance()
            if subscriber.rev != rev { areLevel = false }
        }
        if areLevel { forgetSent() }
    }

    /// Drops what every subscriber has: a room whose subscribers keep up costs no bytes, and copies none.
    private func forgetSent() {
        frames.forgetSent()
        deflated?.forgetSent()
        events?.forgetSent()
    }

    /// Brings a notice to those subscribers that take it at once.
    public func notify(_ notice: FramedNotice) {
        for subscriber in subscribers { subscriber.notify(notice) }
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
