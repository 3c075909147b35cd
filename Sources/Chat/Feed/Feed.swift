public import Wire

/// A room's latest messages on one loop, and the subscribers there. Confined to its loop.
///
/// The messages of a commit arrive encoded. Each subscriber is a ``Cursor`` into the bytes. The feed keeps the bytes,
/// up to a limit, as long as some subscriber lacks them.
///
/// Writing to all subscribers of a large room takes long, and the loop would serve nobody else meanwhile. Subscribers
/// are therefore visited some at a time, see ``FeedRounds``. Messages committed meanwhile are written together with
/// those that a subscriber still lacks.
public final class Feed {
    /// Number of subscribers to visit before the loop does other work.
    public static let visits = 64
    /// Maximum number of waiting notices; further ones are dropped.
    public static let waitingNotices = 16

    /// The room.
    public let room: RoomID
    /// The state that the loop's feeds share.
    public let context: FeedContext
    /// The subscribers' cursors, oldest first, including those of subscriptions that have not started. Removing one
    /// moves the last to its index.
    var cursors: [Cursor] = []
    var messages: FeedMessages
    /// Number of bytes kept for subscribers that are behind; part of ``FeedContext/keptBytes``.
    private var keptBytes = 0
    let visits: Int
    /// The order of visits.
    var rounds = FeedRounds()
    /// A subscriber that was visited since the latest messages arrived and still lacks some; `nil` if there is none.
    var laggard: Subscription?
    /// True while the feed waits for ``FeedContext/knowsAccess``.
    public internal(set) var isWaiting = false
    /// Notices that wait until all messages are sent, each with the index of the next subscriber to visit.
    var notices: [(notice: EncodedNotice, next: Int)] = []

    /// Creates a feed without messages and subscribers.
    ///
    /// - Parameter visits: number of subscribers to visit at a time.
    public init(room: RoomID, in context: FeedContext, visits: Int = Feed.visits) {
        self.room = room
        self.context = context
        self.visits = visits
        messages = FeedMessages(context)
    }

    deinit {
        context.keptBytes -= keptBytes
    }

    /// True if the feed has no subscribers.
    public var isIdle: Bool { cursors.isEmpty }
    /// Number of subscribers, including subscriptions that have not started.
    public var count: Int { cursors.count }
    /// The subscribers in the order of their cursors.
    public var subscribers: [Subscription] { cursors.map(\.subscription) }

    /// Adds the messages of a commit, and starts to send them.
    ///
    /// - Returns: true if every subscriber has been visited; otherwise call ``advance()`` to continue.
    @discardableResult
    public func publish(_ batch: EncodedBatch) -> Bool {
        // A subscriber that keeps up must not lose messages that are dropped to make room for these.
        if !rounds.areOver, !messages.hasRoom(for: batch) { finishRounds() }
        messages.append(batch)
        laggard = nil
        return rounds.publish() && advance()
    }

    /// Visits the subscribers again, after the feed had to wait for ``FeedContext/knowsAccess``.
    ///
    /// - Returns: true if every subscriber has been visited; otherwise call ``advance()`` to continue.
    @discardableResult
    public func resume() -> Bool {
        rounds.publish() && advance()
    }

    /// Sends a notice to the subscribers that have every message and whose clients take it at once.
    ///
    /// - Returns: true if every subscriber has been visited; otherwise call ``advance()`` to continue.
    @discardableResult
    public func notify(_ notice: EncodedNotice) -> Bool {
        guard notices.count < Self.waitingNotices else { return false }
        notices.append((notice, 0))
        guard rounds.areOver, notices.count == 1 else { return false }
        return advance()
    }

    /// Visits the next subscribers, with messages or, if none are left to send, with a notice.
    ///
    /// - Returns: true if nothing is left to do.
    @discardableResult
    public func advance() -> Bool {
        if rounds.areOver { advanceNotice() } else { advanceRounds() }
        return rounds.areOver && notices.isEmpty
    }

    // MARK: Keeping messages

    /// Drops messages that every subscriber has. A room whose subscribers keep up holds no bytes, and copies none.
    ///
    /// The feed remembers one laggard. When it has caught up or left, the feed searches for another. That is usually a
    /// neighbor, so the search does not visit all cursors for each subscriber that catches up.
    ///
    /// - Parameter index: the index at which the search starts.
    func forgetSent(from index: Int) {
        guard rounds.areOver, let rev = messages.rev else { return }
        if let known = laggard {
            if known.isActive, known.rev < rev { return countKept() }
            // Compares cursors, because the subscriptions are elsewhere in memory.
            let other =
                (index..<cursors.count).first { cursors[$0].rev < rev } ?? (0..<index).first { cursors[$0].rev < rev }
            laggard = other.map { cursors[$0].subscription }
            if laggard != nil { return countKept() }
        }
        forgetMessages()
    }

    private func forgetMessages() {
        messages.forgetSent()
        laggard = nil
        context.keptBytes -= keptBytes
        keptBytes = 0
    }

    /// Counts the kept bytes. If all feeds together keep too many, this feed drops its messages, and its subscribers
    /// read the log.
    private func countKept() {
        let bytes = messages.count
        context.keptBytes += bytes - keptBytes
        keptBytes = bytes
        if context.keptBytes > context.memoryLimit { forgetMessages() }
    }

    // MARK: Adding and removing subscribers

    /// Adds a cursor for a subscription whose client has every change up to `rev`.
    func add(_ subscription: Subscription, at rev: Int64) {
        messages.add(subscription.format)
        subscription.index = cursors.count
        cursors.append(Cursor(subscription: subscription, rev: rev, format: subscription.format))
    }

    /// Removes the cursor of a subscription in constant time: the last one moves to its index.
    func remove(_ subscription: Subscription) {
        guard let index = subscription.index else { return }
        subscription.index = nil
        messages.remove(subscription.format)
        let hole = rounds.vacate(index)
        fill(index, from: hole)
        fill(hole, from: cursors.count - 1)
        cursors.removeLast()
        if subscription === laggard { forgetSent(from: index) }
    }

    private func fill(_ index: Int, from other: Int) {
        guard index != other else { return }
        cursors[index] = cursors[other]
        cursors[index].subscription.index = index
    }
}
