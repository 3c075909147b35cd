/// Finds the lines of a message head, a chunk header or a trailer section (RFC 9112, section 2.2).
///
/// A line ends with CRLF and nothing else: accepting a bare LF, or taking a bare CR for a space, as the RFC permits, is
/// what makes two parties disagree about where a message ends. Control characters are found on the way, before the line
/// is complete, so bytes that are no HTTP (a TLS hello on the wrong port) are refused at once.
///
/// The reader remembers how far it has looked, so a line that arrives byte by byte is looked through once.
struct LineReader: Sendable {
    /// Which characters a line may hold.
    enum Kind {
        /// Printable ASCII and spaces.
        case requestLine
        /// Field content (RFC 9110, section 5.5): also tabs and the bytes from 0x80.
        case field
        /// Field content too: a chunk's size and its extensions.
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

    /// What was found.
    enum Line: Equatable {
        /// A line of so many bytes, the CRLF after it not counted.
        case complete(length: Int)
        /// No end yet, and room for one.
        case incomplete
        /// The line with its CRLF is longer than the limit.
        case tooLong
    }

    /// The number of bytes of the present line are known to be neither its end nor forbidden.
    private var examined = 0

    /// Looks for the end of the line that starts with `bytes`, which may take `limit` bytes with its CRLF.
    mutating func next(_ kind: Kind, in bytes: Span<UInt8>, limit: Int) throws(RequestRefusal) -> Line {
        // The last byte that may belong to the line is the LF, so the CR is found before `limit - 1` or not at all. Never
        // looking further keeps the outcome the same however the bytes are cut into reads.
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
