/// The rule that delimits a message's content (RFC 9112, section 6.3).
enum BodyLength: Sendable, Equatable {
    /// There is no content.
    case none
    /// The number of bytes that Content-Length gives.
    case bytes(Int)
    /// Chunks, up to an empty one.
    case chunked
    /// Everything until the connection closes; only in responses.
    case untilClose
}

/// The fields of a head that determine where the message ends. Two parties that read them differently are open to
/// request smuggling, so every ambiguity is an error (RFC 9112, section 11.2).
struct MessageFraming: Sendable {
    /// The value of the Content-Length line, if there was one. Values above `Int.max` become `Int.max`.
    private(set) var contentLength: Int?
    /// The combined Transfer-Encoding lines.
    private(set) var transferCoding = TransferCoding.none

    /// Adds a Content-Length line. A second one is refused even if it is equal, and so is a list in one line, which is
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

    mutating func addTransferEncoding(_ value: Span<UInt8>) {
        transferCoding.add(value)
    }

    /// Returns the length of a request's content, which is at most `limit`.
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

    /// Returns the length of a response's content, which is at most `limit`. Call it only if the status and the
    /// request's method allow content.
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
