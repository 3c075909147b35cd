public import Wire

/// A room's latest messages on one loop, and the subscribers that read them there.
///
/// Confined to its loop. Messages come in once a commit, encoded; each subscriber is a cursor into the bytes. They are
/// kept for as long as a subscriber is without them, within a limit.
///
/// Ten thousand writes take a tenth of a second, in which nobody else on the loop would be served. So subscribers are
/// visited some at a time, in ``FeedRounds``, and what is committed meanwhile is written together with what they have not
/// had yet. Who was there first is visited first: a storm of new ones does not hold up the others.
public final class Feed {
    /// The number of subscribers that are visited in one go: some 400 µs.
    public static let visits = 64
    /// The number of seats that are in front, see ``FeedRounds``.
    public static let frontSeats = 1024
    /// The number of notices that wait for their turn at most; those that come then are dropped.
    public static let waitingNotices = 16

    /// The room.
    public let room: RoomID
    /// Where its subscribers sit, those who came first in front, but that the last one takes the seat of one who leaves; also
    /// those that have not started yet. What is in a seat its subscription changes, too.
    var seats: [Seat] = []
    /// The messages as WebSocket frames.
    private var frames: ByteLog
    /// The messages as compressed WebSocket frames, while somebody wants them so.
    private var deflated: ByteLog?
    private var deflatedSubscribers = 0
    /// The messages as Server-Sent Events, while somebody wants them so.
    private var events: ByteLog?
    private var eventSubscribers = 0
    let deflater: PushDeflater
    /// The sockets of those that need not be asked; `nil` when all must.
    private let directPushes: (any DirectPushes)?
    /// The log's epoch.
    public let epoch: String
    private let limit: Int
    private let memory: FeedMemory
    /// The bytes that are kept for subscribers that are behind, as ``memory`` counts them.
    private var keptBytes = 0
    private let visits: Int
    /// Whose turn it is.
    private var rounds: FeedRounds
    /// One of those who have been visited since the latest messages came and still lacked some of them; `nil` when nobody did.
    private var laggard: Subscription?
    /// Notices that wait until there are no messages to bring, each with the place of the next who is to hear of it.
    private var notices: [(notice: EncodedNotice, next: Int)] = []

    /// A feed without messages and subscribers.
    ///
    /// - Parameters:
    ///   - epoch: the log's epoch, which events' ids carry.
    ///   - deflater: the loop's.
    ///   - directPushes: the loop's, which knows the outlets of the subscriptions' carriers.
    ///   - limit: how many bytes of messages it keeps, for each format.
    ///   - memory: the bound that the loop's feeds share.
    ///   - visits: how many subscribers are visited in one go.
    ///   - frontSeats: how many of them have rounds of their own, which go first.
    public init(
        room: RoomID, epoch: String, deflater: PushDeflater, directPushes: (any DirectPushes)? = nil,
        limit: Int = ByteLog.defaultLimit, memory: FeedMemory = FeedMemory(), visits: Int = Feed.visits,
        frontSeats: Int = Feed.frontSeats
    ) {
        self.room = room
        self.epoch = epoch
        self.deflater = deflater
        self.directPushes = directPushes
        self.limit = limit
        self.memory = memory
        self.visits = visits
        rounds = FeedRounds(frontSeats: frontSeats)
        frames = ByteLog(limit: limit)
    }

    deinit {
        memory.used -= keptBytes
    }

    /// True if nobody needs the feed.
    public var isIdle: Bool { seats.isEmpty }
    /// The number of subscribers, also those that have not started yet.
    public var count: Int { seats.count }
    /// The subscribers, in the order of their seats.
    public var subscribers: [Subscription] { seats.map(\.subscription) }

