import Signatures
public import Wire

extension RoomID {
    /// Returns the id of the direct room of two users: `@`, and the first 22 characters of the base64url (RFC 4648) of
    /// SHA-256 over both ids in byte order, joined by U+0000.
    public static func direct(_ user: UserID, _ other: UserID) -> RoomID {
        let ids = [Array(user.string.utf8), Array(other.string.utf8)].sorted { $0.lexicographicallyPrecedes($1) }
        let text = Base64URL.encode(SHA256.digest(of: ids[0] + [0] + ids[1]))
        return RoomID(trusted: "@" + text.prefix(directCharacters))
    }
}

/// The two members of a direct room. They never change, except that the name of one who was erased becomes
/// ``UserID/deleted``.
///
/// A plain value.
public struct DirectRoom: Sendable, Hashable {
    /// One of the two members.
    public struct Side: Sendable, Hashable {
        /// The user.
        public var user: UserID
        /// True if the room is not in the user's list of rooms until the next message.
        public var isHidden: Bool
        /// True if the user blocks the other one.
        public var isBlocking: Bool

        /// Creates a side.
        public init(_ user: UserID, isHidden: Bool = false, isBlocking: Bool = false) {
            self.user = user
            self.isHidden = isHidden
            self.isBlocking = isBlocking
        }
    }

    /// One member. The order of the two has no meaning.
    public var first: Side
    /// The other one.
    public var second: Side

    /// Creates the room of two members.
    public init(_ first: Side, _ second: Side) {
        self.first = first
        self.second = second
    }

    /// Both sides.
    public var sides: [Side] { [first, second] }

    /// True if one of the two was erased.
    var isOver: Bool { first.user == .deleted || second.user == .deleted }

    /// Returns the other one of the two; `nil` for a user who is neither.
    public static func other(of user: UserID, _ first: UserID, _ second: UserID) -> UserID? {
        user == first ? second : user == second ? first : nil
    }

    /// Returns the other one of the two; `nil` for a user who is neither.
    public func other(of user: UserID) -> UserID? { Self.other(of: user, first.user, second.user) }

    /// Returns true if the other one blocks a user.
    func blocks(_ user: UserID) -> Bool {
        (user == first.user && second.isBlocking) || (user == second.user && first.isBlocking)
    }

    /// Changes the side of a user, if the user is one of the two.
    public mutating func change(_ user: UserID, _ change: (inout Side) -> Void) {
        if first.user == user { change(&first) } else if second.user == user { change(&second) }
    }
}
