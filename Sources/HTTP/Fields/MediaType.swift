/// `type "/" subtype *( OWS ";" OWS parameter )` (RFC 9110, section 8.3.1).
public struct MediaType: Sendable, Hashable {
    /// The type, in lower case: `application`.
    public let type: String
    /// The subtype, in lower case: `json`.
    public let subtype: String
    /// The value of the parameter `charset` as sent, without quotation marks.
    public let charset: String?

    /// Parses a value of `Content-Type`. Returns `nil` if it is not a media type.
    public init?(_ value: String) {
        var parts = ParameterizedElement(value)
        let essence = parts.name
        guard let slash = essence.utf8.firstIndex(of: ASCII.slash) else { return nil }
        let type = essence[..<slash]
        let subtype = essence[essence.utf8.index(after: slash)...]
        guard type.isToken, subtype.isToken else { return nil }
        var charset: String?
        while let parameter = parts.next() {
            guard parameter.name.isToken else { return nil }
            if parameter.name.equals(ignoringASCIICase: "charset") {
                guard charset == nil else { return nil }
                charset = parameter.value
            }
        }
        guard !parts.isMalformed else { return nil }
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        self.charset = charset
    }

    /// True if content of this type may be JSON in UTF-8.
    ///
    /// JSON may be, and so may the default types of clients that set none, such as curl's form type and
    /// `application/octet-stream`. Plain text may not. A charset other than UTF-8 and its subset US-ASCII may not (RFC
    /// 8259, section 8.1).
    public var isCompatibleWithJSON: Bool {
        if let charset, !["utf-8", "utf8", "us-ascii"].contains(where: charset.equals(ignoringASCIICase:)) {
            return false
        }
        if subtype.hasSuffix("+json") { return true }
        switch (type, subtype) {
        case ("application", "json"), ("text", "json"), ("application", "x-www-form-urlencoded"),
            ("application", "octet-stream"):
            return true
        default:
            return false
        }
    }

    /// Returns true if a body with this `Content-Type` must not be read as JSON (415). A missing or empty field does
    /// not contradict JSON; a value that is not a media type does.
    public static func contradictsJSON(contentType value: String?) -> Bool {
        guard let value, !value.isEmpty, value != "application/json" else { return false }
        return MediaType(value).map { !$0.isCompatibleWithJSON } ?? true
    }
}
