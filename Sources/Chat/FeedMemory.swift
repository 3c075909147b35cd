/// The bytes of messages that the feeds of one loop keep for subscribers that are behind.
///
/// Confined to its loop.
public final class FeedMemory {
    /// Maximum number of bytes that all feeds of the loop keep, apart from the messages that they are bringing to their
    /// subscribers at the moment.
    public let limit: Int
    /// The bytes kept now.
    public internal(set) var used = 0

    /// A bound of `limit` bytes.
    public init(limit: Int = .max) {
        self.limit = limit
    }
}
