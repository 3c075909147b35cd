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
        guard curl_url_set(parts, CURLUPART_URL, url, flags) == CURLUE_OK else { return "must be an absolute URL" }
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
        guard part(CURLUPART_USER) == nil, part(CURLUPART_PASSWORD) == nil else {
            return "must have no user and no password"
        }
        guard part(CURLUPART_FRAGMENT) == nil else { return "must have no fragment" }
        let literal = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        if configuration.proxy == nil, let address = IPAddress(literal), !configuration.allows(address) {
            return "must not have the address \(address), which is not public"
        }
        return nil
    }
}
