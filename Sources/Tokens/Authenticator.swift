public import Chat
public import Wire

/// Learns on one loop who the callers are by their tokens.
///
/// It does so at once, on the loop: a good token is checked with its first request only, which takes some microseconds
/// with a secret and less than a tenth of a millisecond with the other kinds of keys, and no request has to wait for
/// another thread or can overtake one of its connection.
public struct Authenticator {
    private let verifier: TokenVerifier
    private var cache = TokenCache()

    /// Holds tokens against these rules.
    public init(_ rules: TokenRules) {
        verifier = TokenVerifier(rules: rules)
    }

    /// Verifies a token.
    ///
    /// - Throws: 401 with one of the token's codes.
    public mutating func identity(of text: String, at now: Timestamp = .now()) throws(Problem) -> Identity {
        let token = TokenCache.Token(text)
        if let known = cache.identity(of: token, at: now) { return known }
        let identity = try verifier.identity(of: token.bytes, at: now)
        cache.insert(token, identity)
        return identity
    }
}
