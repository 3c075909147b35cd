/// The question and answer of the opening handshake (RFC 6455 §1.3): only a WebSocket server answers a
/// `Sec-WebSocket-Key` with the matching `Sec-WebSocket-Accept`.
enum AcceptKey {
    /// §1.3: a string that no other protocol's server is likely to know.
    private static let guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// The bytes of the nonce that a key stands for.
    static let nonceLength = 16

    /// The `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key`, which is taken as it stands and not decoded (§4.2.2).
    static func accept(for key: String) -> String {
        Base64.encode(SHA1.digest(of: Array((key + guid).utf8)))
    }

    /// Returns whether `key` is the Base64 of 16 bytes (§4.2.1).
    static func isValid(_ key: String) -> Bool {
        Base64.decodedCount(key) == nonceLength
    }
}
