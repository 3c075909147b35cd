/// The parts of an address on the command line: `http://host:port/path`, `ws://host:port/path`, `tcp://host:port`.
struct Endpoint: Equatable, Sendable {
    /// The scheme in lower case: `http`, `https`, `ws`, `wss` or `tcp`.
    var scheme: String
    /// A name or an address. An IPv6 address has no brackets.
    var host: String
    /// The port. The default is 80, or 443 with TLS; an address with `tcp` must have one.
    var port: Int
    /// The `Host` of requests (RFC 9110, section 7.2), as written.
    var authority: String
    /// The text from the first slash on, with the query; `/` if there is none, and for `tcp`.
    var target: String

    /// True if the connection uses TLS.
    var isSecure: Bool { scheme == "https" || scheme == "wss" }
    /// True if the address is for a protocol other than HTTP, over plain TCP.
    var isPlain: Bool { scheme == "tcp" }

    /// Parses an address.
    ///
    /// - Parameters:
    ///   - text: the user's input. Placeholders in the path are kept.
    ///   - schemes: the allowed schemes, such as `http`.
    ///   - source: the option's name, for the error.
    init(_ text: String, schemes: [String], source: String) throws(LoadError) {
        let expected = schemes.map { "\($0)://host:port" + ($0 == "tcp" ? "" : "/…") }.joined(separator: " or ")
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text[colon...].hasPrefix("://") else {
            throw LoadError("\(source): '\(text)' is not an address; expected \(expected)")
        }
        scheme = text[..<colon].lowercased()
        guard schemes.contains(scheme) else {
            throw LoadError("\(source): \(scheme):// is not supported here; expected \(expected)")
        }
        let rest = text[colon...].dropFirst(3)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let tail = rest[authority.endIndex...]
        self.authority = String(authority)
        target = tail.hasPrefix("/") ? String(tail) : "/" + tail
        let usual = ["http": 80, "ws": 80, "https": 443, "wss": 443]
        (host, port) = try Self.split(authority, defaultPort: usual[scheme], source: source)
        guard !isPlain || target == "/" else { throw LoadError("\(source): tcp:// has no path") }
        guard target.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "#") }) else {
            throw LoadError("\(source): the path must not contain spaces, control characters or '#'")
        }
    }

    private static func split(
        _ authority: Substring, defaultPort: Int?, source: String
    ) throws(LoadError) -> (String, Int) {
        var host = authority
        var digits: Substring?
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            host = authority[..<end].dropFirst()
            let after = authority[authority.index(after: end)...]
            if !after.isEmpty { digits = after.dropFirst(after.hasPrefix(":") ? 1 : 0) }
        } else if let colon = authority.lastIndex(of: ":") {
            host = authority[..<colon]
            digits = authority[authority.index(after: colon)...]
        }
        let port = digits.map { Int($0) ?? 0 } ?? defaultPort ?? 0
        guard !host.isEmpty, !authority.contains("@"), (1...65_535).contains(port) else {
            throw LoadError("\(source): '\(authority)' is not a host and port")
        }
        return (String(host), port)
    }
}
