/// Appending JSON (RFC 8259) to a byte array.
///
/// The output is compact. It escapes only `"`, `\` and the control characters. It is always one line, so it can be a
/// line of an event stream.
extension [UInt8] {
    /// Creates an array with the bytes of `span`.
    package init(copying span: Span<UInt8>) {
        self = []
        append(copying: span)
    }

    /// Appends `literal` without escaping.
    public mutating func append(literal: StaticString) {
        // The pointer is used only inside the closure, and a literal is never freed.
        literal.withUTF8Buffer { append(contentsOf: $0) }
    }

    /// Appends `span` without escaping.
    public mutating func append(copying span: Span<UInt8>) {
        // The pointer is used only inside the closure, while the span's owner is borrowed.
        span.withUnsafeBufferPointer { append(contentsOf: $0) }
    }

    /// Appends the bytes of `string` without escaping.
    public mutating func append(utf8 string: String) {
        string.withUTF8Span { append(copying: $0) }
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

    /// Appends `string` as a JSON string: quoted, and escaped where necessary.
    public mutating func append(quoted string: String) {
        append(UInt8(ascii: "\""))
        string.withUTF8Span { append(escaped: $0) }
        append(UInt8(ascii: "\""))
    }

    /// Appends `,"name":` and a string, as a further member of an object. The name must not need escaping.
    public mutating func append(member name: StaticString, _ string: String) {
        append(memberName: name)
        append(quoted: string)
    }

    /// Appends `,"name":` and a number, as a further member of an object. The name must not need escaping.
    public mutating func append(member name: StaticString, _ number: Int64) {
        append(memberName: name)
        append(decimal: number)
    }

    /// Appends `,"name":` and a Boolean, as a further member of an object. The name must not need escaping.
    public mutating func append(member name: StaticString, _ boolean: Bool) {
        append(memberName: name)
        append(boolean: boolean)
    }

    /// Appends `,"name":`. The name must not need escaping.
    public mutating func append(memberName name: StaticString) {
        append(literal: ",\"")
        append(literal: name)
        append(literal: "\":")
    }

    /// Appends an object of members that each begin with a comma, or an empty object.
    package mutating func append(object members: [UInt8]) {
        append(UInt8(ascii: "{"))
        append(contentsOf: members.dropFirst())
        append(UInt8(ascii: "}"))
    }

    /// Appends an array, with `appendElement` for each element.
    public mutating func append<Value>(
        array elements: some Sequence<Value>, _ appendElement: (Value, inout [UInt8]) -> Void
    ) {
        append(UInt8(ascii: "["))
        var isFirst = true
        for element in elements {
            if !isFirst { append(UInt8(ascii: ",")) }
            isFirst = false
            appendElement(element, &self)
        }
        append(UInt8(ascii: "]"))
    }

    /// Appends UTF-8 as the contents of a JSON string: escaped where necessary, without quotes.
    public mutating func append(escaped text: Span<UInt8>) {
        append(addingCapacity: text.escapedCount) { $0.append(escaped: text) }
    }
}

extension Span<UInt8> {
    /// Returns the offset of the first byte at or after `start` that must be escaped in a JSON string (a quote, a
    /// backslash, a control character), or the count.
    ///
    /// It compares eight bytes at a time. In a word, `(x - 0x01…) & ~x & 0x80…` marks the bytes that are zero. With
    /// `0x20…` instead of `0x01…` it marks those below 0x20. A borrow can wrongly mark a byte only above a correctly
    /// marked one, so the lowest mark is correct. Without `& ~x` bytes from 0x80 are marked too. That cheaper test
    /// comes first, because most words have no marks.
    func firstSpecial(from start: Int) -> Int {
        // The pointer is used only inside the closure, while the span's owner lives, and only within the span's bounds.
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
            // The last eight bytes. Those already checked are shifted out, and spaces fill the high end.
            let seen = UInt64(8 - (bytes.count - offset)) * 8
            let rest = word(of: bytes, at: bytes.count - 8) >> seen | (ones &* 0x20) << (64 - seen)
            let marks = specials(in: rest)
            // A mark in the filled part is wrong, and lies above a correct one.
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
        // Any eight bytes are a valid UInt64.
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Marks, in the highest bit of each byte, the bytes of a word that must be escaped. Only the lowest mark is
    /// reliable.
    private static func specials(in word: UInt64) -> UInt64 {
        let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let slashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let (a, b, c) = (quotes &- ones, slashes &- ones, word &- ones &* 0x20)
        guard (a | b | c | word) & (ones &* 0x80) != 0 else { return 0 }
        return (a & ~quotes | b & ~slashes | c & ~word) & (ones &* 0x80)
    }
}
