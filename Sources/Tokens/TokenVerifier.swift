import Chat
import Signatures
import Wire

/// The rules that tokens are verified against.
public struct TokenRules: Sendable {
    /// The keys that tokens may be signed with.
    public var keys: KeyRing
    /// The required `iss`; `nil` accepts any.
    public var issuer: String?
    /// The required element of `aud`; `nil` if the server has no name. Tokens must then have no `aud`.
    public var audience: String?
    /// Maximum difference between the clocks of issuer and server. A token is accepted this long after its `exp` and
    /// before its `nbf` (RFC 7519, sections 4.1.4 and 4.1.5).
    public var leeway = Duration.seconds(60)

    /// Creates rules for tokens signed with these keys.
    public init(keys: KeyRing, issuer: String? = nil, audience: String? = nil) {
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
    }
}

/// Verifies JSON Web Tokens in the compact form (RFC 7519, RFC 7515) and returns their identities.
struct TokenVerifier: Sendable {
    /// Maximum size of a token in bytes.
    static let maximumBytes = 8 * 1024

    let rules: TokenRules

    /// Verifies a token.
    ///
    /// - Throws: 401 with one of the token's codes. The detail repeats nothing from the token.
    func identity(of token: [UInt8], at now: Timestamp) throws(Problem) -> Identity {
        guard token.count <= Self.maximumBytes else {
            throw .tokenInvalid(
                "The token must not have more than \(Self.maximumBytes) bytes.", limit: Self.maximumBytes)
        }
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else {
            throw .tokenInvalid("The token must be a signed JSON Web Token.")
        }
        let text = token[..<parts[1].endIndex]
        let properties = try TokenHeader(header)
        guard rules.keys.verifies(signature, of: text, properties) else {
            throw .tokenInvalid(
                rules.keys.verifiesWithLineEnd(signature, of: text, properties)
                    ? "The token is signed with the secret and the line end of its file. Remove the line end after reading the file."
                    : "The token is not signed with a key of this server.")
        }
        return try identity(of: Claims(payload), at: now)
    }

    /// Returns the identity that claims with a valid signature describe.
    func identity(of claims: Claims, at now: Timestamp) throws(Problem) -> Identity {
        // The sender name of erased users is refused here, as it is in open mode.
        if claims.subject?.hasSameBytes(as: UserID.deleted.string) == true { throw .invalidUser }
        guard let subject = claims.subject, let user = try? UserID(subject) else {
            throw .tokenInvalid("The token's sub must be a user id.")
        }
        guard let expiry = claims.expiry else { throw .tokenInvalid("The token must have an exp.") }
        let (expiration, latest) = (moment(expiry, plus: .zero), moment(expiry, plus: rules.leeway))
        guard now < latest else { throw .tokenExpired }
        if let notBefore = claims.notBefore, now < moment(notBefore, plus: .zero - rules.leeway) {
            throw .tokenNotYetValid
        }
        if let issuer = rules.issuer, claims.issuer != issuer {
            throw .tokenInvalid("The token's iss is not the issuer that this server accepts.")
        }
        try checkAudience(claims.audience)
        // The leeway applies to presenting the token. An open socket has time to renew its token and ends with it,
        // unless the token is already past its `exp`.
        return Identity(
            user: user, rooms: claims.rooms, isAdmin: claims.isAdmin, end: now < expiration ? expiration : latest,
            claimedProfile: ProfileSettings(claimedName: claims.name, picture: claims.picture))
    }

    /// Throws if the token is not meant for this server (RFC 7519, section 4.1.3). A server without a configured
    /// audience accepts no token with an `aud`.
    private func checkAudience(_ audience: [String]?) throws(Problem) {
        if let name = rules.audience {
            guard let audience, audience.contains(name) else {
                throw .tokenInvalid("The token's aud does not name this server.")
            }
        } else if audience != nil {
            throw .tokenInvalid("The token has an aud. Start the server with --jwt-audience to accept it.")
        }
    }

    /// Converts a NumericDate to a time. Dates outside the range of ``Timestamp`` become its nearest bound.
    private func moment(_ seconds: Double, plus duration: Duration) -> Timestamp {
        let milliseconds = (seconds + duration / .seconds(1)) * 1000
        return Timestamp(milliseconds: Int64(min(max(milliseconds, -1e15), 1e15)))
    }
}
