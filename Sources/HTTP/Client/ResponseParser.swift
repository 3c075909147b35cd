public import HTTPTypes

/// Makes responses of the bytes that a server sends: the client's side of a connection (RFC 9112).
///
/// A value like ``RequestParser``, and as strict: it is what load tools and tests judge a server with. Responses of
/// class 1xx are skipped, but for 101, after which ``takeRemainder()`` has the first bytes of the new protocol.
public struct ResponseParser: Sendable {
    /// What the bytes so far amount to.
    public enum Event: Sendable {
        /// Nothing yet.
        case needMoreBytes
        /// A complete response.
        case response(Response)
    }

    private enum Stage {
        case statusLine
        case fieldLines
        case content(length: Int)
        case chunks
        case untilClose
        /// After a 101: the bytes are no longer this protocol's.
        case upgraded
        case finished
        case refused(RequestRefusal)
    }

    /// The number of responses of class 1xx may precede one.
    static let interimResponses = 8

    /// The bounds on one response.
    public let limits: HTTPLimits
    /// The fields that are kept; `nil` for all.
    private let names: [HTTPField.Name]?
    private var stage = Stage.statusLine
    private var buffer = InputBuffer()
    private var reader = LineReader()
    private var interim = 0
    private var line: ResponseLine?
    private var section = HeaderSection()
    private var fields = HTTPFields()
    private var body: [UInt8] = []
    private var chunks = ChunkedDecoder()

    /// A parser at the start of a connection.
    ///
    /// - Parameters:
    ///   - limits: the bounds on one response; those of the request line do not apply.
    ///   - names: the fields to keep, `nil` for all but Host. Fields that nobody reads need not be made into strings.
    public init(limits: HTTPLimits = HTTPLimits(), keeping names: [HTTPField.Name]? = nil) {
        self.limits = limits
        self.names = names
    }

    /// Adds bytes that have arrived.
    public mutating func append(_ bytes: Span<UInt8>) {
        if case .finished = stage { return }
        if case .refused = stage { return }
        buffer.append(bytes)
    }

    /// The bytes that have arrived and are not yet part of a response given.
    public var buffered: Int { buffer.count + body.count }

    /// The next event. Ask again until it is ``Event/needMoreBytes``.
    ///
    /// - Parameter isHead: whether the response awaited answers a HEAD, and so has no content whatever its fields say
    ///   (RFC 9112, section 6.3).
    /// - Throws: why the response is none; the same reason when asked again.
    public mutating func next(isHead: Bool = false) throws(ResponseRefusal) -> Event {
        do {
            let event = try advance(isHead)
            if case .needMoreBytes = event { buffer.trim() }
            return event
        } catch {
            stage = .refused(error)
            buffer.removeAll()
            reset()
            throw ResponseRefusal(error)
        }
    }

    /// Tells that the server has ended the connection, after all its bytes were appended and understood.
    ///
    /// - Returns: the response that lasted until the end, if there was one.
    /// - Throws: `response_cut_off` if the end came in the middle of a response.
    public mutating func finish() throws(ResponseRefusal) -> Response? {
        switch stage {
        case .untilClose: return complete(keepAlive: false)
        case .finished, .upgraded: return nil
        case .statusLine where buffer.isEmpty: return nil
        case .refused(let refusal): throw ResponseRefusal(refusal)
        default: throw ResponseRefusal(.responseCutOff)
        }
    }

    /// Takes the bytes that came after a 101. No further response will be read.
    public mutating func takeRemainder() -> [UInt8] {
        stage = .finished
        reset()
        return buffer.take(buffer.count)
    }

    private mutating func advance(_ isHead: Bool) throws(RequestRefusal) -> Event {
        while true {
            switch stage {
            case .statusLine:
                guard try readStatusLine() else { return .needMoreBytes }
            case .fieldLines:
                guard try section.read(buffer, limits: limits) else { return .needMoreBytes }
                if let response = try finishHead(isHead) { return .response(response) }
            case .content(let length):
                guard buffer.count >= length else { return .needMoreBytes }
                body = buffer.take(length)
                return .response(complete(keepAlive: persists))
            case .chunks:
                guard try chunks.decode(&buffer, into: &body, limits: limits) else { return .needMoreBytes }
                return .response(complete(keepAlive: persists))
            case .untilClose:
                guard body.count + buffer.count <= limits.bodyBytes else {
                    throw .bodyTooLarge(limit: limits.bodyBytes)
                }
                buffer.move(atMost: buffer.count, to: &body)
                return .needMoreBytes
            case .upgraded, .finished:
                return .needMoreBytes
            case .refused(let refusal):
                throw refusal
            }
        }
    }
}

// MARK: - The head

extension ResponseParser {
    private mutating func readStatusLine() throws(RequestRefusal) -> Bool {
        guard !buffer.isEmpty else { return false }
        let bytes = buffer.bytes
        let unread = bytes.span.extracting(buffer.start...)
        switch try reader.next(.field, in: unread, limit: limits.headBytes) {
        case .incomplete: return false
        case .tooLong: throw .headTooLarge(limit: limits.headBytes)
        case .complete(let length):
            line = try ResponseLine(unread.extracting(first: length))
            section = HeaderSection(behind: length + 2)
            stage = .fieldLines
            return true
        }
    }

    /// The response, if it is complete with its head (RFC 9112, section 6.3).
    private mutating func finishHead(_ isHead: Bool) throws(RequestRefusal) -> Response? {
        guard let line else { preconditionFailure("the header section follows the status line") }
        keepFields()
        if line.status.code == 101 {
            defer { stage = .upgraded }
            return complete(keepAlive: false)
        }
        if line.status.kind == .informational {
            interim += 1
            guard interim <= Self.interimResponses else {
                throw .tooManyInterimResponses(limit: Self.interimResponses)
            }
            reset()
            stage = .statusLine
            return nil
        }
        if isHead || !ResponseWriter.hasContent(line.status) { return complete(keepAlive: persists) }
        switch try section.framing.responseBody(minorVersion: line.minorVersion, limit: limits.bodyBytes) {
        case .none: return complete(keepAlive: persists)
        case .bytes(let count): stage = .content(length: count)
        case .chunked: stage = .chunks
        case .untilClose: stage = .untilClose
        }
        return nil
    }

    /// Makes strings of the fields that are wanted, and lets go of the head's bytes.
    private mutating func keepFields() {
        if names?.isEmpty != true {
            let all = HeaderFields(section.lines, in: buffer.bytes, from: buffer.start)
            fields = HTTPFields(all.lazy.filter { [names] in names?.contains($0.name) ?? true })
        }
        buffer.consume(section.byteCount)
    }

    private var persists: Bool {
        guard let line else { return false }
        return section.connection.persists(minorVersion: line.minorVersion)
    }

    /// Gives the response in hand and makes ready for the next one.
    private mutating func complete(keepAlive: Bool) -> Response {
        guard let line else { preconditionFailure("a response has a status line") }
        let response = Response(status: line.status, fields: fields, body: body, keepAlive: keepAlive)
        reset()
        interim = 0
        stage = keepAlive ? .statusLine : .finished
        return response
    }

    /// Forgets the response in hand, and with it the memory that it took.
    private mutating func reset() {
        reader = LineReader()
        line = nil
        section = HeaderSection()
        fields = HTTPFields()
        body = []
        chunks = ChunkedDecoder()
    }
}