    /// Takes over what a commit has changed, and begins to bring it to those subscribers that can take it.
    ///
    /// - Returns: whether that is done; if not, ``advance()`` goes on.
    @discardableResult
    public func publish(_ batch: EncodedBatch) -> Bool {
        // Nobody who keeps up is to be without bytes that make room for these.
        if !rounds.areOver, !frames.hasRoom(for: batch.frames.count) { finishRounds() }
        frames.append(batch.frames, ends: batch.ends, firstRev: batch.firstRev)
        if deflated != nil {
            let encoded = batch.deflated(by: deflater)
            deflated!.append(encoded.bytes, ends: encoded.ends, firstRev: batch.firstRev)
        }
        if events != nil {
            let encoded = batch.events(epoch: epoch)
            events!.append(encoded.bytes, ends: encoded.ends, firstRev: batch.firstRev)
        }
        laggard = nil
        return rounds.publish(seats: seats.count) && advance()
    }

    /// Brings a notice to those subscribers that have everything and take it at once.
    ///
    /// - Returns: whether that is done; if not, ``advance()`` goes on.
    @discardableResult
    public func notify(_ notice: EncodedNotice) -> Bool {
        guard notices.count < Self.waitingNotices else { return false }
        notices.append((notice, 0))
        guard rounds.areOver, notices.count == 1 else { return false }
        return advance()
    }

    /// Visits the next subscribers: with messages, or if there are none to bring, with a notice.
    ///
    /// - Returns: whether there is nothing more to do.
    @discardableResult
    public func advance() -> Bool {
        if rounds.areOver { advanceNotice() } else { advanceRounds() }
        return rounds.areOver && notices.isEmpty
    }

    /// Visits all who are still to be visited.
    func finishRounds() {
        while !rounds.areOver { advanceRounds() }
    }

    private func advanceRounds() {
        let rev = frames.rev
        var piece: Piece?
        var left = visits
        while left > 0, let place = rounds.next(seats: seats.count) {
            left -= 1
            if push(to: place, &piece) { continue }
            let subscriber = seats[place].subscription
            subscriber.advance()
            // Also those that wait to start count: what is published meanwhile is theirs.
            if let rev, subscriber.rev < rev { laggard = subscriber }
        }
        rounds.beginDueRounds(seats: seats.count)
        forgetSent(from: 0)
    }

    /// What those get who are level: the same bytes, whoever they are.
    private struct Piece {
        let format: PushFormat
        /// Where they are.
        let rev: Int64
        let bytes: [UInt8]
        let range: Range<Int>
    }

    /// Writes what comes next to the socket of a subscriber that has been pushed all before, as nearly all have.
    ///
    /// - Parameter piece: what the one before has got.
    /// - Returns: whether it has everything now. If not, the subscription itself goes on.
    private func push(to place: Int, _ piece: inout Piece?) -> Bool {
        guard seats[place].isFed else { return false }
        let rev = seats[place].rev
        if rev == frames.rev { return true }
        guard let directPushes, let outlet = seats[place].outlet else { return false }
        let format = seats[place].format
        if piece?.rev != rev || piece?.format != format {
            // One that must be sent less than all is left to its subscription.
            guard case .frames(let range, frames.rev) = next(after: rev, format: format, limit: Subscription.writeLimit)
            else {
                return false
            }
            piece = Piece(format: format, rev: rev, bytes: bytes(format), range: range)
        }
        guard let piece, directPushes.push(piece.bytes.span.extracting(piece.range), to: outlet) else { return false }
        // Nothing has happened meanwhile that could empty the seat.
        seats[place].rev = frames.rev!
        return true
    }

    private func advanceNotice() {
        guard let (notice, first) = notices.first else { return }
        let end = min(first + visits, seats.count)
        // Somebody who takes the seat of one that has left meanwhile may go without.
        for place in first..<max(first, end) where place < seats.count { seats[place].subscription.notify(notice) }
        if end >= seats.count { notices.removeFirst() } else { notices[0].next = end }
    }

    /// A subscriber has everything, perhaps as the last one.
    func noteCaughtUp(_ subscription: Subscription) {
        if subscription === laggard { forgetSent(from: subscription.index ?? 0) }
    }

