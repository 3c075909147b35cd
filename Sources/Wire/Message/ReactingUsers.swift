/// A part of the users who reacted to a message with a key, the answer to `GET …/reactions/{key}`. A snapshot lists only the
/// first ``Limits/reactionUsers``.
public struct ReactingUsers: Sendable, Hashable {
    /// The users, in the byte order of their ids.
    public var users: [UserID]
    /// True if there are more users after these.
    public var hasMore: Bool

    /// Creates a part of the list, read in one snapshot.
    public init(users: [UserID], hasMore: Bool) {
        self.users = users
        self.hasMore = hasMore
    }

    /// Appends the list as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"users":"#)
        out.append(array: users) { $1.append(quoted: $0.string) }
        out.append(member: "has_more", hasMore)
        out.append(UInt8(ascii: "}"))
    }
}
