/// SHA-1 (FIPS 180-4 §6.1), only for the opening handshake.
///
/// It has no security purpose here. RFC 6455 §1.3 uses it to show that the answer comes from a WebSocket server, and
/// not from another server that was tricked into echoing. It does not matter that SHA-1 is broken for signatures
/// (§10.8). This type avoids an import of OpenSSL for one hash of 60 bytes.
enum SHA1 {
    /// Returns the 20 bytes of the digest.
    static func digest(of message: [UInt8]) -> [UInt8] {
        var hash: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        let padded = pad(message)
        for blockStart in stride(from: 0, to: padded.count, by: 64) {
            compress(padded[blockStart..<blockStart + 64], into: &hash)
        }
        return hash.flatMap { word in
            stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }

    /// Pads the message to whole blocks of 64 bytes: a one bit, zeros, and the length in bits (§5.1.1).
    private static func pad(_ message: [UInt8]) -> [UInt8] {
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let bitCount = UInt64(message.count) * 8
        for shift in stride(from: 56, through: 0, by: -8) {
            padded.append(UInt8(truncatingIfNeeded: bitCount >> UInt64(shift)))
        }
        return padded
    }

    private static func compress(_ block: ArraySlice<UInt8>, into hash: inout [UInt32]) {
        var schedule: [UInt32] = []
        schedule.reserveCapacity(80)
        for start in stride(from: block.startIndex, to: block.endIndex, by: 4) {
            schedule.append(block[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) })
        }
        for t in 16..<80 {
            let mixed = schedule[t - 3] ^ schedule[t - 8] ^ schedule[t - 14] ^ schedule[t - 16]
            schedule.append(rotateLeft(mixed, by: 1))
        }

        var (a, b, c, d, e) = (hash[0], hash[1], hash[2], hash[3], hash[4])
        for t in 0..<80 {
            let (function, constant): (UInt32, UInt32) =
                switch t {
                case ..<20: ((b & c) ^ (~b & d), 0x5A82_7999)
                case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case ..<60: ((b & c) ^ (b & d) ^ (c & d), 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = rotateLeft(a, by: 5) &+ function &+ e &+ constant &+ schedule[t]
            (a, b, c, d, e) = (next, a, rotateLeft(b, by: 30), c, d)
        }
        hash[0] &+= a
        hash[1] &+= b
        hash[2] &+= c
        hash[3] &+= d
        hash[4] &+= e
    }

    private static func rotateLeft(_ word: UInt32, by count: UInt32) -> UInt32 {
        word << count | word >> (32 - count)
    }
}
