/// An origin as browsers send it: `scheme://host[:port]`, or `null` for one that is not told (RFC 6454, section 7).
public struct Origin: Sendable, Hashable {
    /// The origin in lower case, without the scheme's default port.
    public let text: String
    /// Host and port, the port always there; `nil` for `null` and for schemes without a default port and none given.
    let hostAndPort: String?
    /// The port that the scheme has by default.
    private let defaultPort: String?

    /// Reads an `Origin` field, or an entry of a configuration. `nil` if it is neither `null` nor scheme, host and
    /// port: anything behind them (a path, a slash) is a mistake too.
    public init?(_ value: String) {
        guard value != "null" else {
            text = value
            hostAndPort = nil
            defaultPort = nil
            return
        }
        let bytes = value.utf8.span
        guard let schemeEnd = bytes.firstIndex(of: ASCII.colon), schemeEnd > 0, bytes.count > schemeEnd + 3,
            bytes[schemeEnd + 1] == ASCII.slash, bytes[schemeEnd + 2] == ASCII.slash,
            bytes.extracting(first: schemeEnd).isToken,
            Authority.isValid(bytes.extracting((schemeEnd + 3)...), port: .optional)
        else { return nil }
        let lowered = value.lowercased()
        let scheme = lowered.prefix(schemeEnd)
        let authority = lowered.dropFirst(schemeEnd + 3)
        defaultPort =
            switch scheme {
            case "http", "ws": "80"
            case "https", "wss": "443"
            default: nil
            }
        let (host, port) = Self.split(authority)
        if let port, port != defaultPort { text = "\(scheme)://\(host):\(port)" } else { text = "\(scheme)://\(host)" }
        hostAndPort = (port ?? defaultPort).map { "\(host):\($0)" }
    }

    /// Returns whether this is the origin of a server that was addressed with this `Host`.
    ///
    /// The scheme is left out of it: behind a proxy that ends TLS the server does not know its own. A Host without a
    /// port has the default port of the origin's scheme.
    public func isSame(asHost host: String) -> Bool {
        guard let hostAndPort else { return false }
        let (name, port) = Self.split(Substring(host.lowercased()))
        guard let port = port ?? defaultPort else { return false }
        return hostAndPort == "\(name):\(port)"
    }

    /// Host and port of an authority; an empty port is none.
    private static func split(_ authority: Substring) -> (host: Substring, port: String?) {
        guard let colon = authority.utf8.lastIndex(of: ASCII.colon),
            !authority[colon...].utf8.contains(ASCII.rightBracket)
        else { return (authority, nil) }
        let port = authority[authority.utf8.index(after: colon)...]
        return (authority[..<colon], port.isEmpty ? nil : String(port))
    }
}
