/// The values of `Host` that a server without authentication answers to: its protection against DNS rebinding.
///
/// A web page can have the name that it was loaded from point to 127.0.0.1 afterwards. Its requests then come from the
/// same origin as far as the browser can tell, and only their `Host` gives them away: it is the page's name. A literal
/// address is no such name, because a page that has an address for its origin was loaded from that address.
public struct HostPolicy: Sendable {
    /// The names, in lower case and without a final dot.
    private let names: [String]

    /// A policy that accepts `localhost`, IP addresses, and these names. Case and a final dot do not matter.
    public init(names: [String] = []) {
        self.names = (["localhost"] + names).map(Self.normalized)
    }

    /// True for what can be given to ``init(names:)``: a host name without a port, which may also be an IPv4 address.
    public static func isName(_ text: String) -> Bool {
        let bytes = text.utf8.span
        return Authority.isValid(bytes, port: .optional) && bytes[0] != ASCII.leftBracket
            && bytes.firstIndex(of: ASCII.colon) == nil && bytes.firstIndex(of: ASCII.percent) == nil
    }

    /// True when a request was sent to an accepted host: by the authority of its target if that is in absolute-form, or
    /// else by its Host. A request without either is not accepted. The port does not matter.
    public func accepts(_ request: RequestHead) -> Bool {
        request.withAuthority { authority in if let authority { accepts(authority) } else { false } }
    }

    /// True when `authority`, `host [":" port]`, has an accepted host.
    public func accepts(authority: String) -> Bool {
        accepts(authority.utf8.span)
    }

    /// Compares bytes in place: this is done for each request.
    private func accepts(_ authority: Span<UInt8>) -> Bool {
        guard !authority.isEmpty else { return false }
        if authority[0] == ASCII.leftBracket {
            guard let end = authority.firstIndex(of: ASCII.rightBracket) else { return false }
            return AddressV6.isValid(authority.extracting(1..<end))
        }
        var end = authority.firstIndex(of: ASCII.colon) ?? authority.count
        if end > 1, authority[end - 1] == ASCII.dot { end -= 1 }
        let host = authority.extracting(first: end)
        for name in names where host.equals(ignoringCase: name) { return true }
        return AddressV6.isAddressV4(host)
    }

    private static func normalized(_ name: String) -> String {
        let lowered = name.lowercased()
        return lowered.count > 1 && lowered.hasSuffix(".") ? String(lowered.dropLast()) : lowered
    }
}
