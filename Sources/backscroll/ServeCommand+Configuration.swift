public import ArgumentParser
import Chat
import Commands
import HTTP
public import Logging
public import Server
import Tokens
import Transport

/// Checks the options, and turns them into the server's configuration.
extension ServeCommand {
    func validate() throws {
        for (option, setting) in settings {
            if let refusal = setting.refusal { throw ValidationError("--\(option) \(refusal)") }
        }
        let configuration = serverConfiguration
        // A body that is within its own limit must fit.
        try check(
            configuration.pendingBytes, configuration.http.bodyBytes...64 * 1024 * 1024 * 1024, "max-pending-bytes")
        guard !proxyProtocol || !trustProxy.isEmpty else {
            throw ValidationError("--proxy-protocol needs the addresses of the balancers: add --trust-proxy.")
        }
        guard (tlsCert == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-cert and --tls-key go together.")
        }
        guard (beforeSend == nil) == (beforeSendSecretFile == nil) else {
            throw ValidationError("--before-send and --before-send-secret-file go together.")
        }
        guard !keySources.isEmpty || jwtIssuer == nil && jwtAudience == nil else {
            throw ValidationError(
                "--jwt-issuer and --jwt-audience need a key: add --jwt-secret-file, --jwt-key or --jwks.")
        }
    }

    /// The values of the options that go into the configuration by themselves, with the options' names.
    private var settings: [(option: String, setting: Setting)] {
        EnvironmentArguments.options(of: self).flatMap { name, property -> [(option: String, setting: Setting)] in
            switch property {
            case let option as Option<Setting>: [(name, option.wrappedValue)]
            case let list as Option<[Setting]>: list.wrappedValue.map { (name, $0) }
            default: []
            }
        }
    }

    /// The files with secrets, and the options that name them.
    var secretFiles: [(option: String, path: String)] {
        [
            ("--jwt-secret-file", jwtSecretFile), ("--tls-key", tlsKey),
            ("--before-send-secret-file", beforeSendSecretFile),
        ].compactMap { option, path in path.map { (option, $0) } }
    }

    var keySources: KeySources {
        var sources = KeySources()
        sources.secret = EnvironmentArguments.current[KeySources.secretVariable]
        sources.secretFile = jwtSecretFile
        // Keep an empty path, which is refused later: a variable that was meant to name a key must not lead to open
        // mode.
        sources.publicKeys = jwtKey.flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        sources.keySet = jwks
        return sources
    }

    /// The rules that tokens are verified by; `nil` in open mode.
    func tokenRules(_ sources: KeySources) throws -> TokenRules? {
        guard !sources.isEmpty else { return nil }
        return TokenRules(keys: try sources.load(), issuer: jwtIssuer, audience: jwtAudience)
    }

    /// The configuration that the options ask for, except for the keys of tokens.
    var serverConfiguration: ServerConfiguration {
        var configuration = Self.defaults
        for (_, setting) in settings { setting.apply(&configuration) }
        if let tlsCert, let tlsKey { configuration.tls = TLSConfiguration(certificate: tlsCert, key: tlsKey) }
        configuration.proxyProtocol = proxyProtocol
        configuration.insecureOpen = insecureOpen
        configuration.faults = faults
        configuration.compression = !noCompression
        configuration.roomsByAdminsOnly = roomsByAdminsOnly
        configuration.membersByAdminsOnly = membersByAdminsOnly
        configuration.unsafeDatabase = unsafeDatabase
        configuration.webhookHTTP = webhookAllowHttp
        configuration.webhookProxy = webhookProxy
        if let beforeSend, let beforeSendSecretFile {
            configuration.beforeSend = BeforeSendConfiguration(
                url: beforeSend, secretFile: beforeSendSecretFile, failure: beforeSendFailure)
        }
        configuration.pushContent = pushContent
        configuration.page = !noPage
        configuration.presence = !noPresence
        configuration.readNotices = !noReadNotices
        configuration.readReceipts = !noReadReceipts
        configuration.search = !noSearch
        configuration.requestLogging = logRequests
        return configuration
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
extension LogFormat: ExpressibleByArgument {}
extension RequestLogging: ExpressibleByArgument {}
extension BeforeSendConfiguration.Failure: ExpressibleByArgument {}
extension PushContent: ExpressibleByArgument {}
