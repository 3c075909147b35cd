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
        /// The secret with the line end of its file; nil if the file has none, and for other keys. Tokens signed with it
        /// are refused with an error that names the cause.
        var withLineEnd: VerifyingKey?
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

    /// Returns true if the signature was made by a secret together with the line end of its file, which is not part of the
    /// secret: an issuer that reads a whole file signs so.
    func verifiesWithLineEnd(_ signature: [UInt8], of text: ArraySlice<UInt8>, _ header: TokenHeader) -> Bool {
        keys.contains { key in
            guard let longer = key.withLineEnd, longer.algorithm == header.algorithm else { return false }
            return longer.verifies(signature, of: text)
        }
    }
}
