/// Parses the requests of one connection (RFC 9112).
///
/// A value without input or output. ``append(_:)`` takes bytes, and ``next()`` returns one complete request at a time.
/// Pipelined requests wait in the buffer. A server that answers in order asks for the next request after each answer.
/// While an answer is due it may stop reading, to bound the buffer. While no answer is due it must keep reading,
/// because the bytes of a body wait in the buffer too.
///
/// The first error ends the parser: no later byte is a safe place to resume.
public struct RequestParser: Sendable {
    /// The result of parsing the bytes received so far.
    public enum Event: Sendable {
        /// Nothing yet.
        case needMoreBytes
        /// The client waits for ``ResponseWriter/continueResponse`` before it sends the body (RFC 9110, section
        /// 10.1.1). Returned at most once per request, and never if part of the body has arrived.
        case sendContinue
        /// A complete request.
        case request(Request)
    }

    /// The part of a request that the connection waits for. It determines the deadline that applies.
    public enum Phase: Sendable, Hashable {
        /// The first byte of a request.
        case idle
        /// The rest of a request's head.
        case head
        /// The rest of a request's body.
        case body
    }

    private enum Stage {
        case requestLine
        case fieldLines
        case content(length: Int)
        case chunks
        /// Nothing: the last request closed the connection or changed its protocol.
        case finished
        case refused(RequestRefusal)
    }

    /// The bounds on one request.
    public let limits: HTTPLimits
    private var stage = Stage.requestLine
    /// The bytes not yet parsed. Internal for tests only.
    private(set) var buffer = InputBuffer()
    private var reader = LineReader()
    private var emptyLines = 0
    private var line = RequestLine()
    private var section = HeaderSection()
    /// The request whose body is awaited. Internal for tests only.
    private(set) var pending: Request?
    private var chunks = ChunkedDecoder()
    private var refusedHead: RequestHead?
    /// The part of a request that the connection waits for. It is stored, because a connection reads it several times
    /// for each request, and each call of a getter would copy the parser (`scripts/compare --scenarios C,F`).
    public private(set) var phase = Phase.idle

    /// Creates a parser at the start of a connection.
    public init(limits: HTTPLimits = HTTPLimits()) {
        self.limits = limits
    }

    /// Adds received bytes. They are dropped after a refusal and after a request that closes the connection.
    public mutating func append(_ bytes: Span<UInt8>) {
        defer { updatePhase() }
        if case .finished = stage { return }
        if case .refused = stage { return }
        buffer.append(bytes)
    }

    /// Number of bytes received of the current body; 0 in other phases.
    public var bodyBytes: Int { phase == .body ? buffer.count + (pending?.body.count ?? 0) : 0 }

    private mutating func updatePhase() {
        phase =
            switch stage {
            case .requestLine: buffer.isEmpty ? .idle : .head
            case .fieldLines: .head
            case .content, .chunks: .body
            case .finished, .refused: .idle
            }
    }

    /// The parsed part of the head of the current or refused request; `nil` until the request line is parsed.
    public var headAtHand: RequestHead? {
        switch stage {
        case .requestLine, .finished: nil
        case .fieldLines: RequestHead(line, section, in: buffer.bytes, from: buffer.start)
        case .content, .chunks: pending?.head
        case .refused: refusedHead
        }
    }

    /// Returns the next event. Call again until it is ``Event/needMoreBytes``.
    ///
    /// - Throws: the refusal to answer with before closing the connection. Later calls throw the same refusal.
    public mutating func next() throws(RequestRefusal) -> Event {
        defer { updatePhase() }
        do {
            let event = try advance()
            if case .needMoreBytes = event { buffer.trim() }
            return event
        } catch {
            refusedHead = headAtHand
            stage = .refused(error)
            buffer.removeAll()
            reset()
            throw error
        }
    }

    /// Takes the bytes after the last request, for the protocol that the connection upgrades to (RFC 9110, section
    /// 7.8). The parser reads no further request.
    public mutating func takeRemainder() -> [UInt8] {
        defer { updatePhase() }
        stage = .finished
        reset()
        return buffer.take(buffer.count)
    }

