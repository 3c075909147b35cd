/// Makes requests of the bytes of one connection (RFC 9112).
///
/// A value without input or output: bytes go in with ``append(_:)``, and ``next()`` gives what they mean,
/// one complete request at a time. Bytes of further, pipelined requests wait in the buffer, so a server that answers in
/// order simply asks for the next request after each answer, and stops reading while an answer is due and ``buffered``
/// is large. (While none is due it must read on: the bytes of a body wait in the buffer too.)
///
/// The first thing that is wrong ends the parser: there is no safe place to go on from.
public struct RequestParser: Sendable {
    /// What the bytes so far amount to.
    public enum Event: Sendable {
        /// Nothing yet.
        case needMoreBytes
        /// The client waits for ``ResponseWriter/continueResponse`` before it sends the body (RFC 9110, section
        /// 10.1.1). At most once per request, and not if any of the body has arrived.
        case sendContinue
        /// A complete request.
        case request(Request)
    }

    /// What the connection waits for, so that a server knows which deadline applies.
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
        /// No further request will be read: the last one closes the connection or has changed its protocol.
        case finished
        case refused(RequestRefusal)
    }

    /// The bounds on one request.
    public let limits: HTTPLimits
    private var stage = Stage.requestLine
    /// What has not been understood yet; seen from outside only by tests of what it holds on to.
    private(set) var buffer = InputBuffer()
    private var reader = LineReader()
    private var emptyLines = 0
    private var line = RequestLine()
    private var section = HeaderSection()
    /// The request whose body is awaited; seen from outside only by tests, too.
    private(set) var pending: Request?
    private var chunks = ChunkedDecoder()
    private var refusedHead: RequestHead?

    /// A parser at the start of a connection.
    public init(limits: HTTPLimits = HTTPLimits()) {
        self.limits = limits
    }

    /// Adds bytes that have arrived. After a refusal, and after a request that closes the connection, they are dropped.
    public mutating func append(_ bytes: Span<UInt8>) {
        if case .finished = stage { return }
        if case .refused = stage { return }
        buffer.append(bytes)
    }

    /// The bytes that have arrived and are not yet part of an event: of an incomplete request, and of all that was
    /// pipelined behind the request given last.
    public var buffered: Int { buffer.count }

    /// The bytes of the body that is arriving, as far as it has; 0 in other phases.
    public var bodyBytes: Int {
        phase == .body ? buffer.count + (pending?.body.count ?? 0) : 0
    }

    /// What the connection waits for.
    public var phase: Phase {
        switch stage {
        case .requestLine: buffer.isEmpty ? .idle : .head
        case .fieldLines: .head
        case .content, .chunks: .body
        case .finished, .refused: .idle
        }
    }

    /// As much as has been understood of the head of the request that is being read, or of the one that has been refused;
    /// `nil` before its request line has.
    public var headAtHand: RequestHead? {
        switch stage {
        case .requestLine, .finished: nil
        case .fieldLines: RequestHead(line, section, in: buffer.bytes, from: buffer.start)
        case .content, .chunks: pending?.head
        case .refused: refusedHead
        }
    }

    /// The next event. Ask again until it is ``Event/needMoreBytes``.
    ///
    /// - Throws: the reason to answer with and to close the connection for; the same one when asked again.
    public mutating func next() throws(RequestRefusal) -> Event {
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

    /// Takes the bytes that came after the request given last, for the protocol that the connection goes on in
    /// (RFC 9110, section 7.8). No further request will be read.
    public mutating func takeRemainder() -> [UInt8] {
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
    /// Reads the request line and empty lines before it; whether it was there.
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

    /// Decides what follows the head: a request that is complete with it, or a body that has to be waited for.
    private mutating func finishHead() throws(RequestRefusal) -> Event? {
        if line.minorVersion >= 1, section.host == nil { throw .hostMissing }
        let length = try section.framing.requestBody(minorVersion: line.minorVersion, limit: limits.bodyBytes)
        // HTTP/1.0 has no expectations (RFC 9110, section 10.1.1).
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
            // The usual case: all of it has come at once.
            return complete(Request(RequestHead(line, section, in: bytes, from: start), line, section, body: body))
        }
        // What came of the body is not held a second time by the head.
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

    /// Gives a request and makes ready for the next one.
    private mutating func complete(_ request: consuming Request) -> Event {
        stage = request.keepAlive ? .requestLine : .finished
        reset()
        return .request(request)
    }

    /// Forgets the request in hand, and with it the memory that it took.
    private mutating func reset() {
        reader = LineReader()
        emptyLines = 0
        line = RequestLine()
        section = HeaderSection()
        pending = nil
        chunks = ChunkedDecoder()
    }
}
