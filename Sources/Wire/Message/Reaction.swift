/// The reactions to a message that have the same key.
public struct Reaction: Sendable, Equatable {
    /// An emoji or any word, 1 to ``Limits/reactionKeyBytes`` bytes of UTF-8.
    public var key: String
    /// Number of users who reacted with the key.
    public var count: Int
    /// The first ``Limits/reactionUsers`` of these users.
    public var users: [UserID]

    /// Creates a reaction of `count` users, the first of whom are `users`.
    public init(key: String, count: Int, users: [UserID]) {
        self.key = key
        self.count = count
        self.users = users
    }

    /// Returns true if all fields are equal. The keys are compared by code point.
    public static func == (a: Reaction, b: Reaction) -> Bool {
        a.key.hasSameBytes(as: b.key) && a.count == b.count && a.users == b.users
    }

    /// Appends the reaction as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"key":"#)
        out.append(quoted: key)
        out.append(literal: #","count":"#)
        out.append(decimal: Int64(count))
        out.append(memberName: "users")
        out.append(array: users) { $1.append(quoted: $0.string) }
        out.append(UInt8(ascii: "}"))
    }
}
