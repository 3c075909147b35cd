/// How the length of a message's content is found (RFC 9112, section 6.3).
enum BodyLength: Sendable, Equatable {
    /// There is no content.
    case none
    /// As many bytes as Content-Length says.
    case bytes(Int)
    /// Chunks, the last one empty.
    case chunked
    /// Everything until the connection ends; only in responses.
    case untilClose
}

/// The fields of a head that decide where the message ends. Two parties that read them differently can be made to take
/// one's content for the other's next request, so every doubt is an error (RFC 9112, section 11.2).
struct MessageFraming: Sendable {
    /// The value of the Content-Length line, if there was one. Values beyond `Int.max` are `Int.max`.
    private(set) var contentLength: Int?
    /// What the Transfer-Encoding lines said.
    private(set) var transferCoding = TransferCoding.none

    /// Notes a Content-Length line. A second one is refused also when it is equal; so is a list in one line, as it is
    /// not a number (RFC 9110, section 8.6).
    mutating func addContentLength(_ value: Span<UInt8>) throws(RequestRefusal) {
        guard contentLength == nil else { throw .contentLengthRepeated }
        guard !value.isEmpty else { throw .contentLengthInvalid }
        var length = 0
        for index in value.indices {
            guard let digit = value[index].digitValue else { throw .contentLengthInvalid }
            let (product, overflows) = length.multipliedReportingOverflow(by: 10)
            let (sum, carries) = product.addingReportingOverflow(digit)
            length = overflows || carries ? Int.max : sum
        }
        contentLength = length
    }

    /// Notes a Transfer-Encoding line.
    mutating func addTransferEncoding(_ value: Span<UInt8>) {
        transferCoding.add(value)
    }

    /// The length of a request's content, at most `limit`.
    func requestBody(minorVersion: Int, limit: Int) throws(RequestRefusal) -> BodyLength {
        if transferCoding != .none {
            if contentLength != nil { throw .framingAmbiguous }
            if minorVersion == 0 { throw .transferEncodingUnexpected }
        }
        switch transferCoding {
        case .none:
            guard let contentLength, contentLength > 0 else { return .none }
            guard contentLength <= limit else { throw .bodyTooLarge(limit: limit) }
            return .bytes(contentLength)
        case .chunked: return .chunked
        case .unknownThenChunked: throw .transferCodingUnknown
        case .unknown, .invalid: throw .transferEncodingInvalid
        }
    }

    /// The length of a response's content, at most `limit`, when the status and the request's method allow content.
    func responseBody(minorVersion: Int, limit: Int) throws(RequestRefusal) -> BodyLength {
        if transferCoding != .none {
            if contentLength != nil { throw .framingAmbiguous }
            if minorVersion == 0 { throw .transferEncodingUnexpected }
        }
        switch transferCoding {
        case .none:
            guard let contentLength else { return .untilClose }
            guard contentLength <= limit else { throw .bodyTooLarge(limit: limit) }
            return contentLength == 0 ? .none : .bytes(contentLength)
        case .chunked: return .chunked
        case .unknownThenChunked, .unknown: throw .transferCodingUnknown
        case .invalid: throw .transferEncodingInvalid
        }
    }
}
