/// Checks that text is UTF-8 as it arrives, in pieces of any size (RFC 6455 §8.1, RFC 3629 §4).
///
/// It refuses at the first invalid byte. Overlong forms, surrogates and code points past U+10FFFF are invalid. Runs of
/// ASCII are checked sixteen bytes at a time; any other byte costs one table lookup and one shift.
public struct UTF8Validator: Equatable, Sendable {
    /// The state of the automaton: a ``Place`` in the low six bits. The higher bits are left over from the table row.
    private var state: UInt64 = Place.boundary

    /// Creates a validator at the start of a text.
    public init() {}

    /// True if the bytes so far are whole characters, as they must be at the end of a text.
    public var isComplete: Bool { state & Place.mask == Place.boundary }

    /// Returns true if `bytes` are one complete text.
    public static func isValid(_ bytes: Span<UInt8>) -> Bool {
        var validator = UTF8Validator()
        return validator.append(bytes) && validator.isComplete
    }

    /// Checks the next bytes of the text.
    ///
    /// - Returns: true if the text can still become UTF-8. Once false, it stays false.
    public mutating func append(_ bytes: Span<UInt8>) -> Bool {
        let raw = bytes.bytes
        let table = Self.table.span
        var state = self.state & Place.mask
        var index = 0
        while bytes.count - index >= 16 {
            if state == Place.boundary {
                // Both accesses are bounds-checked, and every bit pattern is a valid UInt64.
                let low = raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
                let high = raw.unsafeLoadUnaligned(fromByteOffset: index + 8, as: UInt64.self)
                if (low | high) & 0x8080_8080_8080_8080 == 0 {
                    index += 16
                    continue
                }
            }
            for position in index..<index + 16 {
                state = table[Int(bytes[position])] &>> state
            }
            state &= Place.mask
            if state == Place.refused {
                self.state = state
                return false
            }
            index += 16
        }
        while index < bytes.count {
            state = table[Int(bytes[index])] &>> state
            index += 1
        }
        self.state = state & Place.mask
        return self.state != Place.refused
    }

    /// Checks the bytes of an array from `start` on.
    mutating func append(_ bytes: [UInt8], from start: Int) -> Bool {
        append(bytes.span.extracting(start...))
    }
}

/// The automaton. The table has one row of 64 bits per byte value. The six bits at the offset of a state are the next
/// state. A state's number is therefore the distance to shift by. A shift uses only the low six bits of it, so a step
/// is one load and one shift.
extension UTF8Validator {
    private enum Place {
        static let mask: UInt64 = 63
        /// Between two characters.
        static let boundary: UInt64 = 0
        /// One, two or three more continuation bytes, without restrictions, must follow.
        static let oneMore: UInt64 = 6
        static let twoMore: UInt64 = 12
        static let threeMore: UInt64 = 18
        /// After a first byte that restricts the second (RFC 3629 §4): E0 and F0 exclude overlong forms, ED surrogates,
        /// F4 code points past U+10FFFF.
        static let afterE0: UInt64 = 24
        static let afterED: UInt64 = 30
        static let afterF0: UInt64 = 36
        static let afterF4: UInt64 = 42
        /// The error state, which no byte leaves.
        static let refused: UInt64 = 48

        static let all = [
            boundary, oneMore, twoMore, threeMore, afterE0, afterED, afterF0, afterF4, refused,
        ]
    }

    private static let table: [UInt64] = (UInt8.min...UInt8.max).map { byte in
        Place.all.reduce(0) { row, place in row | next(from: place, byte) << place }
    }

    private static func next(from place: UInt64, _ byte: UInt8) -> UInt64 {
        switch (place, byte) {
        case (Place.boundary, 0x00...0x7F): Place.boundary
        case (Place.boundary, 0xC2...0xDF): Place.oneMore
        case (Place.boundary, 0xE0): Place.afterE0
        case (Place.boundary, 0xED): Place.afterED
        case (Place.boundary, 0xE1...0xEF): Place.twoMore
        case (Place.boundary, 0xF0): Place.afterF0
        case (Place.boundary, 0xF1...0xF3): Place.threeMore
        case (Place.boundary, 0xF4): Place.afterF4
        case (Place.oneMore, 0x80...0xBF): Place.boundary
        case (Place.twoMore, 0x80...0xBF), (Place.afterE0, 0xA0...0xBF), (Place.afterED, 0x80...0x9F): Place.oneMore
        case (Place.threeMore, 0x80...0xBF), (Place.afterF0, 0x90...0xBF), (Place.afterF4, 0x80...0x8F): Place.twoMore
        default: Place.refused
        }
    }
}
