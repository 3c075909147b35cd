public import Chat
public import Wire

/// Identifies callers by their tokens. Confined to one loop.
///
/// It works synchronously on the loop, so no request waits for another thread or overtakes another one of its
/// connection. A valid token is verified once and then cached.
public struct Authenticator {
    private let verifier: TokenVerifier
    private var cache = TokenCache()

    /// Creates an authenticator with these rules.
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
