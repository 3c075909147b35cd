/// Base64 with padding (RFC 4648, section 4), as Standard Webhooks uses it.
package enum Base64 {
    /// Decodes `text`.
    ///
    /// - Returns: `nil` if `text` has a wrong padding or another invalid character, or if unused bits are not 0.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard text.utf8.count.isMultiple(of: 4), padding <= 2 else { return nil }
        var characters = Array(text.utf8.dropLast(padding))
        for index in characters.indices {
            switch characters[index] {
            case UInt8(ascii: "+"): characters[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): characters[index] = UInt8(ascii: "_")
            case UInt8(ascii: "-"), UInt8(ascii: "_"): return nil
            default: break
            }
        }
        return Base64URL.decode(characters[...])
    }

    /// Encodes `bytes`.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text = Base64URL.encode(bytes).utf8.map { character in
            switch character {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: character
            }
        }
        while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }
}
