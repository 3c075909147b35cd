/// The name of a user: 1 to 128 bytes of printable UTF-8 without spaces.
///
/// Two ids are the same user when they are the same bytes. `String` alone would call `é` and `e` with a combining
/// accent equal, where the database and the issuer of tokens do not.
public struct UserID: Sendable, Hashable, CustomStringConvertible {
    /// The most bytes that a user id has.
    public static let maximumBytes = 128

    /// The id as clients write it.
    public let string: String

    /// Reads a user id.
    ///
    /// - Throws: ``Problem/invalidUser`` if `string` is empty, too long, or has a character that prints nothing.
    public init(_ string: some StringProtocol) throws(Problem) {
        let string = String(string)
        let count = string.utf8.count
        guard count > 0, count <= Self.maximumBytes,
            Self.isVisibleASCII(string.utf8Span.span) || string.unicodeScalars.allSatisfy(Self.isPrintable)
        else { throw .invalidUser }
        self.string = string
    }

    /// A user id that was checked when it was stored.
    package init(trusted string: String) {
        self.string = string
    }

    /// The id as clients write it.
    public var description: String { string }

    /// Whether both are the same bytes.
    public static func == (a: UserID, b: UserID) -> Bool {
        a.string.hasSameBytes(as: b.string)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        // The pointer is used only inside the closure, while the span's owner is borrowed.
        string.utf8Span.span.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(0xFF as UInt8)
    }

    /// Whether all characters are ASCII and can be seen, as those of most names.
    private static func isVisibleASCII(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices where bytes[index] <= 0x20 || bytes[index] >= 0x7F { return false }
        return true
    }

    /// Whether a character can be seen, or joins characters that can.
    static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value > 0x20 && scalar.value < 0x7F }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .format, .surrogate, .unassigned, .spaceSeparator, .lineSeparator, .paragraphSeparator:
            // Joiners are format characters without which many names and emoji cannot be written.
            return scalar.value == 0x200C || scalar.value == 0x200D
        default:
            return !properties.isWhitespace
        }
    }
}
