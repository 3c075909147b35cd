import FoundationEssentials
import JWTKit

/// Where the keys that tokens are signed with come from.
public struct KeySources: Sendable {
    /// The fewest bytes of a secret: those of the hash that it is used with (RFC 7518, section 3.2).
    public static let minimumSecretBytes = 32
    /// The variable that a secret can be given in. There is no flag for it, because everybody on a machine sees the
    /// flags of its processes.
    public static let secretVariable = "BACKSCROLL_JWT_SECRET"

    /// A secret for HS256.
    public var secret: String?
    /// The path of a file with a secret for HS256. A line end at its end does not belong to it.
    public var secretFile: String?
    /// The paths of public keys for RS256, ES256 or EdDSA: PEM, one in each file.
    public var publicKeys: [String] = []
    /// The path of a set of public keys (RFC 7517, section 5).
    public var keySet: String?

    /// No keys.
    public init() {}

    /// Whether there is none, which means open mode.
    public var isEmpty: Bool { secret == nil && secretFile == nil && publicKeys.isEmpty && keySet == nil }

    /// Reads the keys.
    ///
    /// - Throws: ``KeyError`` when one of them cannot be used.
    public func load() async throws(KeyError) -> KeyRing {
        var keys: [KeyRing.Key] = []
        if let secret { keys.append(try await Self.key(secret: Array(secret.utf8), of: Self.secretVariable)) }
        if let secretFile { keys.append(try await Self.key(secret: Self.secret(in: secretFile), of: secretFile)) }
        for path in publicKeys { keys.append(try await Self.publicKey(in: path)) }
        if let keySet { keys += try await Self.keys(inSet: keySet) }
        guard keys.count <= KeyRing.maximumKeys else {
            throw KeyError("the keys of tokens", "there are \(keys.count), and \(KeyRing.maximumKeys) is the most.")
        }
        return KeyRing(keys: keys)
    }

    // MARK: Secrets

    /// The secret in a file, without the line end that editors and `echo` add.
    static func secret(in path: String) throws(KeyError) -> [UInt8] {
        var secret = try KeyFile.read(path)
        if secret.last == UInt8(ascii: "\n") { secret.removeLast() }
        if secret.last == UInt8(ascii: "\r") { secret.removeLast() }
        return secret
    }

    /// Refuses a secret that could be guessed, or that is none.
    static func check(secret: [UInt8], of source: String) throws(KeyError) {
        guard !secret.starts(with: Array("-----BEGIN ".utf8)) else {
            throw KeyError(source, "this is a key in PEM and no secret: give it to --jwt-key, if it is a public one.")
        }
        guard secret.count >= minimumSecretBytes else {
            throw KeyError(
                source,
                "a secret has \(minimumSecretBytes) bytes or more, and this one \(secret.count): "
                    + "try openssl rand -base64 32.")
        }
    }

    private static func key(secret: [UInt8], of source: String) async throws(KeyError) -> KeyRing.Key {
        try check(secret: secret, of: source)
        let collection = JWTKeyCollection()
        await collection.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
        return try await key(.hs256, id: nil, of: collection, source)
    }

    // MARK: Public keys

    private static func publicKey(in path: String) async throws(KeyError) -> KeyRing.Key {
        let pem = String(decoding: try KeyFile.read(path), as: UTF8.self)
        guard !pem.contains("PRIVATE KEY-----") else {
            throw KeyError(
                path, "this is a private key, and a server needs the public one only: openssl pkey -pubout makes it.")
        }
        let collection = JWTKeyCollection()
        // What kind of key it is nobody has said; each kind refuses the others'.
        if let rsa = try? Insecure.RSA.PublicKey(pem: pem) {
            await collection.add(rsa: rsa, digestAlgorithm: .sha256)
            return try await key(.rs256, id: nil, of: collection, path)
        }
        if let ecdsa = try? ES256PublicKey(pem: pem) {
            await collection.add(ecdsa: ecdsa)
            return try await key(.es256, id: nil, of: collection, path)
        }
        if let edDSA = try? EdDSA.PublicKey(pem: pem) {
            await collection.add(eddsa: edDSA)
            return try await key(.edDSA, id: nil, of: collection, path)
        }
        throw KeyError(
            path, "this is no public key in PEM for RS256 (2048 bits or more), ES256 (P-256) or EdDSA (Ed25519).")
    }

    /// The keys of a set that can be used here. Others are passed over, as RFC 7517, section 5, has it: sets have keys
    /// for other algorithms, and for encryption.
    private static func keys(inSet path: String) async throws(KeyError) -> [KeyRing.Key] {
        guard let set = try? JSONDecoder().decode(KeySet.self, from: Data(KeyFile.read(path))) else {
            throw KeyError(path, "it cannot be read as a JSON Web Key Set.")
        }
        var keys: [KeyRing.Key] = []
        for entry in set.keys {
            guard let (algorithm, jwk) = entry.signing else { continue }
            let collection = JWTKeyCollection()
            guard (try? await collection.add(jwk: jwk)) != nil else { continue }
            keys.append(try await key(algorithm, id: entry.id, of: collection, path))
        }
        guard !keys.isEmpty else {
            throw KeyError(path, "the set has no key for RS256, ES256 or EdDSA.")
        }
        return keys
    }

    /// The one key of a collection, as it verifies without the collection, which is an actor: on a loop a signature is
    /// checked at once or not at all.
    private static func key(
        _ algorithm: KeyRing.Algorithm, id: String?, of collection: JWTKeyCollection, _ source: String
    ) async throws(KeyError) -> KeyRing.Key {
        do {
            return KeyRing.Key(algorithm: algorithm, id: id, verifier: try await collection.getKey())
        } catch {
            throw KeyError(source, "the key cannot be used for \(algorithm.rawValue).")
        }
    }
}

/// A JSON Web Key Set, of which every key is read for itself.
private struct KeySet: Decodable {
    let keys: [Entry]

    struct Entry: Decodable {
        /// The key's name.
        let id: String?
        /// What it is and which algorithm it is for; `nil` if it cannot be used.
        let signing: (KeyRing.Algorithm, JWK)?

        private enum CodingKeys: String, CodingKey {
            case use
        }

        init(from decoder: any Decoder) throws {
            let use = try? decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .use)
            guard var jwk = try? JWK(from: decoder), use == nil || use == "sig" else {
                (id, signing) = (nil, nil)
                return
            }
            id = jwk.keyIdentifier?.string
            guard let algorithm = Self.algorithm(of: jwk) else {
                signing = nil
                return
            }
            jwk.algorithm = JWK.Algorithm(rawValue: algorithm.rawValue)
            // A name that the collection wants, and that no token is held against.
            jwk.keyIdentifier = jwk.keyIdentifier ?? "unnamed"
            signing = (algorithm, jwk)
        }

        /// The algorithm that a key is for: the one that it names, or else the one of the server's that its kind has.
        private static func algorithm(of jwk: JWK) -> KeyRing.Algorithm? {
            let kind: KeyRing.Algorithm? =
                switch jwk.keyType {
                case .rsa: .rs256
                case .ecdsa: jwk.curve == .ecdsa(.p256) ? .es256 : nil
                case .octetKeyPair: jwk.curve == .eddsa(.ed25519) ? .edDSA : nil
                default: nil
                }
            guard let named = jwk.algorithm else { return kind }
            return named.rawValue == kind?.rawValue ? kind : nil
        }
    }
}
