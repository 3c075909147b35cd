/// A shared secret, or a public or private key.
private enum KeyMaterial: Sendable {
    case secret([UInt8])
    case key(OpenSSLKey)

    var algorithm: SignatureAlgorithm {
        switch self {
        case .secret: .hs256
        case .key(let key): key.algorithm
        }
    }
}

/// A key that verifies signatures: a shared secret or a public key, for one algorithm.
package struct VerifyingKey: Sendable {
    private let material: KeyMaterial

    /// The only algorithm that the key is used for.
    package var algorithm: SignatureAlgorithm { material.algorithm }

    /// Creates a key for HS256. The caller checks the length of the secret.
    package init(secret: [UInt8]) {
        material = .secret(secret)
    }

    /// Reads a public key in PEM, for RS256, ES256 or EdDSA.
    package init(publicKeyPEM pem: [UInt8]) throws(UnusableKey) {
        material = .key(try OpenSSLKey(publicKeyPEM: pem))
    }

    /// Creates a key for RS256 from its modulus and exponent, most significant byte first.
    package init(rsaModulus modulus: [UInt8], exponent: [UInt8]) throws(UnusableKey) {
        material = .key(try OpenSSLKey(rsaModulus: modulus, exponent: exponent))
    }

    /// Creates a key for ES256 from the coordinates of its point on P-256: 32 bytes each, most significant first.
    package init(p256X x: [UInt8], y: [UInt8]) throws(UnusableKey) {
        material = .key(try OpenSSLKey(p256X: x, y: y))
    }

    /// Creates a key for EdDSA from its 32 bytes (RFC 8032, section 5.1.5).
    package init(ed25519 bytes: [UInt8]) throws(UnusableKey) {
        material = .key(try OpenSSLKey(ed25519: bytes))
    }

    /// Returns true if `signature` is this key's signature of `message`, in the form of a JSON Web Signature (RFC 7518,
    /// section 3).
    package func verifies(_ signature: [UInt8], of message: ArraySlice<UInt8>) -> Bool {
        switch material {
        case .secret(let secret): HMACSHA256.verifies(signature, of: message, secret: secret)
        case .key(let key): key.verifies(signature, of: message)
        }
    }
}

/// A key that signs messages: a shared secret or a private key, for one algorithm.
package struct SigningKey: Sendable {
    private let material: KeyMaterial

    /// The only algorithm that the key is used for.
    package var algorithm: SignatureAlgorithm { material.algorithm }

    /// Creates a key for HS256. The caller checks the length of the secret.
    package init(secret: [UInt8]) {
        material = .secret(secret)
    }

    /// Reads an unencrypted private key in PEM, for RS256, ES256 or EdDSA.
    package init(privateKeyPEM pem: [UInt8]) throws(UnusableKey) {
        material = .key(try OpenSSLKey(privateKeyPEM: pem))
    }

    /// Returns the signature of `message` in the form of a JSON Web Signature (RFC 7518, section 3).
    package func signature(of message: [UInt8]) throws(UnusableKey) -> [UInt8] {
        switch material {
        case .secret(let secret): HMACSHA256.code(of: message[...], secret: secret)
        case .key(let key): try key.signature(of: message)
        }
    }
}

/// The reason why a key cannot be used. It contains no part of the key.
package struct UnusableKey: Error, Sendable, Equatable {
    /// A clause for the operator: "the RSA key has 1024 bits".
    package let reason: String

    static let unreadable = UnusableKey(reason: "it contains no readable key of this kind in PEM")
    static let invalid = UnusableKey(reason: "its parameters are not those of a valid key")
    static let forgeable = UnusableKey(reason: "anybody could forge signatures of this key")
}
