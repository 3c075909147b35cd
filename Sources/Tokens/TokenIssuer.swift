import FoundationEssentials
import JWTKit

/// Makes tokens, to try a server out with.
public struct TokenIssuer: Sendable {
    /// What a token is to say.
    public struct Contents: Sendable {
        /// The user.
        public var subject: String
        /// When it ends, in seconds since 1970.
        public var expiry: Int64
        /// The rooms that it is limited to; `nil` for no limit.
        public var rooms: [String]?
        /// Whether the user is an admin.
        public var isAdmin = false
        /// Who it is of.
        public var issuer: String?
        /// Which server it is for.
        public var audience: String?

        /// A token's contents.
        public init(subject: String, expiry: Int64) {
            self.subject = subject
            self.expiry = expiry
        }
    }

    private enum Key: Sendable {
        case secret(HMACKey)
        case rsa(Insecure.RSA.PrivateKey)
        case ecdsa(ES256PrivateKey)
        case edDSA(EdDSA.PrivateKey)
    }

    private let key: Key
    private let keyID: String?

    /// Signs with the secret in a file, by HS256.
    ///
    /// - Throws: ``KeyError`` when it cannot be read or is too short.
    public init(secretFile path: String, keyID: String? = nil) throws(KeyError) {
        try self.init(secret: try KeySources.secret(in: path), of: path, keyID: keyID)
    }

    /// Signs with a secret, by HS256.
    ///
    /// - Parameter source: where it comes from, for the error.
    /// - Throws: ``KeyError`` when it is too short.
    public init(secret: [UInt8], of source: String, keyID: String? = nil) throws(KeyError) {
        try KeySources.check(secret: secret, of: source)
        key = .secret(HMACKey(from: secret))
        self.keyID = keyID
    }

    /// Signs with the private key in a file, by RS256, ES256 or EdDSA, whichever it is for.
    ///
    /// - Throws: ``KeyError`` when it cannot be read or is none.
    public init(privateKeyFile path: String, keyID: String? = nil) throws(KeyError) {
        let pem = String(decoding: try KeyFile.read(path), as: UTF8.self)
        if let rsa = try? Insecure.RSA.PrivateKey(pem: pem) {
            key = .rsa(rsa)
        } else if let ecdsa = try? ES256PrivateKey(pem: pem) {
            key = .ecdsa(ecdsa)
        } else if let edDSA = try? EdDSA.PrivateKey(pem: pem) {
            key = .edDSA(edDSA)
        } else {
            throw KeyError(
                path, "this is no private key in PEM for RS256 (2048 bits or more), ES256 (P-256) or EdDSA (Ed25519).")
        }
        self.keyID = keyID
    }

    /// Makes a token.
    public func token(_ contents: Contents) async throws -> String {
        let collection = JWTKeyCollection()
        switch key {
        case .secret(let secret): await collection.add(hmac: secret, digestAlgorithm: .sha256)
        case .rsa(let rsa): await collection.add(rsa: rsa, digestAlgorithm: .sha256)
        case .ecdsa(let ecdsa): await collection.add(ecdsa: ecdsa)
        case .edDSA(let edDSA): await collection.add(eddsa: edDSA)
        }
        var header = JWTHeader()
        header.typ = "JWT"
        if let keyID { header.kid = keyID }
        return try await collection.sign(Payload(contents), header: header)
    }

    /// The claims, by the names of RFC 7519, section 4.1.
    private struct Payload: JWTPayload {
        let sub: String
        let exp: Int64
        let rooms: [String]?
        let admin: Bool?
        let iss: String?
        let aud: String?

        init(_ contents: Contents) {
            sub = contents.subject
            exp = contents.expiry
            rooms = contents.rooms
            admin = contents.isAdmin ? true : nil
            iss = contents.issuer
            aud = contents.audience
        }

        /// What is signed here is not verified here.
        func verify(using algorithm: some JWTAlgorithm) {}
    }
}
