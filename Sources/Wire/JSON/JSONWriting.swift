/// Writing JSON (RFC 8259) onto the end of a byte array.
///
/// What is written is compact and has no escapes but those that must be: `"`, `\` and the control characters. It is
/// one line, whatever is in the strings, so it can be a line of an event stream.
extension [UInt8] {
    /// A copy of what `span` has.
    init(copying span: Span<UInt8>) {
        self = []
        append(copying: span)
    }

    /// Appends `literal` as it is.
    public mutating func append(literal: StaticString) {
        // The pointer is used only inside the closure, and a literal lives for ever.
        literal.withUTF8Buffer { append(contentsOf: $0) }
    }

    /// Appends `span` as it is.
    public mutating func append(copying span: Span<UInt8>) {
        // The pointer is used only inside the closure, while the span's owner is borrowed.
        span.withUnsafeBufferPointer { append(contentsOf: $0) }
    }

    /// Appends the bytes of `string` as they are.
    public mutating func append(utf8 string: String) {
        append(copying: string.utf8Span.span)
    }

    /// Appends a number in decimal.
    public mutating func append(decimal number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        var rest = number.magnitude
        if rest < 10 {
            append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest))
            return
        }
        var length = 0
        var power: UInt64 = 1
        while length < 19, rest >= power {
            power &*= 10
            length += 1
        }
        append(contentsOf: repeatElement(UInt8(ascii: "0"), count: length))
        var index = count
        while rest > 0 {
            index -= 1
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            self[index] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
            rest = quotient
        }
    }

    /// Appends `true` or `false`.
    public mutating func append(boolean: Bool) {
        if boolean { append(literal: "true") } else { append(literal: "false") }
    }

    /// Appends `string` as a JSON string: in quotes, and escaped where it must be.
    public mutating func append(quoted string: String) {
        append(UInt8(ascii: "\""))
        append(escaped: string.utf8Span.span)
        append(UInt8(ascii: "\""))
    }

    /// Appends `,"name":` and a string, as a further member of an object. The name has nothing to escape.
    public mutating func append(member name: StaticString, _ string: String) {
        append(memberName: name)
        append(quoted: string)
    }

    /// Appends `,"name":` and a number, as a further member of an object. The name has nothing to escape.
    public mutating func append(member name: StaticString, _ number: Int64) {
        append(memberName: name)
        append(decimal: number)
    }

    /// Appends `,"name":` and `true` or `false`, as a further member of an object. The name has nothing to escape.
    public mutating func append(member name: StaticString, _ boolean: Bool) {
        append(memberName: name)
        append(boolean: boolean)
    }

    /// Appends `,"name":`. The name has nothing to escape.
    public mutating func append(memberName name: StaticString) {
        append(literal: ",\"")
        append(literal: name)
        append(literal: "\":")
    }

    /// Appends UTF-8 as the inside of a JSON string: escaped where it must be, without the quotes.
    public mutating func append(escaped text: Span<UInt8>) {
        append(addingCapacity: text.escapedCount) { $0.append(escaped: text) }
    }
}

extension Span<UInt8> {
    /// The offset of the first byte at or after `start` that cannot stand in a JSON string as it is (a quote, a
    /// backslash, a control character), or the count.
    ///
    /// Eight bytes at a time: in a word, `(x - 0x01…) & ~x & 0x80…` marks the bytes that are zero, and the same with
    /// 0x20 those below 0x20. A borrow can mark a byte wrongly only above one marked rightly, so the lowest is right. Without
    /// the `& ~x` bytes from 0x80 on are marked too, which is looked at first: mostly there are none.
    func firstSpecial(from start: Int) -> Int {
        // The pointer is used only inside the closure, while the span's owner is there, and for no byte behind its last.
        withUnsafeBytes { Self.firstSpecial(in: $0, from: start) }
    }

    private static func firstSpecial(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var offset = start
        while offset + 8 <= bytes.count {
            let marks = specials(in: word(of: bytes, at: offset))
            if marks != 0 { return offset + marks.trailingZeroBitCount / 8 }
            offset += 8
        }
        if offset < bytes.count, bytes.count >= 8 {
            // The last eight bytes, without those that have been looked at already: with spaces in their place, at the end.
            let seen = UInt64(8 - (bytes.count - offset)) * 8
            let rest = word(of: bytes, at: bytes.count - 8) >> seen | (ones &* 0x20) << (64 - seen)
            let marks = specials(in: rest)
            // A mark in their place is wrong, and above a right one.
            return marks == 0 ? bytes.count : offset + marks.trailingZeroBitCount / 8
        }
        while offset < bytes.count {
            let byte = bytes[offset]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            offset += 1
        }
        return offset
    }

    private static var ones: UInt64 { 0x0101_0101_0101_0101 }

    private static func word(of bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        // Any eight bytes are a UInt64.
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Marks, each by its highest bit, the bytes of a word that cannot stand in a string as they are; the lowest mark is
    /// right.
    private static func specials(in word: UInt64) -> UInt64 {
        let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let slashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let (a, b, c) = (quotes &- ones, slashes &- ones, word &- ones &* 0x20)
        guard (a | b | c | word) & (ones &* 0x80) != 0 else { return 0 }
        return (a & ~quotes | b & ~slashes | c & ~word) & (ones &* 0x80)
    }
}
