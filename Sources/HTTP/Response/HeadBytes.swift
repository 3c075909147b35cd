import HTTPTypes

extension [UInt8] {
    /// Appends `HTTP/1.1 code reason CRLF` (RFC 9112, section 4). The lines of frequent answers are precomputed.
    mutating func append(statusLine status: HTTPResponse.Status) {
        switch status.code {
        case 101: append(text: "HTTP/1.1 101 Switching Protocols\r\n")
        case 200: append(text: "HTTP/1.1 200 OK\r\n")
        case 201: append(text: "HTTP/1.1 201 Created\r\n")
        case 204: append(text: "HTTP/1.1 204 No Content\r\n")
        case 304: append(text: "HTTP/1.1 304 Not Modified\r\n")
        case 400: append(text: "HTTP/1.1 400 Bad Request\r\n")
        case 404: append(text: "HTTP/1.1 404 Not Found\r\n")
        default:
            append(text: "HTTP/1.1 ")
            append(ASCII.zero + UInt8(status.code / 100))
            append(ASCII.zero + UInt8(status.code / 10 % 10))
            append(ASCII.zero + UInt8(status.code % 10))
            // The space is required even without a reason phrase.
            append(ASCII.space)
            status.reasonPhrase.withUTF8Span { append(fieldValue: $0) }
            append(text: "\r\n")
        }
    }

    /// Appends a value. Control characters become spaces (RFC 9110, section 5.5), so that no value can end its line and
    /// begin another (response splitting).
    mutating func append(fieldValue value: Span<UInt8>) {
        var isClean = true
        for index in value.indices where !value[index].isFieldContent { isClean = false }
        if isClean {
            append(copying: value)
        } else {
            for index in value.indices { append(value[index].isFieldContent ? value[index] : ASCII.space) }
        }
    }

    /// Appends `name: value CRLF`.
    mutating func append(_ field: HTTPField) {
        append(text: field.name.rawName)
        append(text: ": ")
        // A value that is not UTF-8 is written unchanged.
        field.withUnsafeBytesOfValue { append(fieldValue: $0.span) }
        append(text: "\r\n")
    }
}
