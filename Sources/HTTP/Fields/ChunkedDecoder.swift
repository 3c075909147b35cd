/// Removes the chunked transfer coding (RFC 9112, section 7.1).
///
/// Extensions and trailers are checked and dropped. A trailer must never count as a field of the head (RFC 9110,
/// section 6.5.1).
struct ChunkedDecoder: Sendable {
    private enum Stage {
        case header
        case data(remaining: Int)
        case dataEnd
        case trailers
    }

    private static let sizeDigits = 16

    private var stage = Stage.header
    private var reader = LineReader()
    private var extensionBytes = 0
    private var trailerBytes = 0

    /// Moves the content at the front of `buffer` to the end of `body`. Returns true once the last chunk and the
    /// trailer section have been read.
    mutating func decode(
        _ buffer: inout InputBuffer, into body: inout [UInt8], limits: HTTPLimits
    ) throws(RequestRefusal) -> Bool {
        while !buffer.isEmpty {
            switch stage {
            case .header:
                guard let size = try readHeader(&buffer, limits) else { return false }
                guard size <= UInt64(limits.bodyBytes - body.count) else {
                    throw .bodyTooLarge(limit: limits.bodyBytes)
                }
                stage = size == 0 ? .trailers : .data(remaining: Int(size))
            case .data(let remaining):
                let before = body.count
                buffer.move(atMost: remaining, to: &body)
                let left = remaining - (body.count - before)
                stage = left == 0 ? .dataEnd : .data(remaining: left)
            case .dataEnd:
                guard try readDataEnd(&buffer) else { return false }
                stage = .header
            case .trailers:
                guard let isLast = try readTrailer(&buffer, limits) else { return false }
                if isLast { return true }
            }
        }
        return false
    }

    /// Reads `chunk-size [ chunk-ext ] CRLF`. Returns the size, or `nil` while the line is incomplete.
    private mutating func readHeader(
        _ buffer: inout InputBuffer, _ limits: HTTPLimits
    ) throws(RequestRefusal) -> UInt64? {
        let bytes = buffer.bytes
        let unread = bytes.span.extracting(buffer.start...)
        let room = limits.chunkExtensionBytes - extensionBytes
        let length: Int
        switch try reader.next(.chunkHeader, in: unread, limit: Self.sizeDigits + room + 2) {
        case .incomplete: return nil
        case .complete(let found): length = found
        // Parsing the part that has arrived tells whether the size or the extensions are too long.
        case .tooLong: length = Self.sizeDigits + room + 1
        }
        var size: UInt64 = 0
        var digits = 0
        while digits < length, let digit = unread[digits].hexDigitValue {
            guard digits < Self.sizeDigits else { throw .chunkInvalid }
            size = size << 4 | UInt64(digit)
            digits += 1
        }
        guard digits > 0 else { throw .chunkInvalid }
        if digits < length {
            guard unread[digits] == ASCII.semicolon || unread[digits].isOptionalWhitespace else { throw .chunkInvalid }
            extensionBytes += length - digits
            guard extensionBytes <= limits.chunkExtensionBytes else {
                throw .chunkExtensionsTooLong(limit: limits.chunkExtensionBytes)
            }
            guard ChunkExtensions.areValid(unread.extracting(digits..<length)) else { throw .chunkInvalid }
        }
        buffer.consume(length + 2)
        return size
    }

    /// Reads the CRLF after a chunk's data. Returns false while it is incomplete.
    private func readDataEnd(_ buffer: inout InputBuffer) throws(RequestRefusal) -> Bool {
        guard buffer.bytes[buffer.start] == ASCII.carriageReturn else { throw .chunkInvalid }
        guard buffer.count >= 2 else { return false }
        guard buffer.bytes[buffer.start + 1] == ASCII.lineFeed else { throw .chunkInvalid }
        buffer.consume(2)
        return true
    }

    /// Reads a line of the trailer section. Returns true for the empty line that ends it, `nil` while the line is
    /// incomplete.
    private mutating func readTrailer(
        _ buffer: inout InputBuffer, _ limits: HTTPLimits
    ) throws(RequestRefusal) -> Bool? {
        let bytes = buffer.bytes
        let unread = bytes.span.extracting(buffer.start...)
        switch try reader.next(.field, in: unread, limit: limits.trailerBytes - trailerBytes + 2) {
        case .incomplete: return nil
        case .tooLong: throw .trailersTooLarge(limit: limits.trailerBytes)
        case .complete(length: 0):
            buffer.consume(2)
            return true
        case .complete(let length):
            trailerBytes += length + 2
            guard trailerBytes <= limits.trailerBytes else { throw .trailersTooLarge(limit: limits.trailerBytes) }
            _ = try FieldLine(unread.extracting(first: length))
            buffer.consume(length + 2)
            return false
        }
    }
}

/// `*( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] )` (RFC 9112, section 7.1.1).
///
/// The extensions are never used, but they are checked: servers that skip to the end of the line while another party
/// parses the extensions have allowed request smuggling.
enum ChunkExtensions {
    static func areValid(_ text: Span<UInt8>) -> Bool {
        var index = 0
        while index < text.count {
            skipWhitespace(text, &index)
            guard skip(ASCII.semicolon, text, &index) else { return false }
            skipWhitespace(text, &index)
            guard skipToken(text, &index) else { return false }
            let nameEnd = index
            skipWhitespace(text, &index)
            if skip(ASCII.equals, text, &index) {
                skipWhitespace(text, &index)
                guard skipToken(text, &index) || skipQuotedString(text, &index) else { return false }
            } else {
                index = nameEnd
            }
        }
        return true
    }

    private static func skip(_ byte: UInt8, _ text: Span<UInt8>, _ index: inout Int) -> Bool {
        guard index < text.count, text[index] == byte else { return false }
        index += 1
        return true
    }

    private static func skipWhitespace(_ text: Span<UInt8>, _ index: inout Int) {
        while index < text.count, text[index].isOptionalWhitespace { index += 1 }
    }

    private static func skipToken(_ text: Span<UInt8>, _ index: inout Int) -> Bool {
        let start = index
        index = text.endOfToken(from: start)
        return index > start
    }

    private static func skipQuotedString(_ text: Span<UInt8>, _ index: inout Int) -> Bool {
        guard skip(ASCII.doubleQuote, text, &index) else { return false }
        while index < text.count, text[index] != ASCII.doubleQuote {
            index += text[index] == ASCII.backslash ? 2 : 1
        }
        return skip(ASCII.doubleQuote, text, &index)
    }
}
