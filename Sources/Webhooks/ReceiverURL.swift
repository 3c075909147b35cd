import CCurl
import Transport

/// The URL of a receiver.
public enum ReceiverURL {
    /// Maximum length in bytes.
    public static let maximumBytes = 2048

    /// Returns what is wrong with a URL, as a clause that follows the field's name; `nil` if it can be used.
    ///
    /// A name is not looked up: what it stands for may change, and is judged at each connection.
    public static func problem(_ url: String, _ configuration: SenderConfiguration) -> String? {
        guard url.utf8.count <= maximumBytes else { return "must be at most \(maximumBytes) bytes long" }
        guard url.unicodeScalars.allSatisfy({ $0.value > 32 && $0.value != 127 }) else {
            return "must have no spaces and no control characters"
        }
        let parts = curl_url()
        defer { curl_url_cleanup(parts) }
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME)
        switch curl_url_set(parts, CURLUPART_URL, url, flags) {
        case CURLUE_OK: break
        case CURLUE_BAD_PORT_NUMBER: return wrongPort
        default: return "must be an absolute URL"
        }
        func part(_ part: CURLUPart) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            guard curl_url_get(parts, part, &text, 0) == CURLUE_OK, let text else { return nil }
            // The caller must free the text.
            defer { curl_free(text) }
            return String(cString: text)
        }
        let scheme = part(CURLUPART_SCHEME)
        guard scheme == "https" || (scheme == "http" && configuration.allowsHTTP) else {
            return configuration.allowsHTTP ? "must begin with https:// or http://" : "must begin with https://"
        }
        guard let host = part(CURLUPART_HOST), !host.isEmpty else { return "must have a host" }
        // libcurl would convert it only in a locale with UTF-8, and not in all builds.
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else {
            return "must have its host name in ASCII, an international one as xn--…"
        }
        if part(CURLUPART_PORT) == "0" { return wrongPort }
        guard part(CURLUPART_USER) == nil, part(CURLUPART_PASSWORD) == nil else {
            return "must have no user and no password"
        }
        guard part(CURLUPART_FRAGMENT) == nil else { return "must have no fragment" }
        let literal = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        if let address = IPAddress(literal) {
            guard configuration.proxy != nil || configuration.allows(address) else {
                return "must not have the address \(address), which is not public"
            }
            return nil
        }
        if host.hasPrefix("[") { return nil }
        var labels = host.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        // The dot at the end of a complete name.
        if labels.last == "" { labels.removeLast() }
        guard labels.joined(separator: ".").utf8.count <= 253, labels.allSatisfy({ 1...63 ~= $0.utf8.count }),
            let last = labels.last, !last.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return "must have a host that is an address or a name of DNS" }
        if configuration.proxy == nil, last == "localhost", !loopback.contains(where: configuration.allows) {
            return "must not have the host localhost, which is not public"
        }
        return nil
    }

    private static let wrongPort = "must have a port from 1 to 65535"
    /// The addresses of `localhost` and the names below it (RFC 6761, section 6.3).
    private static let loopback = ["127.0.0.1", "::1"].compactMap { IPAddress($0) }
}
