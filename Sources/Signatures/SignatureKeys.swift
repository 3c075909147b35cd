/// A key that signatures are verified with: a shared secret or a public key, for one algorithm.
package struct VerifyingKey: Sendable {
    private enum Material: Sendable {
        case secret([UInt8])
        case publicKey(OpenSSLKey)
    }

    private let material: Material

    /// The only algorithm that the key is used for.
    package var algorithm: SignatureAlgorithm {
        switch material {
        case .secret: .hs256
        case .publicKey(let key): key.algorithm
        }
    }

    /// A secret for HS256. Its length is up to the caller.
    package init(secret: [UInt8]) {
        material = .secret(secret)
    }

    /// Reads a public key in PEM, for RS256, ES256 or EdDSA.
    package init(publicKeyPEM pem: [UInt8]) throws(UnusableKey) {
        material = .publicKey(try OpenSSLKey(publicKeyPEM: pem))
    }

    /// Makes a key for RS256 from its two numbers, the highest byte first.
    package init(rsaModulus modulus: [UInt8], exponent: [UInt8]) throws(UnusableKey) {
        material = .publicKey(try OpenSSLKey(rsaModulus: modulus, exponent: exponent))
    }

    /// Makes a key for ES256 from the coordinates of its point on P-256: 32 bytes each, the highest first.
    package init(p256X x: [UInt8], y: [UInt8]) throws(UnusableKey) {
        material = .publicKey(try OpenSSLKey(p256X: x, y: y))
    }

    /// Makes a key for EdDSA from its 32 bytes (RFC 8032, section 5.1.5).
    package init(ed25519 bytes: [UInt8]) throws(UnusableKey) {
        material = .publicKey(try OpenSSLKey(ed25519: bytes))
    }

    /// Returns true if `signature` is one of `message` by this key, in the form of a JSON Web Signature (RFC 7518, section 3).
    package func verifies(_ signature: [UInt8], of message: ArraySlice<UInt8>) -> Bool {
        switch material {
        case .secret(let secret): HMACSHA256.verifies(signature, of: message, secret: secret)
        case .publicKey(let key): key.verifies(signature, of: message)
        }
    }
}

/// A key that messages are signed with: a shared secret or a private key, for one algorithm.
package struct SigningKey: Sendable {
    private enum Material: Sendable {
        case secret([UInt8])
        case privateKey(OpenSSLKey)
    }

    private let material: Material

    /// The only algorithm that the key is used for.
    package var algorithm: SignatureAlgorithm {
        switch material {
        case .secret: .hs256
        case .privateKey(let key): key.algorithm
        }
    }

    /// A secret for HS256. Its length is up to the caller.
    package init(secret: [UInt8]) {
        material = .secret(secret)
    }

    /// Reads a private key in PEM that is not encrypted, for RS256, ES256 or EdDSA.
    package init(privateKeyPEM pem: [UInt8]) throws(UnusableKey) {
        material = .privateKey(try OpenSSLKey(privateKeyPEM: pem))
    }

    /// Signs `message`, in the form of a JSON Web Signature (RFC 7518, section 3).
    package func signature(of message: [UInt8]) throws(UnusableKey) -> [UInt8] {
        switch material {
        case .secret(let secret): HMACSHA256.code(of: message[...], secret: secret)
        case .privateKey(let key): try key.signature(of: message)
        }
    }
}

/// The reason why a key cannot be used. It contains nothing of the key.
package struct UnusableKey: Error, Sendable, Equatable {
    /// A clause for the operator: "the RSA key has 1024 bits".
    package let reason: String

    static let unreadable = UnusableKey(reason: "no such key in PEM can be read from it")
    static let invalid = UnusableKey(reason: "its numbers are not those of a valid key")
    static let forgeable = UnusableKey(reason: "anybody could forge signatures of this key")
}
