public import HTTPTypes

/// The reason why a request cannot be served: the answer to send before closing the connection.
///
/// A refusal ends the connection: after a message that cannot be parsed, the start of the next one is unknown (RFC
/// 9112, sections 9.3 and 11.2).
public struct RequestRefusal: Error, Sendable, Hashable {
    /// The status to answer with: 400, 413, 414, 417, 431, 501 or 505. For a response, which obeys the same rules, it
    /// is 502 and is not sent; see ``ResponseRefusal``.
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
        "The request line is not a method, a target and HTTP/1.1 with single spaces between them.")

    static let lineEndInvalid = RequestRefusal(
        .badRequest, "line_end_invalid", "A line ends with something else than CR LF.")

    static func tooManyEmptyLines(limit: Int) -> RequestRefusal {
        RequestRefusal(
            .badRequest, "too_many_empty_lines", "There are more than \(limit) empty lines before the request line.")
    }

    static func methodTooLong(limit: Int) -> RequestRefusal {
        RequestRefusal(.notImplemented, "method_too_long", "The method is longer than \(limit) bytes.")
    }

    static let targetInvalid = RequestRefusal(
        .badRequest, "target_invalid", "The request target has none of the forms that its method may have.")

    static let targetEncodingInvalid = RequestRefusal(
        .badRequest, "target_encoding_invalid",
        "The path or query has a percent-encoding that is incomplete, NUL, or not UTF-8.")

    static func targetTooLong(limit: Int) -> RequestRefusal {
        RequestRefusal(.uriTooLong, "target_too_long", "The request target is longer than \(limit) bytes.")
    }

    static let versionUnsupported = RequestRefusal(
        .httpVersionNotSupported, "version_unsupported", "Only HTTP/1.1 and HTTP/1.0 are spoken here.")
}

// MARK: Fields, RFC 9110, section 5, and RFC 9112, section 5

extension RequestRefusal {
    static let fieldLineInvalid = RequestRefusal(
        .badRequest, "field_line_invalid", "A header line has no colon.")

    static let fieldNameInvalid = RequestRefusal(
        .badRequest, "field_name_invalid", "A header name is empty or has a character other than a token's.")

    static let fieldValueInvalid = RequestRefusal(
        .badRequest, "field_value_invalid", "A header value has a control character.")

    static let lineFolded = RequestRefusal(
        .badRequest, "line_folded", "A header line begins with white space.")

    static func headTooLarge(limit: Int) -> RequestRefusal {
        RequestRefusal(
            .requestHeaderFieldsTooLarge, "head_too_large",
            "The request line and the header lines are more than \(limit) bytes.")
    }

    static func tooManyFields(limit: Int) -> RequestRefusal {
        RequestRefusal(
            .requestHeaderFieldsTooLarge, "too_many_fields", "There are more than \(limit) header lines.")
    }

    static let hostMissing = RequestRefusal(
        .badRequest, "host_missing", "A request of HTTP/1.1 needs a Host.")

    static let hostRepeated = RequestRefusal(
        .badRequest, "host_repeated", "There is more than one Host.")

    static let hostInvalid = RequestRefusal(
        .badRequest, "host_invalid", "The Host is not a host with an optional port.")

    static let expectationUnknown = RequestRefusal(
        .expectationFailed, "expectation_unknown", "The only expectation that can be met is 100-continue.")
}

// MARK: The body, RFC 9112, sections 6 and 7

extension RequestRefusal {
    static let framingAmbiguous = RequestRefusal(
        .badRequest, "framing_ambiguous", "Content-Length and Transfer-Encoding exclude each other.")

    static let contentLengthInvalid = RequestRefusal(
        .badRequest, "content_length_invalid", "The Content-Length is not a decimal number.")

    static let contentLengthRepeated = RequestRefusal(
        .badRequest, "content_length_repeated", "There is more than one Content-Length.")

    static let transferEncodingInvalid = RequestRefusal(
        .badRequest, "transfer_encoding_invalid",
        "The Transfer-Encoding does not end in chunked, or has it more than once.")

    static let transferEncodingUnexpected = RequestRefusal(
        .badRequest, "transfer_encoding_unexpected", "HTTP/1.0 has no Transfer-Encoding.")

    static let transferCodingUnknown = RequestRefusal(
        .notImplemented, "transfer_coding_unknown", "The only transfer coding that is understood is chunked.")

    static func bodyTooLarge(limit: Int) -> RequestRefusal {
        RequestRefusal(.contentTooLarge, "body_too_large", "The body is larger than \(limit) bytes.")
    }

    static let chunkInvalid = RequestRefusal(
        .badRequest, "chunk_invalid", "A chunk is not its size, CR LF, as many bytes, CR LF.")

    static func chunkExtensionsTooLong(limit: Int) -> RequestRefusal {
        RequestRefusal(
            .badRequest, "chunk_extensions_too_long", "The chunk extensions are more than \(limit) bytes.")
    }

    static func trailersTooLarge(limit: Int) -> RequestRefusal {
        RequestRefusal(
            .requestHeaderFieldsTooLarge, "trailers_too_large", "The trailer section is more than \(limit) bytes.")
    }
}
