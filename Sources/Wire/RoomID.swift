/// The id of a room: `[A-Za-z0-9][A-Za-z0-9._~-]{0,127}`, or that of a direct room: `@[A-Za-z0-9_-]{22}`.
///
/// All its characters may stand in a path as they are (RFC 3986, section 3.3), so it needs no escaping there.
public struct RoomID: Sendable, Hashable, CustomStringConvertible {
    /// Maximum number of bytes of a room id.
    public static let maximumBytes = 128
    /// Number of characters after the `@` in the id of a direct room: 132 bits of a hash in base64url.
    package static let directCharacters = 22

    /// The id as clients write it.
    public let string: String

    /// Parses a room id.
    ///
    /// - Throws: ``Problem/invalidRoom`` if `string` violates the grammar.
    public init(_ string: some StringProtocol) throws(Problem) {
        let string = String(string)
        guard string.withUTF8Span(Self.isRoomID) else { throw .invalidRoom }
        self.string = string
    }

    /// Creates a room id from a string that was validated when it was stored.
    package init(trusted string: String) {
        self.string = string
    }

    /// The id as clients write it.
    public var description: String { string }

    /// True for the id of a direct room, which only `PUT /v1/direct/{user}` creates.
    public var isDirect: Bool { string.utf8.first == UInt8(ascii: "@") }

    private static func isRoomID(_ bytes: Span<UInt8>) -> Bool {
        guard !bytes.isEmpty, bytes.count <= maximumBytes else { return false }
        guard bytes[0] != UInt8(ascii: "@") else { return isDirectID(bytes) }
        guard isAlphanumeric(bytes[0]) else { return false }
        for index in bytes.indices where !isAllowed(bytes[index]) { return false }
        return true
    }

    private static func isDirectID(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count == 1 + directCharacters else { return false }
        for index in 1..<bytes.count {
            let byte = bytes[index]
            guard isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") else { return false }
        }
        return true
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// Returns true for a character that room ids may contain after the first one.
    package static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "-"): true
        default: isAlphanumeric(byte)
        }
    }
}
