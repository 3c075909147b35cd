import Signatures
import Wire

/// The sources of the keys that tokens are signed with.
public struct KeySources: Sendable {
    /// Minimum length of a secret in bytes: the output size of its hash (RFC 7518, section 3.2).
    public static let minimumSecretBytes = 32
    /// The environment variable for a secret. There is no flag for it, because every user of a machine can read the
    /// flags of its processes.
    public static let secretVariable = "BACKSCROLL_JWT_SECRET"

    /// A secret for HS256.
    public var secret: String?
    /// The path of a file with a secret for HS256. A final line end is not part of the secret.
    public var secretFile: String?
    /// The paths of public keys for RS256, ES256 or EdDSA in PEM, one per file.
    public var publicKeys: [String] = []
    /// The path of a JSON Web Key Set of public keys (RFC 7517, section 5).
    public var keySet: String?

    /// Creates a value without keys.
    public init() {}

    /// True if there are no keys, which means open mode.
    public var isEmpty: Bool { secret == nil && secretFile == nil && publicKeys.isEmpty && keySet == nil }

    /// Reads the keys.
    ///
    /// - Throws: ``KeyError`` if one of them cannot be used.
    public func load() throws(KeyError) -> KeyRing {
        var keys: [KeyRing.Key] = []
        if let secret { keys.append(try Self.key(secret: Array(secret.utf8), of: Self.secretVariable)) }
        if let secretFile { keys.append(try Self.key(secretFile: secretFile)) }
        for path in publicKeys { keys.append(try Self.publicKey(in: path)) }
        if let keySet { keys += try Self.keys(inSet: keySet) }
        guard keys.count <= KeyRing.maximumKeys else {
            throw KeyError(
                "the keys of tokens", "there are \(keys.count), but at most \(KeyRing.maximumKeys) are allowed.")
        }
        return KeyRing(keys: keys)
    }

    // MARK: Secrets

    /// Returns the secret in a file, without the line end that editors and `echo` add.
    static func secret(in path: String) throws(KeyError) -> [UInt8] {
        var secret = try KeyFile.read(path)
        if secret.last == UInt8(ascii: "\n") { secret.removeLast() }
        if secret.last == UInt8(ascii: "\r") { secret.removeLast() }
        return secret
    }

    /// Refuses a secret that can be guessed, and a key that is not a secret.
    static func check(secret: [UInt8], of source: String) throws(KeyError) {
        guard !secret.starts(with: Array("-----BEGIN ".utf8)) else {
            throw KeyError(source, "this is a key in PEM, not a secret: give it to --jwt-key if it is a public key.")
        }
        guard secret.count >= minimumSecretBytes else {
            throw KeyError(
                source,
                "a secret must have \(minimumSecretBytes) bytes or more, and this one has \(secret.count): "
                    + "make one with openssl rand -base64 32.")
        }
    }

    private static func key(secretFile path: String) throws(KeyError) -> KeyRing.Key {
        let (content, secret) = (try KeyFile.read(path), try secret(in: path))
        var key = try key(secret: secret, of: path)
        if content.count > secret.count { key.withLineEnd = VerifyingKey(secret: content) }
        return key
    }

    private static func key(secret: [UInt8], of source: String) throws(KeyError) -> KeyRing.Key {
        try check(secret: secret, of: source)
        return KeyRing.Key(id: nil, verifyingKey: VerifyingKey(secret: secret))
    }

    // MARK: Public keys

    /// A description of the supported keys, for errors.
    static let usableKeys = "for RS256 (RSA of 2048 to 8192 bits), ES256 (P-256) or EdDSA (Ed25519)"

    private static func publicKey(in path: String) throws(KeyError) -> KeyRing.Key {
        let pem = try KeyFile.read(path)
        let text = String(decoding: pem, as: UTF8.self)
        guard !text.contains("PRIVATE KEY-----") else {
            throw KeyError(
                path,
                "this is a private key, and a server needs only the public one: "
                    + "write it to a file with openssl pkey -pubout.")
        }
        guard !text.contains("BEGIN CERTIFICATE-----") else {
            throw KeyError(
                path,
                "this is a certificate, and a server needs only its public key: "
                    + "write it to a file with openssl x509 -noout -pubkey.")
        }
        guard text.split(separator: "-----BEGIN ", omittingEmptySubsequences: false).count <= 2 else {
            throw KeyError(
                path, "there is more than one key in this file: give each a file and a --jwt-key of its own.")
        }
        do {
            return KeyRing.Key(id: nil, verifyingKey: try VerifyingKey(publicKeyPEM: pem))
        } catch {
            throw KeyError(path, "\(error.reason); give it a public key in PEM \(usableKeys).")
        }
    }

    private static func keys(inSet path: String) throws(KeyError) -> [KeyRing.Key] {
        let json = try KeyFile.read(path)
        guard let keys = try? KeySet.keys(in: json) else {
            throw KeyError(path, "it cannot be read as a JSON Web Key Set.")
        }
        guard !keys.isEmpty else {
            throw KeyError(path, "the set has no key \(usableKeys).")
        }
        return keys
    }
}
