import Chat
import Wire

/// What tokens are held against.
public struct TokenRules: Sendable {
    /// The keys that they may be signed with.
    public var keys: KeyRing
    /// What their `iss` must be; `nil` for anything.
    public var issuer: String?
    /// What must be in their `aud`; `nil` if the server goes by no name, and then they must have none.
    public var audience: String?
    /// By how much the clocks of issuer and server may differ: a token is taken for so much longer than its `exp`, and
    /// so much earlier than its `nbf`, says (RFC 7519, sections 4.1.4 and 4.1.5).
    public var leeway = Duration.seconds(60)

    /// The rules for tokens of these keys.
    public init(keys: KeyRing, issuer: String? = nil, audience: String? = nil) {
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
    }
}

/// Tells whether a token is good, and whom it names: a JSON Web Token in the compact form (RFC 7519, RFC 7515).
struct TokenVerifier: Sendable {
    /// The largest token, in bytes, that is looked at.
    static let maximumBytes = 8 * 1024

    let rules: TokenRules

    /// Verifies a token.
    ///
    /// - Throws: 401 with one of the token's codes. Nothing of the token is in the detail.
    func identity(of token: [UInt8], at now: Timestamp) throws(Problem) -> Identity {
        guard token.count <= Self.maximumBytes else {
            throw .tokenInvalid(
                "The token must not have more than \(Self.maximumBytes) bytes.", limit: Self.maximumBytes)
        }
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else {
            throw .tokenInvalid("The token is no JSON Web Token with a signature.")
        }
        let text = token[..<parts[1].endIndex]
        guard rules.keys.verifies(signature, of: text, try TokenHeader(header)) else {
            throw .tokenInvalid("The token is not signed with a key of this server.")
        }
        return try identity(of: Claims(payload), at: now)
    }

    /// What claims amount to, whose signature is good.
    func identity(of claims: Claims, at now: Timestamp) throws(Problem) -> Identity {
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
            throw .tokenInvalid("The token's iss is not the issuer that this server takes tokens of.")
        }
        try checkAudience(claims.audience)
        // The leeway is for those who come with the token. A socket that is open has time to renew it, and does not
        // outlive it, unless the token is past its end already.
        return Identity(
            user: user, rooms: claims.rooms, isAdmin: claims.isAdmin, end: now < expiration ? expiration : latest)
    }

    /// A server that the token is not meant for must refuse it, also one that has not been told who it is (RFC 7519,
    /// section 4.1.3).
    private func checkAudience(_ audience: [String]?) throws(Problem) {
        if let name = rules.audience {
            guard let audience, audience.contains(name) else {
                throw .tokenInvalid("The token's aud does not name this server.")
            }
        } else if audience != nil {
            throw .tokenInvalid("The token has an aud, and this server has no name: see --jwt-audience.")
        }
    }

    /// A NumericDate as a moment that can be reckoned with: what lies beyond all years is the end of the last.
    private func moment(_ seconds: Double, plus duration: Duration) -> Timestamp {
        let (whole, attoseconds) = duration.components
        let milliseconds = (seconds + Double(whole)) * 1000 + Double(attoseconds / 1_000_000_000_000_000)
        return Timestamp(milliseconds: Int64(min(max(milliseconds, -1e15), 1e15)))
    }
}