    private mutating func advance() throws(RequestRefusal) -> Event {
        while true {
            switch stage {
            case .requestLine:
                guard try readRequestLine() else { return .needMoreBytes }
            case .fieldLines:
                guard try section.read(buffer, limits: limits) else { return .needMoreBytes }
                if let event = try finishHead() { return event }
            case .content(let length):
                guard buffer.count >= length else { return .needMoreBytes }
                guard var request = pending.take() else { preconditionFailure("the body follows the head") }
                request.body = buffer.take(length)
                return complete(request)
            case .chunks:
                guard try readChunks() else { return .needMoreBytes }
                guard let request = pending.take() else { preconditionFailure("the body follows the head") }
                return complete(request)
            case .finished:
                buffer.removeAll()
                return .needMoreBytes
            case .refused(let refusal):
                throw refusal
            }
        }
    }
}

// MARK: - The head

extension RequestParser {
    /// Reads the request line and any empty lines before it. Returns false while it is incomplete.
    private mutating func readRequestLine() throws(RequestRefusal) -> Bool {
        let longest = RequestLine.longest(limits)
        while !buffer.isEmpty {
            let bytes = buffer.bytes
            let unread = bytes.span.extracting(buffer.start...)
            let room = min(longest, limits.headBytes)
            switch try reader.next(.requestLine, in: unread, limit: room) {
            case .incomplete:
                return false
            case .tooLong:
                guard room == longest else { throw .headTooLarge(limit: limits.headBytes) }
                _ = try RequestLine(unread.extracting(first: longest - 1), limits: limits)
                throw .requestLineInvalid
            case .complete(length: 0):
                emptyLines += 1
                guard emptyLines <= limits.leadingEmptyLines else {
                    throw .tooManyEmptyLines(limit: limits.leadingEmptyLines)
                }
                buffer.consume(2)
            case .complete(let length):
                line = try RequestLine(unread.extracting(first: length), limits: limits)
                section = HeaderSection(behind: length + 2)
                stage = .fieldLines
                return true
            }
        }
        return false
    }

    /// Decides what follows the head: returns the request if it is complete, or prepares to read its body.
    private mutating func finishHead() throws(RequestRefusal) -> Event? {
        if line.minorVersion >= 1, section.host == nil { throw .hostMissing }
        let length = try section.framing.requestBody(minorVersion: line.minorVersion, limit: limits.bodyBytes)
        // HTTP/1.0 does not define expectations (RFC 9110, section 10.1.1).
        if section.expectsUnknown, line.minorVersion >= 1 { throw .expectationUnknown }
        let (bytes, start) = (buffer.bytes, buffer.start)
        buffer.consume(section.byteCount)
        let body: [UInt8]? =
            switch length {
            case .none, .untilClose: []
            case .bytes(let count) where count <= buffer.count: buffer.take(count)
            case .bytes, .chunked: nil
            }
        if let body {
            // The usual case: the whole request has arrived at once.
            return complete(Request(RequestHead(line, section, in: bytes, from: start), line, section, body: body))
        }
        // Copy the head alone, so that it does not hold the first bytes of the body a second time.
        let head = Array(bytes[start..<start + section.byteCount])
        pending = Request(RequestHead(line, section, in: head, from: 0), line, section)
        if case .bytes(let count) = length {
            stage = .content(length: count)
        } else {
            stage = .chunks
            chunks = ChunkedDecoder()
        }
        let waitsForContinue = section.expectsContinue && line.minorVersion >= 1 && buffer.isEmpty
        return waitsForContinue ? .sendContinue : nil
    }
}

// MARK: - The body

extension RequestParser {
    private mutating func readChunks() throws(RequestRefusal) -> Bool {
        guard var request = pending.take() else { preconditionFailure("the body follows the head") }
        defer { pending = request }
        return try chunks.decode(&buffer, into: &request.body, limits: limits)
    }

    /// Returns a request and prepares for the next one.
    private mutating func complete(_ request: consuming Request) -> Event {
        stage = request.keepAlive ? .requestLine : .finished
        reset()
        return .request(request)
    }

    /// Discards the current request and frees its memory.
    private mutating func reset() {
        reader = LineReader()
        emptyLines = 0
        line = RequestLine()
        section = HeaderSection()
        pending = nil
        chunks = ChunkedDecoder()
    }
}
