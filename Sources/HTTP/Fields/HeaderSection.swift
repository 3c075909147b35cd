import HTTPTypes

/// The header section of a message while its lines come in (RFC 9112, section 5).
struct HeaderSection: Sendable {
    /// Which fields are kept for the receiver of the message; what the codec needs is always read.
    enum Selection: Sendable {
        /// All but Host, which becomes the authority.
        case all
        /// Those in the list.
        case only([HTTPField.Name])

        fileprivate func admits(_ name: HTTPField.Name) -> Bool {
            switch self {
            case .all: true
            case .only(let names): names.contains(name)
            }
        }

        /// Whether a name that is not in the table can be wanted: only then is a string made of it.
        fileprivate var admitsUnknown: Bool {
            switch self {
            case .all: true
            case .only(let names): !names.isEmpty
            }
        }
    }

    /// The fields kept, in order.
    private(set) var fields = HTTPFields()
    /// What the fields say about the message's length.
    private(set) var framing = MessageFraming()
    /// What the Connection fields say.
    private(set) var connection: ConnectionOptions = []
    /// The value of Host.
    private(set) var host: String?
    /// Whether `Expect: 100-continue` was seen (RFC 9110, section 10.1.1).
    private(set) var expectsContinue = false
    /// Whether an expectation was seen that cannot be met.
    private(set) var expectsUnknown = false
    /// How many lines there were.
    private var lines = 0

    private static let usualFields = 8
    /// More than these `HTTPFields` does not hold, and stops the process.
    private static let mostFields = 65_000

    /// Adds a line, given without its CRLF.
    mutating func add(
        _ line: Span<UInt8>, keeping selection: Selection, limit: Int
    ) throws(RequestRefusal) {
        if lines == min(limit, Self.mostFields) { throw .tooManyFields(limit: limit) }
        lines += 1
        let parts = try FieldLine(line)
        let name = line.extracting(first: parts.nameEnd)
        let value = line.extracting(parts.value)
        if let known = FieldNameTable.known.entry(for: name) {
            try interpret(known.role, value)
            if known.role != .host, selection.admits(known.name) { keep(known.name, value) }
        } else if selection.admitsUnknown, let text = name.utf8String, let unknown = HTTPField.Name(text),
            selection.admits(unknown)
        {
            keep(unknown, value)
        }
    }

    private mutating func interpret(_ role: FieldRole, _ value: Span<UInt8>) throws(RequestRefusal) {
        switch role {
        case .plain: break
        case .host:
            guard host == nil else { throw .hostRepeated }
            guard Authority.isValid(value, port: .optional), let text = value.utf8String else { throw .hostInvalid }
            host = text
        case .contentLength: try framing.addContentLength(value)
        case .transferEncoding: framing.addTransferEncoding(value)
        case .connection: connection.add(value)
        case .expect:
            if value.equals(ignoringCase: "100-continue") { expectsContinue = true } else { expectsUnknown = true }
        }
    }

    private mutating func keep(_ name: HTTPField.Name, _ value: Span<UInt8>) {
        if fields.isEmpty { fields.reserveCapacity(Self.usualFields) }
        fields.append(HTTPField(name: name, bytes: value))
    }
}
