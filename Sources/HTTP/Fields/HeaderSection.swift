/// The header section of a message while its lines come in (RFC 9112, section 5).
///
/// All places are counted from the first byte of the head, where the start line begins. The bytes themselves stay where
/// they are until the head is complete.
struct HeaderSection: Sendable {
    /// The lines, in order, but that of Host, which becomes the authority.
    private(set) var lines: [FieldLine] = []
    /// What the fields say about the message's length.
    private(set) var framing = MessageFraming()
    /// What the Connection fields say.
    private(set) var connection: ConnectionOptions = []
    /// The value of Host.
    private(set) var host: Range<Int>?
    /// True if `Expect: 100-continue` was seen (RFC 9110, section 10.1.1).
    private(set) var expectsContinue = false
    /// True if an expectation was seen that cannot be met.
    private(set) var expectsUnknown = false
    /// The number of bytes of the head have been understood.
    private(set) var byteCount: Int

    private var reader = LineReader()
    /// The number of lines.
    private var lineCount = 0

    private static let usualLines = 8
    /// More than these `HTTPFields` does not hold, and stops the process.
    private static let mostLines = 65_000

    /// The section behind a start line of so many bytes, its CRLF included.
    init(behind startLineBytes: Int = 0) {
        byteCount = startLineBytes
    }

    /// Reads lines to the empty one at the end.
    ///
    /// - Parameter buffer: where the head is, from the first unread byte on.
    /// - Returns: whether the end was there.
    mutating func read(_ buffer: InputBuffer, limits: HTTPLimits) throws(RequestRefusal) -> Bool {
        while true {
            let unread = buffer.bytes.span.extracting((buffer.start + byteCount)...)
            switch try reader.next(.field, in: unread, limit: limits.headBytes - byteCount) {
            case .incomplete:
                return false
            case .tooLong:
                throw .headTooLarge(limit: limits.headBytes)
            case .complete(length: 0):
                byteCount += 2
                return true
            case .complete(let length):
                try add(unread.extracting(first: length), limit: limits.headerFields)
                byteCount += length + 2
            }
        }
    }

    private mutating func add(_ line: Span<UInt8>, limit: Int) throws(RequestRefusal) {
        if lineCount == min(limit, Self.mostLines) { throw .tooManyFields(limit: limit) }
        lineCount += 1
        let parts = try FieldLine(line, at: byteCount)
        let value = line.extracting(parts.value.lowerBound - byteCount..<parts.value.upperBound - byteCount)
        if try interpret(line.extracting(first: parts.name.count), value) {
            if lines.isEmpty { lines.reserveCapacity(Self.usualLines) }
            lines.append(parts)
        } else {
            guard host == nil else { throw .hostRepeated }
            guard Authority.isValid(value, port: .optional) else { throw .hostInvalid }
            host = parts.value
        }
    }

    /// Takes notice of a field that decides what is to be done with the message. Its name is recognised by its bytes, in
    /// any case (RFC 9110, section 5.1).
    ///
    /// - Returns: `false` for Host.
    private mutating func interpret(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(RequestRefusal) -> Bool {
        switch name.count {
        case 4 where name.equals(ignoringCase: "host"):
            return false
        case 6 where name.equals(ignoringCase: "expect"):
            if value.equals(ignoringCase: "100-continue") { expectsContinue = true } else { expectsUnknown = true }
        case 10 where name.equals(ignoringCase: "connection"):
            connection.add(value)
        case 14 where name.equals(ignoringCase: "content-length"):
            try framing.addContentLength(value)
        case 17 where name.equals(ignoringCase: "transfer-encoding"):
            framing.addTransferEncoding(value)
        default:
            break
        }
        return true
    }
}
