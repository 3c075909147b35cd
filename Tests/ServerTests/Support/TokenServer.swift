import HTTP
import HTTPTypes
import Logging
import Server
import TestSupport
import Tokens
import Wire

/// Runs `body` with a server with keys.
///
/// - Parameters:
///   - sources: The keys; by default the secret ``TestKeys/secret``.
///   - configure: Changes the server's configuration.
func withTokenServer<R>(
    _ sources: KeySources? = nil, logger: Logger = .silent,
    configure: (inout ServerConfiguration) -> Void = { _ in }, _ body: (LiveServer) throws -> R
) async throws -> R {
    let keys = try (sources ?? .test).load()
    return try withServer(
        {
            $0.tokens = TokenRules(keys: keys)
            configure(&$0)
        }, logger: logger, body)
}

extension KeySources {
    /// The tests' secret.
    static var test: KeySources {
        var sources = KeySources()
        sources.secret = TestKeys.secret
        return sources
    }
}

/// Tokens signed with the tests' secret.
enum TestToken {
    /// Returns a token with these claims and an expiry.
    ///
    /// - Parameters:
    ///   - claims: Further claims, for example `"admin":true`.
    ///   - seconds: The time until its `exp`.
    static func of(
        _ user: String, _ claims: String..., expiringIn seconds: Int64 = 600, secret: String = TestKeys.secret
    ) throws -> String {
        try TestKeys.token(payload: payload(user, claims, expiringIn: seconds), secret: secret)
    }

    /// Returns the payload of such a token.
    static func payload(_ user: String, _ claims: [String] = [], expiringIn seconds: Int64 = 600) -> String {
        let expiry = Timestamp.now().milliseconds / 1000 + seconds
        return "{" + ([#""sub":"\#(user)","exp":\#(expiry)"#] + claims).joined(separator: ",") + "}"
    }
}

extension HTTPField {
    /// Returns the header field with a token.
    static func bearer(_ token: String) -> HTTPField {
        HTTPField("Authorization", "Bearer \(token)")
    }
}
