import Signatures

/// The keys that tokens may be signed with.
///
/// Each is for one algorithm, which the operator's files decide and not the token (RFC 8725, section 3.1). So a public
/// key is never taken for a secret, and a token cannot ask for no signature at all.
public struct KeyRing: Sendable {
    /// The largest number of keys, because a bad token is checked against every key that its header fits.
    public static let maximumKeys = 64

    /// One key.
    struct Key: Sendable {
        /// The name that tokens call it by; `nil` if it has none, and then they may call it anything.
        let id: String?
        let verifyingKey: VerifyingKey
    }

    let keys: [Key]

    /// The number of keys.
    public var count: Int { keys.count }

    /// Returns true if one of the keys that the header fits has made the signature.
    ///
    /// Synchronous, so that a loop knows the caller before it goes on. Keys are not changed by it: any thread may verify.
    ///
    /// - Parameters:
    ///   - signature: the signature's bytes.
    ///   - text: the signed text: the header and payload as they stand in the token, with the dot between them.
    func verifies(_ signature: [UInt8], of text: ArraySlice<UInt8>, _ header: TokenHeader) -> Bool {
        for key in keys where key.verifyingKey.algorithm == header.algorithm {
            guard header.keyID == nil || key.id == nil || key.id == header.keyID else { continue }
            if key.verifyingKey.verifies(signature, of: text) { return true }
        }
        return false
    }
}
