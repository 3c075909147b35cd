/// The four bytes that a client's payload is XORed with (RFC 6455 §5.3).
///
/// Masking is not encryption. It keeps a web page from choosing the bytes that its browser sends, which intermediaries
/// could take for HTTP. Every frame therefore needs a new and unpredictable key.
public struct MaskingKey: Equatable, Sendable {
    /// The bytes in wire order. The first is the least significant.
    private let word: UInt32

    /// Creates a key from its bytes in wire order.
    public init(_ byte0: UInt8, _ byte1: UInt8, _ byte2: UInt8, _ byte3: UInt8) {
        word = UInt32(byte0) | UInt32(byte1) << 8 | UInt32(byte2) << 16 | UInt32(byte3) << 24
    }

    /// Creates a new key. The generator must be cryptographically strong, as the system's is (§10.3).
    public init(using generator: inout some RandomNumberGenerator) {
        word = generator.next()
    }

    /// The key's bytes in wire order.
    public var bytes: (UInt8, UInt8, UInt8, UInt8) {
        (
            UInt8(truncatingIfNeeded: word), UInt8(truncatingIfNeeded: word >> 8),
            UInt8(truncatingIfNeeded: word >> 16), UInt8(truncatingIfNeeded: word >> 24)
        )
    }

    /// Masks or unmasks the bytes of `buffer` from `start` to its end. Both are the same operation.
    ///
    /// - Parameters:
    ///   - buffer: the buffer whose bytes from `start` on are masked.
    ///   - start: the index of the first byte to mask.
    ///   - position: the offset of that byte in the frame's payload, which may arrive in pieces.
    public func apply(to buffer: inout [UInt8], from start: Int, position: Int) {
        // Rotated so that the byte at `start` is XORed with the key's lowest byte, whatever its position.
        let turns = UInt32(position & 3) &* 8
        let turned = word &>> turns | word &<< ((32 &- turns) & 31)
        let doubled = UInt64(turned) << 32 | UInt64(turned)

        let end = buffer.count
        var bytes = buffer.mutableSpan
        var raw = bytes.mutableBytes
        var index = start
        while end - index >= 8 {
            // Both accesses are bounds-checked, and every bit pattern is a valid UInt64.
            let masked = raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self) ^ doubled.littleEndian
            raw.storeBytes(of: masked, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        var rest = doubled
        while index < end {
            let masked = raw.unsafeLoad(fromByteOffset: index, as: UInt8.self) ^ UInt8(truncatingIfNeeded: rest)
            raw.storeBytes(of: masked, toByteOffset: index, as: UInt8.self)
            rest >>= 8
            index += 1
        }
    }
}
