/// The reason why a server does not start with this configuration.
public struct ServerError: Error, Sendable, CustomStringConvertible {
    private enum Code: Sendable {
        case openBeyondLoopback, badOrigin, badHost, proxyProtocolWithoutProxies, tooFewDescriptors, faultsWithKeys
    }

    private let code: Code
    /// What is wrong, and what can be done, for the person who starts the server.
    public let description: String

    /// The system allows the process too few open files.
    static func tooFewDescriptors(_ limit: Int, needed: Int) -> ServerError {
        ServerError(
            code: .tooFewDescriptors,
            description: "the limit of open files is \(limit), and with this many threads it must be \(needed) at "
                + "least: raise it (ulimit -n), or use fewer --threads and --readers.")
    }

    /// Users whom tokens name are no testers.
    static var faultsWithKeys: ServerError {
        ServerError(
            code: .faultsWithKeys,
            description: "--faults has the server misbehave for whoever asks, so it is for trying clients in open mode "
                + "only: leave out the keys (--jwt-secret-file, --jwt-key, --jwks), or --faults.")
    }

    /// What is to be allowed is no origin.
    static func badOrigin(_ text: String) -> ServerError {
        ServerError(
            code: .badOrigin,
            description: "'\(text)' is no origin: it must be like https://app.example.com, without a path, or *.")
    }

    /// A name that `--allow-host` gives is no host name.
    static func badHost(_ text: String) -> ServerError {
        ServerError(
            code: .badHost,
            description:
                "--allow-host takes a host name like chat.example.com, without a scheme or a port, and not '\(text)'. "
                + "To accept every name, use --insecure-open.")
    }

    /// Anybody could claim any address.
    static var proxyProtocolWithoutProxies: ServerError {
        ServerError(
            code: .proxyProtocolWithoutProxies,
            description: "--proxy-protocol takes addresses from trusted balancers only: name theirs with --trust-proxy."
        )
    }

    /// Everybody could use any name.
    static func openBeyondLoopback(_ host: String) -> ServerError {
        ServerError(
            code: .openBeyondLoopback,
            description: "without a key anybody may use any name, so the server listens on this machine only: "
                + "\(host) is reachable from others. Pass --insecure-open if that is what you want.")
    }
}
