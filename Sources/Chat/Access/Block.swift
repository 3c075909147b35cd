public import Wire

/// A block: a user wants nothing from another user.
public struct Block: Sendable, Hashable {
    /// The blocked user.
    public var user: UserID
    /// The time when the block was set.
    public var createdAt: Timestamp

    /// Creates a block.
    public init(user: UserID, createdAt: Timestamp) {
        self.user = user
        self.createdAt = createdAt
    }

    /// Appends the block as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"user":"#)
        out.append(quoted: user.string)
        out.append(member: "created_at", createdAt.description)
        out.append(UInt8(ascii: "}"))
    }
}

/// A page of a user's own blocks, the answer to `GET /v1/blocks`.
public struct Blocks: Sendable, Hashable {
    /// The blocks, in the byte order of the user ids.
    public var blocks: [Block]
    /// True if there are more blocks after these.
    public var hasMore: Bool

    /// Creates a page, read in one transaction.
    public init(blocks: [Block], hasMore: Bool) {
        self.blocks = blocks
        self.hasMore = hasMore
    }

    /// Appends the page as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"blocks":"#)
        out.append(array: blocks) { $0.encode(into: &$1) }
        out.append(member: "has_more", hasMore)
        out.append(UInt8(ascii: "}"))
    }
}
