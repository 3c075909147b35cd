/// The algorithms that tokens are signed with (RFC 7518, section 3.1; RFC 8037, section 3.1).
///
/// The raw value is the name in a token's `alg`.
package enum SignatureAlgorithm: String, Sendable, CaseIterable {
    /// HMAC with SHA-256 under a shared secret.
    case hs256 = "HS256"
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
    /// EdDSA on Ed25519.
    case edDSA = "EdDSA"
}
