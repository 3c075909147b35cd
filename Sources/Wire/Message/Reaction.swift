/// One key with which users have reacted to a message.
public struct Reaction: Sendable, Equatable {
    /// An emoji or any word, 1 to ``Limits/reactionKeyBytes`` bytes of UTF-8.
    public var key: String
    /// The number of users that have reacted with it.
    public var count: Int
    /// The first ``Limits/reactionUsers`` of them.
    public var users: [UserID]

    /// A reaction of `count` users, of whom `users` are the first.
    public init(key: String, count: Int, users: [UserID]) {
        self.key = key
        self.count = count
        self.users = users
    }

    /// Returns whether all is the same, the key by its code points.
    public static func == (a: Reaction, b: Reaction) -> Bool {
        a.key.hasSameBytes(as: b.key) && a.count == b.count && a.users == b.users
    }

    /// Appends the reaction as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"key":"#)
        out.append(quoted: key)
        out.append(literal: #","count":"#)
        out.append(decimal: Int64(count))
        out.append(literal: #","users":["#)
        for (index, user) in users.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            out.append(quoted: user.string)
        }
        out.append(literal: "]}")
    }
}
