/// A user's read mark in a room, as others see it.
public struct ReadReceipt: Sendable, Hashable {
    /// The user.
    public var user: UserID
    /// The `seq` up to which the user has read, at least 1.
    public var seq: Int64
    /// The time when the mark moved there; `nil` if a version before receipts has stored it.
    public var at: Timestamp?

    /// Creates the receipt of a user.
    public init(user: UserID, seq: Int64, at: Timestamp?) {
        self.user = user
        self.seq = seq
        self.at = at
    }

    /// Appends the receipt as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"user":"#)
        out.append(quoted: user.string)
        out.append(member: "seq", seq)
        if let at { out.append(member: "at", at.description) }
        out.append(UInt8(ascii: "}"))
    }
}

/// Read marks of a room, as `GET …/reads` returns them.
public struct RoomReads: Sendable, Hashable {
    /// The read marks, sorted by the bytes of their users' ids.
    public var reads: [ReadReceipt]
    /// True if there are more after these.
    public var hasMore: Bool

    /// Creates a list of read marks, all read in one snapshot of the store.
    public init(reads: [ReadReceipt], hasMore: Bool) {
        self.reads = reads
        self.hasMore = hasMore
    }

    /// Appends the list as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"reads":"#)
        out.append(array: reads) { $0.encode(into: &$1) }
        out.append(member: "has_more", hasMore)
        out.append(UInt8(ascii: "}"))
    }
}
