/// An origin as browsers send it: `scheme://host[:port]`, or `null` for an opaque origin (RFC 6454, section 7).
public struct Origin: Sendable, Hashable {
    /// The origin in lower case, without the scheme's default port.
    public let text: String
    /// Host and port, always with the port. `nil` for `null`, and for a scheme without a default port if no port was
    /// given.
    package let hostAndPort: String?
    /// The default port of the scheme.
    private let defaultPort: String?

    /// Parses an `Origin` field or a configuration entry. Returns `nil` unless it is `null`, or scheme, host and
    /// optional port. Anything after them, even a slash, is an error.
    public init?(_ value: String) {
        guard value != "null" else {
            text = value
            hostAndPort = nil
            defaultPort = nil
            return
        }
        guard let schemeEnd = value.withUTF8Span(Self.endOfScheme) else { return nil }
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

    /// Returns the index of the colon if the text is a scheme, `://` and an authority; `nil` otherwise.
    private static func endOfScheme(_ text: Span<UInt8>) -> Int? {
        guard let end = text.firstIndex(of: ASCII.colon), end > 0, text.count > end + 3,
            text[end + 1] == ASCII.slash, text[end + 2] == ASCII.slash, text.extracting(first: end).isToken,
            Authority.isValid(text.extracting((end + 3)...))
        else { return nil }
        return end
    }

    /// Returns true if this is the origin of a server that was addressed with this `Host`.
    ///
    /// Schemes are not compared: behind a proxy that terminates TLS, the server does not know its own. A Host without a
    /// port has the default port of the origin's scheme.
    public func isSame(asHost host: String) -> Bool {
        guard let hostAndPort else { return false }
        let (name, port) = Self.split(Substring(host.lowercased()))
        guard let port = port ?? defaultPort else { return false }
        return hostAndPort == "\(name):\(port)"
    }

    /// Splits an authority into host and port. An empty port is `nil`.
    private static func split(_ authority: Substring) -> (host: Substring, port: String?) {
        guard let colon = authority.utf8.lastIndex(of: ASCII.colon),
            !authority[colon...].utf8.contains(ASCII.rightBracket)
        else { return (authority, nil) }
        let port = authority[authority.utf8.index(after: colon)...]
        return (authority[..<colon], port.isEmpty ? nil : String(port))
    }
}
