import Signatures

/// The keys that tokens may be signed with.
///
/// Each key is for one algorithm, which the operator's files determine and not the token (RFC 8725, section 3.1). A
/// public key is therefore never used as a secret, and a token cannot choose to be unsigned.
public struct KeyRing: Sendable {
    /// Maximum number of keys. An invalid token is checked against every key that matches its header.
    public static let maximumKeys = 64

    struct Key: Sendable {
        /// The id that tokens refer to; `nil` if it has none. A key without an id matches any id.
        let id: String?
        let verifyingKey: VerifyingKey
    }

    let keys: [Key]

    /// Number of keys.
    public var count: Int { keys.count }

    /// Returns true if the signature was made by one of the keys that match the header.
    ///
    /// It is synchronous, so that a loop knows the caller before it continues. It does not change the keys, so any
    /// thread may call it.
    ///
    /// - Parameters:
    ///   - signature: the bytes of the signature.
    ///   - text: the signed text: the encoded header and payload with the dot between them.
    func verifies(_ signature: [UInt8], of text: ArraySlice<UInt8>, _ header: TokenHeader) -> Bool {
        for key in keys where key.verifyingKey.algorithm == header.algorithm {
            guard header.keyID == nil || key.id == nil || key.id == header.keyID else { continue }
            if key.verifyingKey.verifies(signature, of: text) { return true }
        }
        return false
    }
}
