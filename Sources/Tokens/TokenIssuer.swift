import Signatures
import Wire

/// Creates tokens for trying out a server.
public struct TokenIssuer: Sendable {
    /// The claims of a token.
    public struct Contents: Sendable {
        /// The user.
        public var subject: String
        /// The expiry, in seconds since 1970.
        public var expiry: Int64
        /// The rooms that the token is limited to; `nil` for no limit.
        public var rooms: [String]?
        /// True for an admin.
        public var isAdmin = false
        /// `iss`.
        public var issuer: String?
        /// `aud`: the server that the token is meant for.
        public var audience: String?

        /// Creates contents without optional claims.
        public init(subject: String, expiry: Int64) {
            self.subject = subject
            self.expiry = expiry
        }
    }

    private let key: SigningKey
    private let keyID: String?

    /// Creates an issuer that signs with the secret in a file, using HS256.
    ///
    /// - Throws: ``KeyError`` if it cannot be read or is too short.
    public init(secretFile path: String, keyID: String? = nil) throws(KeyError) {
        try self.init(secret: try KeySources.secret(in: path), of: path, keyID: keyID)
    }

    /// Creates an issuer that signs with a secret, using HS256.
    ///
    /// - Parameter source: the source of the secret, for the error.
    /// - Throws: ``KeyError`` if it is too short.
    public init(secret: [UInt8], of source: String, keyID: String? = nil) throws(KeyError) {
        try KeySources.check(secret: secret, of: source)
        key = SigningKey(secret: secret)
        self.keyID = keyID
    }

    /// Creates an issuer that signs with the private key in a file, using the key's algorithm: RS256, ES256 or EdDSA.
    ///
    /// - Throws: ``KeyError`` if it cannot be read or is not such a key.
    public init(privateKeyFile path: String, keyID: String? = nil) throws(KeyError) {
        let pem = try KeyFile.read(path)
        guard !String(decoding: pem, as: UTF8.self).contains("ENCRYPTED") else {
            throw KeyError(path, "the key is encrypted: decrypt it into another file with openssl pkey.")
        }
        do {
            key = try SigningKey(privateKeyPEM: pem)
        } catch {
            throw KeyError(path, "\(error.reason); give it a private key in PEM \(KeySources.usableKeys).")
        }
        self.keyID = keyID
    }

    /// Returns a signed token.
    ///
    /// - Throws: ``KeyError`` if OpenSSL cannot sign with the key.
    public func token(_ contents: Contents) throws(KeyError) -> String {
        let text = Base64URL.encode(header) + "." + Base64URL.encode(Self.payload(contents))
        do {
            return text + "." + Base64URL.encode(try key.signature(of: Array(text.utf8)))
        } catch {
            throw KeyError("the key", "OpenSSL cannot sign with it: \(error.reason).")
        }
    }

    /// The header (RFC 7515, section 4.1).
    private var header: [UInt8] {
        var json = Array(#"{"typ":"JWT""#.utf8)
        json.append(member: "alg", key.algorithm.rawValue)
        if let keyID { json.append(member: "kid", keyID) }
        return json + [UInt8(ascii: "}")]
    }

    /// Returns the claims, named as in RFC 7519, section 4.1.
    private static func payload(_ contents: Contents) -> [UInt8] {
        var json = Array(#"{"sub":"#.utf8)
        json.append(quoted: contents.subject)
        json.append(member: "exp", contents.expiry)
        if let rooms = contents.rooms {
            json.append(memberName: "rooms")
            json.append(array: rooms) { $1.append(quoted: $0) }
        }
        if contents.isAdmin { json.append(member: "admin", true) }
        if let issuer = contents.issuer { json.append(member: "iss", issuer) }
        if let audience = contents.audience { json.append(member: "aud", audience) }
        return json + [UInt8(ascii: "}")]
    }
}
