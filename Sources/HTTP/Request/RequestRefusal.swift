public import HTTPTypes

/// The reason why a request cannot be served: the answer to send before closing the connection.
///
/// A refusal ends the connection: after a message that cannot be parsed, the start of the next one is unknown (RFC
/// 9112, sections 9.3 and 11.2).
public struct RequestRefusal: Error, Sendable, Hashable {
    /// The status to answer with: 400, 413, 414, 417, 431, 501 or 505. The rules for responses only have 502. A client
    /// sends no status; see ``ResponseRefusal``.
    public let status: HTTPResponse.Status
    /// The rule that was broken, as a stable word for programs.
    public let code: String
    /// The rule that was broken, as a sentence for people.
    public let detail: String

    init(_ status: HTTPResponse.Status, _ code: String, _ detail: String) {
        self.status = status
        self.code = code
        self.detail = detail
    }
}

extension RequestRefusal: CustomStringConvertible {
    /// The status, the code and the sentence.
    public var description: String { "\(status.code) \(code): \(detail)" }
}

// MARK: The request line, RFC 9112, section 3

extension RequestRefusal {
    static let requestLineInvalid = RequestRefusal(
        .badRequest, "request_line_invalid",
        "The request line must be a method, a target and HTTP/1.1, with single spaces between them.")

    static let lineEndInvalid = RequestRefusal(
        .badRequest, "line_end_invalid", "Lines must end with CR LF.")

    static func tooManyEmptyLines(limit: Int) -> RequestRefusal {
        RequestRefusal(
            .badRequest, "too_many_empty_lines", "At most \(limit) empty lines may come before the request line.")
    }

    static func methodTooLong(limit: Int) -> RequestRefusal {
        RequestRefusal(.notImplemented, "method_too_long", "The method must not have more than \(limit) bytes.")
    }

    static let targetInvalid = RequestRefusal(
        .badRequest, "target_invalid", "The method does not allow this form of request target.")

    static let targetEncodingInvalid = RequestRefusal(
        .badRequest, "target_encoding_invalid",
        "A percent-encoding in the path or query is incomplete, NUL, or not UTF-8.")

    static func targetTooLong(limit: Int) -> RequestRefusal {
        RequestRefusal(.uriTooLong, "target_too_long", "The request target must not have more than \(limit) bytes.")
    }

    static let versionUnsupported = RequestRefusal(
        .httpVersionNotSupported, "version_unsupported", "The server supports only HTTP/1.1 and HTTP/1.0.")
}

// MARK: Fields, RFC 9110, section 5, and RFC 9112, section 5

extension RequestRefusal {
    static let fieldLineInvalid = RequestRefusal(
        .badRequest, "field_line_invalid", "A header line must have a colon.")

    static let fieldNameInvalid = RequestRefusal(
        .badRequest, "field_name_invalid", "A header name is empty or contains a character that names cannot have.")

    static let fieldValueInvalid = RequestRefusal(
        .badRequest, "field_value_invalid", "A header value must not contain control characters.")

    static let lineFolded = RequestRefusal(
        .badRequest, "line_folded", "A header line must not begin with white space.")

    static func headTooLarge(limit: Int) -> RequestRefusal {
        RequestRefusal(
            .requestHeaderFieldsTooLarge, "head_too_large",
            "The request line and the headers must not have more than \(limit) bytes.")
    }

    static func tooManyFields(limit: Int) -> RequestRefusal {
        RequestRefusal(
            .requestHeaderFieldsTooLarge, "too_many_fields", "A request must not have more than \(limit) header lines.")
    }

    static let hostMissing = RequestRefusal(
        .badRequest, "host_missing", "An HTTP/1.1 request must have a Host header.")

    static let hostRepeated = RequestRefusal(
        .badRequest, "host_repeated", "A request must not have more than one Host header.")

    static let hostInvalid = RequestRefusal(
        .badRequest, "host_invalid", "Host must be a host with an optional port.")

    static let expectationUnknown = RequestRefusal(
        .expectationFailed, "expectation_unknown", "The only supported Expect is 100-continue.")
}

// MARK: The body, RFC 9112, sections 6 and 7

extension RequestRefusal {
    static let framingAmbiguous = RequestRefusal(
        .badRequest, "framing_ambiguous", "A request must not have both Content-Length and Transfer-Encoding.")

    static let contentLengthInvalid = RequestRefusal(
        .badRequest, "content_length_invalid", "Content-Length must be a decimal number.")

    static let contentLengthRepeated = RequestRefusal(
        .badRequest, "content_length_repeated", "A request must not have more than one Content-Length.")

    static let transferEncodingInvalid = RequestRefusal(
        .badRequest, "transfer_encoding_invalid",
        "Transfer-Encoding must contain chunked once, as its last coding.")

    static let transferEncodingUnexpected = RequestRefusal(
        .badRequest, "transfer_encoding_unexpected", "An HTTP/1.0 request must not have a Transfer-Encoding.")

    static let transferCodingUnknown = RequestRefusal(
        .notImplemented, "transfer_coding_unknown", "The only supported transfer coding is chunked.")

    static func bodyTooLarge(limit: Int) -> RequestRefusal {
        RequestRefusal(.contentTooLarge, "body_too_large", "The body must not have more than \(limit) bytes.")
    }

    static let chunkInvalid = RequestRefusal(
        .badRequest, "chunk_invalid", "A chunk must be its size in hex, CR LF, that many bytes, CR LF.")

    static func chunkExtensionsTooLong(limit: Int) -> RequestRefusal {
        RequestRefusal(
            .badRequest, "chunk_extensions_too_long", "The chunk extensions must not have more than \(limit) bytes.")
    }

    static func trailersTooLarge(limit: Int) -> RequestRefusal {
        RequestRefusal(
            .requestHeaderFieldsTooLarge, "trailers_too_large",
            "The trailer section must not have more than \(limit) bytes.")
    }
}
