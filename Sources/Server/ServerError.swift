/// The reason why a server does not start with this configuration.
public struct ServerError: Error, Sendable, CustomStringConvertible {
    /// The reason and a remedy, for the person who starts the server.
    public let description: String

    /// The process may open too few files.
    static func tooFewDescriptors(_ limit: Int, needed: Int) -> ServerError {
        ServerError(
            description: "the limit of open files is \(limit), but this number of threads needs at least \(needed): "
                + "raise it (ulimit -n), or use fewer --threads and --readers.")
    }

    /// `--faults` is combined with token keys. Faults are only for testing clients in open mode.
    static var faultsWithKeys: ServerError {
        ServerError(
            description: "--faults lets every request make the server misbehave, so it is for testing clients in open "
                + "mode only. Remove either the keys (--jwt-secret-file, --jwt-key, --jwks) or --faults.")
    }

    /// `--allow-origin` has a value that is not an origin.
    static func badOrigin(_ text: String) -> ServerError {
        ServerError(
            description:
                "--allow-origin takes an origin like https://app.example.com, without a path, or *, not '\(text)'.")
    }

    /// `--allow-host` has a value that is not a host name.
    static func badHost(_ text: String) -> ServerError {
        ServerError(
            description:
                "--allow-host takes a host name like chat.example.com, without a scheme or a port, not '\(text)'. "
                + "To accept every name, use --insecure-open.")
    }

    /// `--proxy-protocol` is used without `--trust-proxy`: any client could claim any address.
    static var proxyProtocolWithoutProxies: ServerError {
        ServerError(
            description: "--proxy-protocol accepts addresses from trusted balancers only: list them with --trust-proxy."
        )
    }

    /// `--before-send` has no URL of a receiver.
    static func badBeforeSend(_ problem: String) -> ServerError {
        ServerError(description: "The URL of --before-send \(problem).")
    }

    /// `--before-send-secret-file` has no secret.
    static func badBeforeSendSecret(_ path: String, _ problem: String) -> ServerError {
        ServerError(description: "cannot use --before-send-secret-file \(path): \(problem)")
    }

    /// A server without keys would listen beyond loopback: any client could use any name.
    static func openBeyondLoopback(_ host: String) -> ServerError {
        ServerError(
            description: "without a key any client can use any name, so by default the server listens on this machine "
                + "only, but \(host) is reachable from others. Pass --insecure-open if that is what you want.")
    }
}
