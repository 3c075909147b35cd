/// The id of a user: 1 to 128 bytes of printable UTF-8 without spaces, and not `.` or `..`.
///
/// Ids are equal if their bytes are. `String` would also treat `é` and `e` with a combining accent as equal, but the
/// database and the issuer of tokens do not.
public struct UserID: Sendable, Hashable, CustomStringConvertible {
    /// Maximum number of bytes of a user id.
    public static let maximumBytes = 128

    /// The sender that the messages of an erased user have. No user has this name; ``init(_:)`` refuses it.
    public static let deleted = UserID(trusted: "~deleted")

    /// The id as clients write it.
    public let string: String

    /// Parses a user id.
    ///
    /// - Throws: ``Problem/invalidUser`` if `string` is empty, too long, has a non-printable character, is `.` or
    ///   `..`, or is that of ``deleted``.
    public init(_ string: some StringProtocol) throws(Problem) {
        let string = String(string)
        let count = string.utf8.count
        guard count > 0, count <= Self.maximumBytes, !string.isDotSegment,
            string.withUTF8Span(Self.isVisibleASCII) || string.unicodeScalars.allSatisfy(Self.isPrintable)
        else { throw .invalidUser }
        self.string = string
        if self == .deleted { throw .invalidUser }
    }

    /// Creates a user id from a string that was validated when it was stored.
    package init(trusted string: String) {
        self.string = string
    }

    /// The id as clients write it.
    public var description: String { string }

    /// Returns true if both have the same bytes.
    public static func == (a: UserID, b: UserID) -> Bool {
        a.string.hasSameBytes(as: b.string)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        // The pointer is used only inside the closure, while the span's owner is borrowed.
        string.withUTF8Span { $0.withUnsafeBytes { hasher.combine(bytes: $0) } }
        hasher.combine(0xFF as UInt8)
    }

    /// Returns true if all characters are visible ASCII, as in most ids.
    private static func isVisibleASCII(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices where bytes[index] <= 0x20 || bytes[index] >= 0x7F { return false }
        return true
    }

    /// Returns true if a character is visible, or joins visible characters.
    static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value > 0x20 && scalar.value < 0x7F }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .format, .surrogate, .unassigned, .spaceSeparator, .lineSeparator, .paragraphSeparator:
            // Joiners are format characters that many names and emoji need.
            return scalar.value == 0x200C || scalar.value == 0x200D
        default:
            return !properties.isWhitespace
        }
    }
}
