/// The header section of a message while its lines arrive (RFC 9112, section 5).
///
/// Ranges are counted from the first byte of the head, where the start line begins. The bytes stay in the input buffer
/// until the head is complete.
struct HeaderSection: Sendable {
    /// The lines, in order, without Host.
    private(set) var lines: [FieldLine] = []
    /// The fields that determine the message's length.
    private(set) var framing = MessageFraming()
    /// The options of the Connection fields.
    private(set) var connection: ConnectionOptions = []
    /// The value of Host.
    private(set) var host: Range<Int>?
    /// True if `Expect: 100-continue` was seen (RFC 9110, section 10.1.1).
    private(set) var expectsContinue = false
    /// True if an unknown expectation was seen.
    private(set) var expectsUnknown = false
    /// Number of bytes of the head that have been parsed.
    private(set) var byteCount: Int

    private var reader = LineReader()
    private var lineCount = 0

    private static let usualLines = 8
    /// Maximum number of lines, whatever the limits say. `HTTPFields` traps beyond 65,535.
    private static let mostLines = 65_000

    /// Creates a section that follows a start line of `startLineBytes`, its CRLF included.
    init(behind startLineBytes: Int = 0) {
        byteCount = startLineBytes
    }

    /// Reads lines up to the empty one at the end.
    ///
    /// - Parameter buffer: the input, whose first unread byte begins the head.
    /// - Returns: true once the empty line was read.
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
            guard Authority.isValid(value) else { throw .hostInvalid }
            host = parts.value
        }
    }

    /// Interprets a field that affects how the message is handled. Names are compared as bytes, ignoring case (RFC
    /// 9110, section 5.1).
    ///
    /// - Returns: `false` for Host, which is not kept as a line.
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
