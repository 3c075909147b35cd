/// The values of `Host` that a server without authentication answers to. It protects against DNS rebinding.
///
/// A web page can make the name that it was loaded from resolve to 127.0.0.1 afterwards. The browser then regards its
/// requests to this server as same-origin; only `Host`, which has the page's name, gives them away. An IP address in
/// `Host` is safe, because the page was then loaded from that address.
public struct HostPolicy: Sendable {
    /// The names, in lower case and without a final dot.
    private let names: [String]

    /// Creates a policy that accepts `localhost`, IP addresses, and `names`. Case and a final dot do not matter.
    public init(names: [String] = []) {
        self.names = (["localhost"] + names).map(Self.normalized)
    }

    /// Returns true if `text` can be given to ``init(names:)``: a host name without a port, or an IPv4 address.
    public static func isName(_ text: String) -> Bool {
        text.withUTF8Span { bytes in
            Authority.isValid(bytes) && bytes[0] != ASCII.leftBracket
                && bytes.firstIndex(of: ASCII.colon) == nil && bytes.firstIndex(of: ASCII.percent) == nil
        }
    }

    /// Returns true if the request's host is accepted. The host is the authority of a target in absolute-form, else
    /// Host. A request with neither is not accepted. The port does not matter.
    public func accepts(_ request: RequestHead) -> Bool {
        request.withAuthority { authority in if let authority { accepts(authority) } else { false } }
    }

    /// Returns true if the host of `authority`, `host [":" port]`, is accepted. Compares the bytes in place, without
    /// strings: it runs for every request.
    func accepts(_ authority: Span<UInt8>) -> Bool {
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
