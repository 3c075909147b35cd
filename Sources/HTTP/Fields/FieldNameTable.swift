import HTTPTypes

/// What this codec itself does with a field; all others are only passed on.
enum FieldRole: Sendable {
    case plain, host, contentLength, transferEncoding, connection, expect
}

/// Recognises the usual field names by their bytes, in any case (RFC 9110, section 5.1), so that no string has to be
/// made, checked and put into lower case for them.
struct FieldNameTable: Sendable {
    /// A name that is known.
    struct Entry: Sendable {
        let name: HTTPField.Name
        let role: FieldRole
        /// Where the lower-cased name begins in ``FieldNameTable/letters``.
        fileprivate let start: Int
        fileprivate let count: Int
    }

    /// The only table: it is a constant.
    static let known = FieldNameTable()

    /// Open addressing; the hash is the first and last letter and the length, which hardly ever collide.
    private var slots: [Entry?] = Array(repeating: nil, count: 256)
    /// The names in lower case, one after the other.
    private var letters: [UInt8] = []

    private init() {
        // swift-http-types has no constant for Host: what it says becomes the request's authority.
        if let host = HTTPField.Name("host") { insert(host, .host) }
        insert(.contentLength, .contentLength)
        insert(.transferEncoding, .transferEncoding)
        insert(.connection, .connection)
        insert(.expect, .expect)
        let plain: [HTTPField.Name] = [
            .accept, .acceptEncoding, .acceptLanguage, .accessControlAllowHeaders, .accessControlAllowMethods,
            .accessControlAllowOrigin, .accessControlExposeHeaders, .accessControlMaxAge,
            .accessControlRequestHeaders, .accessControlRequestMethod, .age, .allow, .authorization, .cacheControl,
            .contentDisposition, .contentEncoding, .contentLanguage, .contentType, .cookie, .date, .eTag, .expires,
            .ifMatch, .ifModifiedSince, .ifNoneMatch, .ifUnmodifiedSince, .lastModified, .location, .origin,
            .priority, .range, .referer, .retryAfter, .secPurpose, .secWebSocketAccept, .secWebSocketExtensions,
            .secWebSocketKey, .secWebSocketProtocol, .secWebSocketVersion, .server, .te, .traceparent, .tracestate,
            .trailer, .upgrade, .userAgent, .vary, .via, .wwwAuthenticate,
        ]
        for name in plain { insert(name, .plain) }
        let others = [
            "dnt", "forwarded", "keep-alive", "last-event-id", "link", "pragma", "sec-fetch-dest", "sec-fetch-mode",
            "sec-fetch-site", "upgrade-insecure-requests", "x-forwarded-for", "x-forwarded-host",
            "x-forwarded-proto", "x-real-ip", "x-request-id", "x-user",
        ]
        for name in others.compactMap({ HTTPField.Name($0) }) { insert(name, .plain) }
    }

    private mutating func insert(_ name: HTTPField.Name, _ role: FieldRole) {
        let bytes = Array(name.canonicalName.utf8)
        var slot = Self.hash(bytes.span)
        while slots[slot] != nil { slot = (slot + 1) & 255 }
        slots[slot] = Entry(name: name, role: role, start: letters.count, count: bytes.count)
        letters += bytes
    }

    private static func hash(_ name: Span<UInt8>) -> Int {
        let first = Int(name[0].asciiLowercased)
        let last = Int(name[name.count - 1].asciiLowercased)
        return (first &* 7 &+ last &* 61 &+ name.count &* 29) & 255
    }

    /// The entry of a name of at least one byte, if it is known.
    func entry(for name: Span<UInt8>) -> Entry? {
        var slot = Self.hash(name)
        while let entry = slots[slot] {
            if entry.count == name.count, matches(entry, name) { return entry }
            slot = (slot + 1) & 255
        }
        return nil
    }

    private func matches(_ entry: Entry, _ name: Span<UInt8>) -> Bool {
        let letters = letters.span
        for index in name.indices where name[index].asciiLowercased != letters[entry.start + index] { return false }
        return true
    }
}
