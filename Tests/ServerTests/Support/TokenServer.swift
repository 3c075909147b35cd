import HTTP
import HTTPTypes
import Logging
import Server
import TestSupport
import Tokens
import Wire

/// Runs `body` with a server that wants tokens.
///
/// - Parameters:
///   - sources: the keys; a secret, ``TestKeys/secret``, if nil.
///   - configure: changes what the server is started with.
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
    /// The secret of the tests.
    static var test: KeySources {
        var sources = KeySources()
        sources.secret = TestKeys.secret
        return sources
    }
}

/// Tokens by the secret of the tests.
enum TestToken {
    /// A token with these claims beside its end.
    ///
    /// - Parameters:
    ///   - claims: further claims, `"admin":true` say.
    ///   - seconds: its `exp`, from now.
    static func of(
        _ user: String, _ claims: String..., expiringIn seconds: Int64 = 600, secret: String = TestKeys.secret
    ) throws -> String {
        try TestKeys.token(payload: payload(user, claims, expiringIn: seconds), secret: secret)
    }

    /// The payload of such a token.
    static func payload(_ user: String, _ claims: [String] = [], expiringIn seconds: Int64 = 600) -> String {
        let expiry = Timestamp.now().milliseconds / 1000 + seconds
        return "{" + ([#""sub":"\#(user)","exp":\#(expiry)"#] + claims).joined(separator: ",") + "}"
    }
}

extension HTTPField {
    /// The field that carries a token.
    static func bearer(_ token: String) -> HTTPField {
        HTTPField("Authorization", "Bearer \(token)")
    }
}
