/// Checks text for UTF-8 as it arrives, in any pieces (RFC 6455 §8.1, RFC 3629 §4).
///
/// It refuses at the first byte that cannot stand where it stands: overlong forms, surrogates and code points past
/// U+10FFFF included. Runs of ASCII pass sixteen bytes at a time; the rest costs one table row and one shift a byte.
public struct UTF8Validator: Equatable, Sendable {
    /// Where the text stands: see ``Place``, the low six bits alone. Those above are left over from the table.
    private var state: UInt64 = Place.boundary

    /// A validator at the start of a text.
    public init() {}

    /// True if the bytes so far are whole characters: what a text has to end with.
    public var isComplete: Bool {
        state & Place.mask == Place.boundary
    }

    /// Returns whether `bytes` are one whole text.
    public static func isValid(_ bytes: Span<UInt8>) -> Bool {
        var validator = UTF8Validator()
        return validator.append(bytes) && validator.isComplete
    }

    /// Takes the next bytes of the text.
    ///
    /// - Returns: whether the text can still become UTF-8. Once false it stays false, whatever follows.
    public mutating func append(_ bytes: Span<UInt8>) -> Bool {
        let raw = bytes.bytes
        let table = Self.table.span
        var state = self.state & Place.mask
        var index = 0
        while bytes.count - index >= 16 {
            if state == Place.boundary {
                // Both accesses are bounds-checked, and every bit pattern is a UInt64.
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

    /// Takes the bytes of an array from `start` on.
    mutating func append(_ bytes: [UInt8], from start: Int) -> Bool {
        append(bytes.span.extracting(start...))
    }
}

/// The automaton: one row of 64 bits for each byte value, in which the six bits at a place's number are the place that
/// the byte leads to from there. A place's number is thus the distance to shift by, and a shift looks only at the low
/// six bits of it, so that a step is one load and one shift.
extension UTF8Validator {
    private enum Place {
        static let mask: UInt64 = 63
        /// Between two characters.
        static let boundary: UInt64 = 0
        /// One, two or three more continuation bytes have to follow, any of them.
        static let oneMore: UInt64 = 6
        static let twoMore: UInt64 = 12
        static let threeMore: UInt64 = 18
        /// Behind a first byte that narrows the second one (RFC 3629 §4): E0 and F0 against overlong forms, ED against
        /// surrogates, F4 against code points past U+10FFFF.
        static let afterE0: UInt64 = 24
        static let afterED: UInt64 = 30
        static let afterF0: UInt64 = 36
        static let afterF4: UInt64 = 42
        /// No byte leads out of here.
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
