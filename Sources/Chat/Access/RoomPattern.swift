public import Wire

/// A room id, or a pattern in which `*` stands for any run of characters, including none.
///
/// `*` matches every character of room ids; they contain no separators.
public struct RoomPattern: Sendable, Hashable, CustomStringConvertible {
    /// The pattern's text.
    public let string: String
    private let hasWildcard: Bool

    /// Parses a pattern.
    ///
    /// - Returns: `nil` if `string` is empty, too long, or contains a character other than `*` that room ids do not
    ///   allow.
    public init?(_ string: String) {
        guard !string.isEmpty, string.utf8.count <= RoomID.maximumBytes,
            string.utf8.allSatisfy({ $0 == Self.wildcard || $0 == Self.direct || RoomID.isAllowed($0) })
        else { return nil }
        self.string = string
        hasWildcard = string.utf8.contains(Self.wildcard)
    }

    /// The pattern's text.
    public var description: String { string }

    private static let wildcard = UInt8(ascii: "*")
    // The first character of direct rooms, so that `@*` matches all of them.
    private static let direct = UInt8(ascii: "@")

    /// Returns true if the pattern matches the room.
    public func matches(_ room: RoomID) -> Bool {
        guard hasWildcard else { return string == room.string }
        return string.withUTF8Span { pattern in room.string.withUTF8Span { Self.matches(pattern, $0) } }
    }

    /// Returns true if one of the patterns matches the room, or if `patterns` is `nil`, which allows all rooms.
    public static func allow(_ room: RoomID, _ patterns: [RoomPattern]?) -> Bool {
        guard let patterns else { return true }
        for pattern in patterns where pattern.matches(room) { return true }
        return false
    }

    /// Backtracks to the last `*` only: whatever an earlier `*` could match in addition, the last one can match as
    /// well. So the time is bounded by the product of the lengths.
    private static func matches(_ pattern: Span<UInt8>, _ text: Span<UInt8>) -> Bool {
        var (at, position) = (0, 0)
        var star: (next: Int, taken: Int)?
        while position < text.count {
            if at < pattern.count, pattern[at] == wildcard {
                at += 1
                star = (at, position)
            } else if at < pattern.count, pattern[at] == text[position] {
                at += 1
                position += 1
            } else if let last = star {
                star = (last.next, last.taken + 1)
                (at, position) = (last.next, last.taken + 1)
            } else {
                return false
            }
        }
        while at < pattern.count, pattern[at] == wildcard { at += 1 }
        return at == pattern.count
    }
}
