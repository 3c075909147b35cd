import Chat
import HTTP
import HTTPTypes
import Logging
import Transport
import Wire

/// The answer of an exchange: sent once, in one write.
extension Exchange {
    enum ContentType {
        static let json = "application/json"
        static let problem = "application/problem+json"
        static let text = "text/plain; charset=utf-8"
        static let prometheus = "text/plain; version=0.0.4; charset=utf-8"
    }

    /// Maximum size in bytes of an answer that is sent even when no more bytes may be kept for slow clients. The kernel
    /// accepts it at once, unless the client has left earlier answers unread.
    static let assuredBytes = 64 * 1024

    /// Adds a header field to the answer.
    func add(_ name: HTTPField.Name, _ value: String) {
        fields.append(HTTPField(name: name, value: value))
    }

    /// Answers with content. A line feed is appended to JSON, for terminals.
    ///
    /// - Parameter isAsIs: True for content that is sent without a further byte, such as compressed JSON.
    func answer(
        _ status: HTTPResponse.Status = .ok, contentType: String = ContentType.json, body: Span<UInt8>,
        isAsIs: Bool = false
    ) {
        guard !isWithheld(status, contentType, body, isAsIs) else { return }
        // Bytes that the kernel does not accept at once are kept, within a bound. Refuse the request rather than cut
        // its answer.
        if body.count > Self.assuredBytes, let unsent = http?.connection.loop.unsent, !unsent.hasRoom(for: body.count) {
            return answer(.overloaded)
        }
        guard let http = takeHTTP() else { return }
        var context = context
        if worker.isWindingDown || http.isRefusing { context.keepAlive = false }
        let lines = lines
        var bytes = worker.scratch.take()
        worker.writer.write(
            status, contentType: contentType, fields: fields, lines: lines.span, body: body,
            endsLine: !isAsIs && (contentType == ContentType.json || contentType == ContentType.problem),
            to: context, at: worker.seconds, into: &bytes)
        count(status.code, bytes: bytes.count, on: http)
        http.send(bytes.span, closing: !context.keepAlive)
        worker.scratch.giveBack(bytes)
    }

    /// Answers with content that `encode` appends.
    func answer(_ status: HTTPResponse.Status = .ok, _ encode: (inout [UInt8]) -> Void) {
        var body: [UInt8] = []
        encode(&body)
        answer(status, body: body.span)
    }

    /// Answers without content.
    func answerEmpty(_ status: HTTPResponse.Status) {
        answer(status, contentType: "", body: Span())
    }

    /// Refuses the request with a status, or a WebSocket or event stream with an error, see ``refuseLive(_:)``.
    func answer(_ problem: Problem) {
        code = problem.code
        if refuseLive(problem) { return }
        if let challenge = problem.challenge { add(.wwwAuthenticate, challenge) }
        if let seconds = problem.retryAfter { add(.retryAfter, String(seconds)) }
        var body: [UInt8] = []
        problem.encode(into: &body)
        answer(
            HTTPResponse.Status(code: problem.status, reasonPhrase: problem.title), contentType: ContentType.problem,
            body: body.span)
    }

    /// Counts an answer, and logs it if requests like it are logged.
    private func count(_ status: Int, bytes: Int, on http: HTTPConnection) {
        let metrics = worker.services.metrics
        let (method, duration) = (RequestCounters.Method(request.method.rawValue), .now - began)
        metrics.httpRequests.count(method, status: status)
        worker.requestTimers.count(method, resource, status: status, duration)
        if let code { metrics.refusals.count(code) }
        worker.services.requestLog?.log(isRefused: code != nil || status >= 400) {
            requestLine(status: status, duration: duration, bytes: bytes, on: http)
        }
    }

    // MARK: Upgrades

    /// Answers 101, then hands the connection to the handler that `open` returns.
    func upgrade(fields upgrade: [HTTPField], _ open: (Connection) -> any ConnectionHandler) {
        guard let http = takeHTTP() else { return }
        var head: [UInt8] = []
        worker.writer.write(
            .switchingProtocols, fields: fields + upgrade, to: ReplyContext(), at: worker.seconds, into: &head)
        count(101, bytes: head.count, on: http)
        logOpened("WebSocket", on: http)
        http.upgrade(head: head.span, open)
    }

    /// Answers with endless content, sent by the handler that `open` returns.
    ///
    /// - Parameter stream: Header fields of the stream; they replace fields of the same name.
    func stream(
        contentType: String, fields stream: [HTTPField], _ open: (Connection) -> any ConnectionHandler
    ) {
        guard let http = takeHTTP() else { return }
        let own = Set(stream.map(\.name))
        let fields = fields.filter { !own.contains($0.name) } + stream
        var head: [UInt8] = []
        worker.writer.writeStreamHead(contentType: contentType, fields: fields, at: worker.seconds, into: &head)
        count(200, bytes: head.count, on: http)
        logOpened("event stream", on: http)
        http.upgrade(head: head.span, open)
    }

    /// Logs the start of a WebSocket or an event stream; ``Worker/logClosed(_:code:because:)`` logs its end.
    private func logOpened(_ kind: String, on http: HTTPConnection) {
        worker.services.logger.debug("socket opened", metadata: socketLine(kind: kind, on: http))
    }
}
