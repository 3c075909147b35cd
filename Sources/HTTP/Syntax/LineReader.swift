/// Finds the lines of a message head, a chunk header or a trailer section (RFC 9112, section 2.2).
///
/// A line ends only with CRLF. The RFC also permits accepting a bare LF and reading a bare CR as a space, but both can
/// make two parties disagree about where a message ends. Control characters are found before the line is complete, so
/// bytes that are not HTTP (such as a TLS hello on the wrong port) are refused at once.
///
/// The reader remembers how far it has searched, so that a line that arrives byte by byte is searched once.
struct LineReader: Sendable {
    /// The characters that a line may hold.
    enum Kind {
        /// Printable ASCII and spaces.
        case requestLine
        /// Field content (RFC 9110, section 5.5): also tabs and bytes from 0x80.
        case field
        /// Field content, for a chunk's size and its extensions.
        case chunkHeader

        fileprivate func admits(_ byte: UInt8) -> Bool {
            switch self {
            case .requestLine: false
            case .field, .chunkHeader: byte == ASCII.tab || byte >= 0x80
            }
        }

        fileprivate var refusal: RequestRefusal {
            switch self {
            case .requestLine: .requestLineInvalid
            case .field: .fieldValueInvalid
            case .chunkHeader: .chunkInvalid
            }
        }
    }

    /// The result of a search.
    enum Line: Equatable {
        /// A complete line of `length` bytes, without its CRLF.
        case complete(length: Int)
        /// The line has no end yet and is within the limit.
        case incomplete
        /// The line with its CRLF is longer than the limit.
        case tooLong
    }

    /// Number of bytes of the current line known to be neither its end nor forbidden.
    private var examined = 0

    /// Searches for the end of the line that starts with `bytes`. With its CRLF it may take `limit` bytes.
    mutating func next(_ kind: Kind, in bytes: Span<UInt8>, limit: Int) throws(RequestRefusal) -> Line {
        // The LF may be at `limit - 1` at the latest, so the CR must come before that. Never searching further keeps
        // the result independent of how the bytes are split into reads.
        let end = min(bytes.count, limit - 1)
        var index = bytes.firstIndexOfUnprintable(from: examined, to: end)
        while index < end {
            let byte = bytes[index]
            if byte == ASCII.carriageReturn { break }
            if byte == ASCII.lineFeed { throw .lineEndInvalid }
            if !kind.admits(byte) { throw kind.refusal }
            index = bytes.firstIndexOfUnprintable(from: index + 1, to: end)
        }
        if index >= limit - 1 { return .tooLong }
        guard index + 1 < bytes.count else {
            examined = index
            return .incomplete
        }
        guard bytes[index + 1] == ASCII.lineFeed else { throw .lineEndInvalid }
        examined = 0
        return .complete(length: index)
    }
}
