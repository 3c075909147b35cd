/// Base64 with padding (RFC 4648 §4), as far as the opening handshake needs it.
///
/// It avoids an import of Foundation for a single key of 16 bytes.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for position in 0..<4 {
                // One byte becomes two characters, two bytes three, three bytes four.
                text.append(position <= group.count ? alphabet[bits >> (18 - 6 * position) & 63] : padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the number of bytes that `text` encodes, or nil if it is not Base64. The unused bits before the padding
    /// are ignored (RFC 4648 §3.5).
    static func decodedCount(_ text: String) -> Int? {
        let characters = Array(text.utf8)
        guard characters.count % 4 == 0 else { return nil }
        let paddingCount = characters.suffix(2).reversed().prefix { $0 == padding }.count
        guard characters.dropLast(paddingCount).allSatisfy(alphabet.contains) else { return nil }
        return characters.count / 4 * 3 - paddingCount
    }
}
