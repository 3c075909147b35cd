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

    /// Answers with these bytes. A line feed is appended to JSON, for terminals.
    ///
    /// - Parameter isAsIs: True for content that is sent without a further byte, such as compressed JSON.
    func send(
        _ status: HTTPResponse.Status = .ok, contentType: String = ContentType.json, body: Span<UInt8>,
        isAsIs: Bool = false
    ) {
        // Bytes that the kernel does not accept at once are kept, within a bound. Refuse the request rather than cut
        // its answer.
        if body.count > Self.assuredBytes, let unsent = http?.connection.loop.unsent, !unsent.hasRoom(for: body.count) {
            return refuse(.overloaded)
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

    /// Answers with the JSON that `encode` appends.
    func answerJSON(_ status: HTTPResponse.Status = .ok, _ encode: (inout [UInt8]) -> Void) {
        var body: [UInt8] = []
        encode(&body)
        send(status, body: body.span)
    }

    /// Answers 204.
    func answerNoContent() {
        send(.noContent, contentType: "", body: Span())
    }

    /// Refuses the request with a status, or a WebSocket or event stream with an error, see ``LiveRefusal``.
    func refuse(_ problem: Problem) {
        code = problem.code
        if LiveRefusal(of: self, problem)?.send() == true { return }
        if let challenge = problem.challenge { add(.wwwAuthenticate, challenge) }
        if let seconds = problem.retryAfter { add(.retryAfter, String(seconds)) }
        var body: [UInt8] = []
        problem.encode(into: &body)
        send(
            HTTPResponse.Status(code: problem.status, reasonPhrase: problem.title), contentType: ContentType.problem,
            body: body.span)
    }

    /// Counts an answer, and logs it if requests like it are logged.
    private func count(_ status: Int, bytes: Int, on http: HTTPConnection) {
        let metrics = worker.services.metrics
        let method = RequestCounters.Method(request.method.rawValue)
        // An answer to what has just arrived needs a new reading; the others share theirs, see `LogClient.committed`.
        let now = worker.loop.moment == began ? worker.loop.readClock() : worker.loop.moment
        metrics.httpRequests.count(method, status: status)
        worker.requestTimers.count(method, resource, status: status, nanoseconds: now - began)
        if let code { metrics.refusals.count(code) }
        worker.services.requestLog?.log(isRefused: code != nil || status >= 400) {
            RequestLine(of: self, on: http).values(
                status: status, duration: .nanoseconds(now - began), bytes: bytes)
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
        worker.services.logger.debug("socket opened", metadata: RequestLine(of: self, on: http).values(ofOpened: kind))
    }
}
