public import Wire

/// A room's latest messages on one loop, and the subscribers that read them there.
///
/// Confined to its loop. Messages come in once a commit, encoded; each subscriber is a cursor into the bytes.
public final class Feed {
    /// The room.
    public let room: RoomID
    /// The subscribers, in no order.
    public private(set) var subscribers: [Subscription] = []
    /// How many are about to subscribe, and wait for the log to tell where the room is.
    public var reservations = 0
    /// The messages as WebSocket frames.
    private var frames: ByteLog
    /// The messages as Server-Sent Events, once somebody wants them so.
    private var events: ByteLog?
    private let epoch: String
    private let limit: Int

    /// A feed without messages and subscribers.
    ///
    /// - Parameters:
    ///   - epoch: the log's epoch, which events' ids carry.
    ///   - limit: how many bytes of messages it keeps, for each format.
    public init(room: RoomID, epoch: String, limit: Int = ByteLog.defaultLimit) {
        self.room = room
        self.epoch = epoch
        self.limit = limit
        frames = ByteLog(limit: limit)
    }

    /// Whether nobody needs the feed.
    public var isIdle: Bool { subscribers.isEmpty && reservations == 0 }

    /// Takes over what a commit has changed, and brings every subscriber up to it that can take it now.
    public func publish(_ batch: FramedBatch) {
        frames.append(batch.frames, ends: batch.ends, firstRev: batch.firstRev)
        if events != nil {
            let encoded = batch.events(epoch: epoch)
            events!.append(encoded.bytes, ends: encoded.ends, firstRev: batch.firstRev)
        }
        for subscriber in subscribers { subscriber.advance() }
    }

    /// What a subscriber at `rev` gets next.
    func next(after rev: Int64, format: PushFormat, limit: Int) -> ByteLog.Reading {
        switch format {
        case .webSocket: frames.next(after: rev, limit: limit)
        case .serverSentEvents: events!.next(after: rev, limit: limit)
        }
    }

    /// Hands over the bytes that a reading's range is of.
    func send(_ range: Range<Int>, format: PushFormat, to carrier: any SubscriptionCarrier) {
        // A reference of our own: whatever sending brings about, these bytes stay.
        let bytes = format == .webSocket ? frames.bytes : events!.bytes
        carrier.send(bytes.span.extracting(range))
    }

    func add(_ subscription: Subscription) {
        if subscription.format == .serverSentEvents, events == nil {
            // What was published since the reservation is in the log; the events must know that they lack it.
            events = ByteLog(limit: limit, rev: frames.rev)
        }
        subscription.index = subscribers.count
        subscribers.append(subscription)
    }

    /// Takes a subscriber out, in constant time: the last one takes its place.
    func remove(_ subscription: Subscription) {
        guard let index = subscription.index else { return }
        subscription.index = nil
        let last = subscribers.removeLast()
        if last !== subscription {
            subscribers[index] = last
            last.index = index
        }
    }
}
