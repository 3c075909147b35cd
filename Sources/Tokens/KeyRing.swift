import JWTKit

/// The keys that tokens may be signed with.
///
/// Each is for one algorithm, as the operator's files have it and not as a token says (RFC 8725, section 3.1): so a
/// public key is never taken for a secret, and there is no way to ask for no signature at all.
public struct KeyRing: Sendable {
    /// The most keys that there are, because a bad token is held against all that its header fits.
    public static let maximumKeys = 64

    /// The algorithms that tokens are signed with (RFC 7518, section 3.1; RFC 8037, section 3.1).
    enum Algorithm: String, Sendable {
        case hs256 = "HS256"
        case rs256 = "RS256"
        case es256 = "ES256"
        case edDSA = "EdDSA"
    }

    /// One key.
    struct Key: Sendable {
        let algorithm: Algorithm
        /// What tokens call it; `nil` if it has no name, and then they may call it anything.
        let id: String?
        let verifier: any JWTAlgorithm
    }

    let keys: [Key]

    /// How many keys there are.
    public var count: Int { keys.count }

    /// Whether one of the keys that the header fits has made the signature.
    ///
    /// - Parameters:
    ///   - signature: the signature's bytes.
    ///   - text: what it signs: the header and payload as they stand in the token, with the dot between them.
    func verifies(_ signature: [UInt8], of text: ArraySlice<UInt8>, _ header: TokenHeader) -> Bool {
        for key in keys where key.algorithm == header.algorithm {
            guard header.keyID == nil || key.id == nil || key.id == header.keyID else { continue }
            // What cannot be a signature of the key's kind is an error there, and no signature here.
            if (try? key.verifier.verify(signature, signs: text)) == true { return true }
        }
        return false
    }
}
