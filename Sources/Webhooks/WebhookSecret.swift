import Signatures

/// A secret with which deliveries are signed, as Standard Webhooks 1.0 says.
public struct WebhookSecret: Sendable, Hashable {
    /// Number of random bytes in a secret.
    public static let size = 32
    private static let prefix = "whsec_"

    private let bytes: [UInt8]

    /// Creates a random secret.
    public init() {
        bytes = (0..<Self.size).map { _ in .random(in: 0...255) }
    }

    /// Parses a secret: `whsec_` and ``size`` bytes in base64.
    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let bytes = Base64.decode(text.dropFirst(Self.prefix.count)),
            bytes.count == Self.size
        else { return nil }
        self.bytes = bytes
    }

    /// The secret as receivers configure it.
    public var text: String { Self.prefix + Base64.encode(bytes) }

    /// Returns the signature of a delivery, one entry of `webhook-signature`.
    ///
    /// - Parameter timestamp: The time of the attempt in seconds since 1970.
    public func signature(of body: [UInt8], id: String, timestamp: Int64) -> String {
        let message = Array("\(id).\(timestamp).".utf8) + body
        return "v1," + Base64.encode(HMACSHA256.code(of: message[...], secret: bytes))
    }
}

extension [WebhookSecret] {
    /// Returns the value of `webhook-signature`: one entry for each secret. During a rotation there are several.
    public func signatures(of body: [UInt8], id: String, timestamp: Int64) -> String {
        map { $0.signature(of: body, id: id, timestamp: timestamp) }.joined(separator: " ")
    }
}
