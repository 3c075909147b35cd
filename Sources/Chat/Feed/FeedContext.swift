/// The state that the feeds of one loop share. Confined to the loop.
public final class FeedContext {
    /// The log's epoch, which the ids of events carry.
    public let epoch: String
    /// Maximum number of bytes that all feeds keep for subscribers that are behind, apart from the messages that they are
    /// sending at the moment.
    public let memoryLimit: Int
    /// Number of bytes that are kept so.
    public internal(set) var keptBytes = 0
    /// Number of bytes written by ``outlets``; the owner resets it when it has counted them.
    public var pushedBytes = 0
    /// Maximum number of bytes that one feed keeps in one format; see ``ByteLog``.
    let feedLimit: Int
    let deflater = PushDeflater()
    /// The loop's sockets; `nil` if all bytes must go through the carriers.
    let outlets: (any Outlets)?

    /// Creates a context for the feeds of a loop.
    public init(
        epoch: String, outlets: (any Outlets)? = nil, feedLimit: Int = ByteLog.defaultLimit, memoryLimit: Int = .max
    ) {
        self.epoch = epoch
        self.outlets = outlets
        self.feedLimit = feedLimit
        self.memoryLimit = memoryLimit
    }
}

/// The sockets of a loop, to which a feed writes without touching what carries its subscriptions.
public protocol Outlets: AnyObject {
    /// Writes frames to the socket of a number that ``SubscriptionCarrier/outlet`` gave, if the client takes bytes now. What
    /// does not fit at once is kept and follows. No subscription ends during the call.
    ///
    /// - Returns: true if the bytes were written or kept. Otherwise nothing was written, and the carrier decides.
    func push(_ frames: Span<UInt8>, to outlet: UInt64) -> Bool
}
