/// The key of a reaction: an emoji or any word, 1 to 64 bytes of printable UTF-8 without spaces, and not `.` or `..`.
///
/// Keys are equal if their bytes are. `❤` and `❤️`, with its variation selector, are therefore different keys.
public struct ReactionKey: Sendable, Hashable, CustomStringConvertible {
    /// The key as clients write it.
    public let string: String

    /// Parses a key.
    ///
    /// - Throws: 400 `invalid_reaction` if `string` is empty, longer than ``Limits/reactionKeyBytes``, `.` or
    ///   `..`, or has a non-printable character.
    public init(_ string: some StringProtocol) throws(Problem) {
        let string = String(string)
        let count = string.utf8.count
        guard count > 0, count <= Limits.reactionKeyBytes, !string.isDotSegment,
            string.unicodeScalars.allSatisfy(Self.isAllowed)
        else { throw .invalidReaction }
        self.string = string
    }

    /// The key as clients write it.
    public var description: String { string }

    /// Returns true if both have the same bytes.
    public static func == (a: ReactionKey, b: ReactionKey) -> Bool {
        a.string.hasSameBytes(as: b.string)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        // The pointer is used only inside the closure, while the span's owner is borrowed.
        string.withUTF8Span { $0.withUnsafeBytes { hasher.combine(bytes: $0) } }
        hasher.combine(0xFF as UInt8)
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if UserID.isPrintable(scalar) { return true }
        // Tags are format characters. The flags of England, Scotland and Wales are made of them.
        if (0xE0020...0xE007F).contains(scalar.value) { return true }
        // Phones may have newer emoji than the server's Unicode tables.
        return scalar.properties.generalCategory == .unassigned && !scalar.properties.isNoncharacterCodePoint
    }
}