    /// Drops what every subscriber has: a room whose subscribers keep up costs no bytes, and copies none.
    ///
    /// One laggard stands for all. When it lacks nothing any more, or has left, another one is looked for: mostly its
    /// neighbour, so that not all seats are looked at for each who catches up.
    ///
    /// - Parameter place: from where on to look.
    private func forgetSent(from place: Int) {
        guard rounds.areOver, let rev = frames.rev else { return }
        if let known = laggard {
            if known.isActive, known.rev < rev { return countKept() }
            // By their places: a seat that is handed over is its subscription, too, which lies elsewhere in memory.
            let other = (place..<seats.count).first { seats[$0].rev < rev } ?? (0..<place).first { seats[$0].rev < rev }
            laggard = other.map { seats[$0].subscription }
            if laggard != nil { return countKept() }
        }
        forgetMessages()
    }

    private func forgetMessages() {
        frames.forgetSent()
        deflated?.forgetSent()
        events?.forgetSent()
        laggard = nil
        memory.used -= keptBytes
        keptBytes = 0
    }

    /// Counts what is kept for those that are behind. If all feeds together keep too much, this one keeps nothing: its
    /// subscribers read the store then.
    private func countKept() {
        let bytes = frames.bytes.count + (deflated?.bytes.count ?? 0) + (events?.bytes.count ?? 0)
        memory.used += bytes - keptBytes
        keptBytes = bytes
        if memory.used > memory.limit { forgetMessages() }
    }

    /// What the subscriber at a place gets next; `behind` when it has not caught up with the feed yet.
    func reading(at place: Int) -> ByteLog.Reading {
        let seat = seats[place]
        return seat.isLive ? next(after: seat.rev, format: seat.format, limit: Subscription.writeLimit) : .behind
    }

    private func next(after rev: Int64, format: PushFormat, limit: Int) -> ByteLog.Reading {
        switch format {
        case .webSocket: frames.next(after: rev, limit: limit)
        case .deflatedWebSocket: deflated!.next(after: rev, limit: limit)
        case .serverSentEvents: events!.next(after: rev, limit: limit)
        }
    }

    /// The bytes that a reading's range is of.
    private func bytes(_ format: PushFormat) -> [UInt8] {
        switch format {
        case .webSocket: frames.bytes
        case .deflatedWebSocket: deflated!.bytes
        case .serverSentEvents: events!.bytes
        }
    }

    /// Hands over the bytes that a reading's range is of.
    func send(_ range: Range<Int>, format: PushFormat, to carrier: any SubscriptionCarrier) {
        // A reference of our own: whatever sending brings about, these bytes stay.
        let bytes = bytes(format)
        carrier.send(bytes.span.extracting(range))
    }

    /// Gives a subscription whose client is at `rev` a seat.
    func add(_ subscription: Subscription, at rev: Int64) {
        // A format that begins now must know that it lacks what has been published before.
        switch subscription.format {
        case .webSocket:
            break
        case .deflatedWebSocket:
            if deflated == nil { deflated = ByteLog(limit: limit, rev: frames.rev) }
            deflatedSubscribers += 1
        case .serverSentEvents:
            if events == nil { events = ByteLog(limit: limit, rev: frames.rev) }
            eventSubscribers += 1
        }
        subscription.index = seats.count
        seats.append(Seat(subscription: subscription, rev: rev, format: subscription.format))
    }

    /// Takes a subscriber out, in constant time: the last one takes its place.
    func remove(_ subscription: Subscription) {
        guard let index = subscription.index else { return }
        subscription.index = nil
        switch subscription.format {
        case .webSocket:
            break
        case .deflatedWebSocket:
            deflatedSubscribers -= 1
            if deflatedSubscribers == 0 { deflated = nil }
        case .serverSentEvents:
            eventSubscribers -= 1
            if eventSubscribers == 0 { events = nil }
        }
        let hole = rounds.vacate(index, seats: seats.count)
        fill(index, from: hole)
        fill(hole, from: seats.count - 1)
        seats.removeLast()
        if subscription === laggard { forgetSent(from: index) }
    }

    private func fill(_ place: Int, from other: Int) {
        guard place != other else { return }
        seats[place] = seats[other]
        seats[place].subscription.index = place
    }
}
