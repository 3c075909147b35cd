/// The state that the feeds of one loop share. Confined to the loop.
public final class FeedContext {
    /// The log's epoch, for the ids of events.
    public let epoch: String
    /// Maximum number of bytes that all feeds keep for subscribers that are behind. Messages that a feed is sending at
    /// the moment do not count.
    public let memoryLimit: Int
    /// Number of bytes kept for subscribers that are behind.
    public internal(set) var keptBytes = 0
    /// Number of bytes written by ``outlets``. The owner counts them and resets it.
    public var pushedBytes = 0
    /// Maximum number of bytes that one feed keeps in one format; see ``ByteLog``.
    let feedLimit: Int
    let deflater = PushDeflater()
    /// The loop's sockets; `nil` if all bytes must go through the carriers.
    let outlets: (any Outlets)?
    /// The time until which the node knows enough to send messages.
    private let term: AccessTerm
    private let ends: AccessEnds
    /// Number of announcements of ``ends`` that the loop has handled.
    private var handledEnds = 0
    /// The feeds that have messages to send once ``knowsAccess`` is true again.
    private var waiting: [Feed] = []

    /// True if all subscribers that lost their access are known, and have ended on this loop. Otherwise feeds send nothing.
    // The term is read first: who extends it has announced before what it has learned.
    var knowsAccess: Bool { term.isValid && ends.announced == handledEnds }

    /// Records that the loop has ended or held the subscriptions of one announcement of ``AccessEnds``.
    public func handledEnd() {
        handledEnds += 1
    }

    /// True if feeds wait until ``knowsAccess`` is true again. Then call ``takeWaiting()``.
    public var hasWaiting: Bool { !waiting.isEmpty }

    /// Takes out the feeds that wait. Call ``Feed/resume()`` for each.
    public func takeWaiting() -> [Feed] {
        for feed in waiting { feed.isWaiting = false }
        return exchange(&waiting, with: [])
    }

    /// Returns true if a feed may send messages now. If not, the feed waits.
    func admits(_ feed: Feed) -> Bool {
        if knowsAccess { return true }
        if !feed.isWaiting {
            feed.isWaiting = true
            waiting.append(feed)
        }
        return false
    }

    /// Creates a context for the feeds of a loop.
    public init(
        epoch: String, outlets: (any Outlets)? = nil, feedLimit: Int = ByteLog.defaultLimit, memoryLimit: Int = .max,
        term: AccessTerm = .unlimited, ends: AccessEnds = AccessEnds()
    ) {
        self.term = term
        self.ends = ends
        self.epoch = epoch
        self.outlets = outlets
        self.feedLimit = feedLimit
        self.memoryLimit = memoryLimit
    }
}

/// The sockets of a loop. A feed writes to them without accessing the carriers of its subscriptions.
public protocol Outlets: AnyObject {
    /// Writes frames to a socket if its client takes bytes now. Bytes that do not fit at once are kept and sent later.
    /// No subscription ends during the call.
    ///
    /// - Parameter outlet: the number from ``SubscriptionCarrier/outlet``.
    /// - Returns: true if the bytes were written or kept. If false, nothing was written; use the carrier.
    func push(_ frames: Span<UInt8>, to outlet: UInt64) -> Bool
}
