/// The key exchange of the opening handshake (RFC 6455 §1.3). Only a WebSocket server answers a `Sec-WebSocket-Key`
/// with the matching `Sec-WebSocket-Accept`.
enum AcceptKey {
    /// A constant that servers of other protocols are unlikely to know (§1.3).
    private static let guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// Number of bytes of the nonce that a key encodes.
    static let nonceLength = 16

    /// Returns the `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key`. The key is used as sent, without decoding it
    /// (§4.2.2).
    static func accept(for key: String) -> String {
        Base64.encode(SHA1.digest(of: Array((key + guid).utf8)))
    }

    /// Returns true if `key` is the Base64 of 16 bytes (§4.2.1).
    static func isValid(_ key: String) -> Bool {
        Base64.decodedCount(key) == nonceLength
    }
}
