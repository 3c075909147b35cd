/// The memory that the feeds of one loop use to keep messages for slow subscribers.
///
/// Confined to its loop.
public final class FeedMemory {
    /// Maximum number of bytes that all feeds of the loop keep, apart from messages being delivered at the moment.
    public let limit: Int
    /// The number of bytes kept at the moment.
    public internal(set) var used = 0

    /// Creates a bound of `limit` bytes.
    public init(limit: Int = .max) {
        self.limit = limit
    }
}
