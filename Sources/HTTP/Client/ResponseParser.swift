public import HTTPTypes

/// Parses the responses on the client's side of a connection (RFC 9112).
///
/// A value like ``RequestParser``, and as strict, because load tools and tests judge servers with it. Responses of
/// class 1xx are skipped. The exception is 101: after it, ``takeRemainder()`` returns the first bytes of the new
/// protocol.
public struct ResponseParser: Sendable {
    /// The result of parsing the bytes received so far.
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
        /// A 101 was received: the bytes that follow belong to another protocol.
        case upgraded
        case finished
        case refused(RequestRefusal)
    }

    /// Maximum number of 1xx responses before a final one.
    static let interimResponses = 8

    private let limits: HTTPLimits
    /// The fields to keep; `nil` keeps all.
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

    /// Creates a parser at the start of a connection.
    ///
    /// - Parameters:
    ///   - limits: the bounds on one response; the bounds on the request line do not apply.
    ///   - names: the fields to keep, or `nil` for all except Host. Fields that are not kept cost no strings.
    public init(limits: HTTPLimits = HTTPLimits(), keeping names: [HTTPField.Name]? = nil) {
        self.limits = limits
        self.names = names
    }

    /// Adds received bytes.
    public mutating func append(_ bytes: Span<UInt8>) {
        if case .finished = stage { return }
        if case .refused = stage { return }
        buffer.append(bytes)
    }

    /// The number of received bytes that are not yet part of a returned response.
    public var buffered: Int { buffer.count + body.count }

    /// Returns the next event. Call again until it is ``Event/needMoreBytes``.
    ///
    /// - Parameter isHead: True if the awaited response answers a HEAD request. It then has no content, whatever its
    ///   fields say (RFC 9112, section 6.3).
    /// - Throws: the rule that the response breaks. Later calls throw the same refusal.
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

    /// Ends the input. Call it once the server has closed the connection and all its bytes were appended and parsed.
    ///
    /// - Returns: the response that was delimited by the end of the connection, if there was one.
    /// - Throws: `response_cut_off` if the connection ended in the middle of a response.
    public mutating func finish() throws(ResponseRefusal) -> Response? {
        switch stage {
        case .untilClose: return complete(keepAlive: false)
        case .finished, .upgraded: return nil
        case .statusLine where buffer.isEmpty: return nil
        case .refused(let refusal): throw ResponseRefusal(refusal)
        default: throw ResponseRefusal(.responseCutOff)
        }
    }

    /// Takes the part of the content that has been parsed and not taken yet, from a response that ends with a last chunk
    /// or the connection. The response that ``next(isHead:)`` returns has only the rest.
    public mutating func takeContent() -> [UInt8] {
        defer { body = [] }
        return body
    }

    /// Takes the bytes that came after a 101. The parser reads no further response.
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

    /// Returns the response if it ends with its head (RFC 9112, section 6.3), else prepares to read its content.
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

    /// Makes strings of the fields to keep and releases the bytes of the head.
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

    /// Returns the current response and prepares for the next one.
    private mutating func complete(keepAlive: Bool) -> Response {
        guard let line else { preconditionFailure("a response has a status line") }
        let response = Response(status: line.status, fields: fields, body: body, keepAlive: keepAlive)
        reset()
        interim = 0
        stage = keepAlive ? .statusLine : .finished
        return response
    }

    /// Discards the current response and frees its memory.
    private mutating func reset() {
        reader = LineReader()
        line = nil
        section = HeaderSection()
        fields = HTTPFields()
        body = []
        chunks = ChunkedDecoder()
    }
}
