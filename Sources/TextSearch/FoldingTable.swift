/// Maps each Unicode scalar to its folded form, and says what kind of scalar a folded one is.
///
/// The table is decoded from ``FoldingData`` on first use, which takes about a millisecond, and needs 150 KB.
struct FoldingTable: Sendable {
    /// The role of a scalar in a text.
    enum Kind: UInt32 {
        /// Punctuation and controls, which are in no token.
        case separator
        /// A letter, mark or digit of a script with spaces between words.
        case word
        /// A scalar of a script without spaces, such as Han or Thai, of Korean, whose words take endings, or a symbol.
        case unspaced
        /// White space.
        case space
    }

    /// What the table holds of a scalar: 16 bits of the place of its mapping, 5 of its length, 2 of its kind, 1 that
    /// is set if it may be the second of a composition, and 8 of its combining class.
    struct Entry {
        fileprivate(set) var bits: UInt32

        /// The entry of scalars that the table does not list, such as ideographs.
        static let other = Entry(bits: unchanged << 16 | Kind.unspaced.rawValue << 21)
        /// The length of the mapping of a scalar that folds to itself.
        private static let unchanged: UInt32 = 31

        /// True if the scalar folds to itself.
        var isUnchanged: Bool { bits >> 16 & 31 == Self.unchanged }
        /// The place of the folded scalars in ``FoldingTable/mapped``. There are none if the scalar is dropped.
        var mapping: Range<Int> {
            let start = Int(bits & 0xFFFF)
            return start..<start + Int(bits >> 16 & 31)
        }
        var kind: Kind { Kind(rawValue: bits >> 21 & 3)! }
        var isSecondOfComposition: Bool { bits & 1 << 23 != 0 }
        /// The canonical combining class, 0 for a starter.
        var combiningClass: UInt32 { bits >> 24 }
    }

    static let shared = FoldingTable()

    /// The entries in pages of 256, and where the page of a scalar begins.
    private var entries: [Entry]
    private var pages: [Int32]
    /// The scalars of all mappings.
    private(set) var mapped: [UInt32] = []
    /// The composites by the pair that they consist of, the first in the upper half.
    private var compositions: [UInt64: UInt32] = [:]

    subscript(scalar: UInt32) -> Entry {
        entries[Int(pages[Int(scalar >> 8)]) + Int(scalar & 0xFF)]
    }

    /// Returns the composite of two scalars, or nil.
    func composite(_ first: UInt32, _ second: UInt32) -> UInt32? {
        // Hangul is composed by arithmetic (The Unicode Standard, section 3.12).
        if 0x1100...0x1112 ~= first, 0x1161...0x1175 ~= second {
            return 0xAC00 + ((first - 0x1100) * 21 + second - 0x1161) * 28
        }
        if 0xAC00...0xD7A3 ~= first, (first - 0xAC00) % 28 == 0, 0x11A8...0x11C2 ~= second {
            return first + second - 0x11A7
        }
        return compositions[UInt64(first) << 32 | UInt64(second)]
    }

    private init() {
        entries = Array(repeating: .other, count: 256)
        pages = Array(repeating: 0, count: 0x1100)
        var data = DataReader(bytes: Self.decoded(FoldingData.base64))
        var scalar: UInt32 = 0
        for _ in 0..<data.number() {
            let kind = UInt32(data.number())
            let length = UInt32(data.number())
            if kind != Kind.unspaced.rawValue {
                for scalar in scalar..<scalar + length { change(scalar) { $0 = $0 & ~(3 << 21) | kind << 21 } }
            }
            scalar += length
        }
        scalar = 0
        for _ in 0..<data.number() {
            let combiningClass = UInt32(data.number())
            let length = UInt32(data.number())
            if combiningClass != 0 {
                for scalar in scalar..<scalar + length { change(scalar) { $0 |= combiningClass << 24 } }
            }
            scalar += length
        }
        var first: Int = 0
        scalar = 0
        for _ in 0..<data.number() {
            scalar += UInt32(data.number())
            let place = UInt32(mapped.count)
            let count = UInt32(data.number())
            var previous = first
            for _ in 0..<count {
                previous += data.signedNumber()
                mapped.append(UInt32(previous))
            }
            if count > 0 { first = Int(mapped[Int(place)]) }
            change(scalar) { $0 = $0 & ~0x1F_FFFF | count << 16 | place }
        }
        // Tags and variation selectors are dropped.
        for scalar in 0xE0000...0xE0FFF as ClosedRange<UInt32> { change(scalar) { $0 &= ~0x1F_FFFF } }
        first = 0
        for _ in 0..<data.number() {
            first += data.number()
            let second = UInt32(first + data.signedNumber())
            compositions[UInt64(first) << 32 | UInt64(second)] = UInt32(first + data.signedNumber())
            change(second) { $0 |= 1 << 23 }
        }
        for scalar in 0x1161...0x11C2 as ClosedRange<UInt32> { change(scalar) { $0 |= 1 << 23 } }
    }

    private mutating func change(_ scalar: UInt32, _ change: (inout UInt32) -> Void) {
        if pages[Int(scalar >> 8)] == 0 {
            pages[Int(scalar >> 8)] = Int32(entries.count)
            entries.append(contentsOf: repeatElement(.other, count: 256))
        }
        change(&entries[Int(pages[Int(scalar >> 8)]) + Int(scalar & 0xFF)].bits)
    }

    private static func decoded(_ base64: StaticString) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(base64.utf8CodeUnitCount / 4 * 3)
        var buffer: UInt32 = 0
        var count = 0
        for character in UnsafeBufferPointer(start: base64.utf8Start, count: base64.utf8CodeUnitCount) {
            let value: UInt8
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "/"): value = 63
            default: continue
            }
            buffer = buffer << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(count)))
        }
        return bytes
    }
}

/// Reads the numbers of ``FoldingData``, 7 bits a byte, the lowest first.
private struct DataReader {
    let bytes: [UInt8]
    var offset = 0

    mutating func number() -> Int {
        var value = 0
        var shift = 0
        while true {
            let byte = bytes[offset]
            offset += 1
            value |= Int(byte & 0x7F) << shift
            guard byte & 0x80 != 0 else { return value }
            shift += 7
        }
    }

    mutating func signedNumber() -> Int {
        let value = number()
        return value & 1 == 0 ? value >> 1 : -((value + 1) >> 1)
    }
}
