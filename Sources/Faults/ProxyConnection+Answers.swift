import HTTP
import HTTPTypes
import Transport
import WebSocket
import Wire

/// The answers to requests.
extension ProxyConnection {
    func readAnswer(_ bytes: Span<UInt8>) throws {
        // Between requests the server only tells that it closes the connection.
        guard exchange != nil else { return closeServer() }
        exchange!.parser.append(bytes)
        if case .stream = mode { return try passContent() }
        exchange!.received.append(copying: bytes)
        if !exchange!.hasHead {
            var probe = exchange!.parser
            guard case .response(let head) = try probe.next(isHead: true) else { return }
            exchange!.hasHead = true
            if head.status.code == 101 { return try openSocket(probe.takeRemainder()) }
            let type = head.fields[.contentType] ?? ""
            if type.hasPrefix(Accept.eventStream), head.fields[.contentLength] == nil {
                return try openStream(head, type)
            }
        }
        if case .response(let response) = try exchange!.parser.next(isHead: exchange!.isHead) { finish(response) }
    }

    func finish(_ response: Response) {
        guard let exchange else { return }
        if !response.keepAlive { closeServer() }
        noteChange(by: exchange, response)
        var (fields, body, bytes) = (Array(response.fields), response.body, exchange.received)
        let allowed = fields.firstIndex { $0.name == .accessControlAllowHeaders }
        if let allowed { fields[allowed].value += ", \(HTTPField.Name.backscrollFault.rawName)" }
        let renames = exchange.plan[.newEpoch] != nil && !exchange.isHead
        if renames {
            if let epoch = Facts(body).epoch { state.epoch = epoch }
            if let epoch = state.epoch {
                body = Epochs.renamed(body, epoch)
                for index in fields.indices {
                    fields[index].value = String(
                        decoding: Epochs.renamed(Array(fields[index].value.utf8), epoch), as: UTF8.self)
                }
            }
        }
        if renames || allowed != nil {
            bytes = []
            let context = ReplyContext(keepAlive: response.keepAlive)
            state.writer.write(
                response.status, fields: fields, body: body.span, to: context, at: Timestamp.now().milliseconds / 1000,
                into: &bytes)
        }
        answer(response.status.code, bytes, keepAlive: response.keepAlive)
    }

    /// Learns of a change of a message, and pushes it a second time if the request asks for that.
    private func noteChange(by exchange: Exchange, _ response: Response) {
        // A repeated send changes nothing.
        guard let (room, known) = exchange.change, response.status.kind == .successful,
            exchange.request.head.method != .post || response.status == .created
        else { return }
        let rev = Facts(response.body).rev
        for connection in state.live.values {
            connection.frames?.note(rev, in: room)
            if exchange.plan[.doublePush] != nil, rev > known { connection.pushAgain(response.body, rev, in: room) }
        }
    }

    func refuse(_ problem: Problem) {
        guard let exchange else { return }
        let refusal = Refusal(of: exchange.request, problem)
        answer(problem.status, refusal.bytes(by: &state.writer), keepAlive: refusal.keepAlive)
    }

    private func answer(_ status: Int, _ bytes: [UInt8], keepAlive: Bool) {
        guard let exchange else { return }
        // A repeated send is answered; otherwise the client could never succeed. Counted faults end by themselves, so
        // they need no exception.
        let isRepeatedSend = exchange.request.head.method == .post && status == 200
        if let lost = exchange.plan.fault(.lostAnswer), lost.occasions != .all || !isRepeatedSend {
            return client.finish()
        }
        let deliver = { [self] in
            self.exchange = nil
            client.write(bytes)
            if keepAlive { process() } else { client.finish() }
        }
        guard let wait = exchange.plan[.lateAnswer] else { return deliver() }
        client.loop.after(.milliseconds(wait)) { [self] in if client.isOpen { deliver() } }
    }
}

/// WebSockets and event streams.
extension ProxyConnection {
    private func openSocket(_ rest: [UInt8]) throws {
        guard let exchange else { return }
        let renames = exchange.plan[.newEpoch] != nil
        mode = .socket(
            renames
                ? MessageReader(
                    role: .server, maxMessageBytes: FaultProxy.limits.bodyBytes, allowsCompression: true) : nil)
        goLive(exchange.plan, isStream: false)
        client.write(Array(exchange.received.dropLast(rest.count)))
        self.exchange = nil
        client.isReadingPaused = false
        try pass(rest)
        let early = unparsed
        unparsed = []
        if !early.isEmpty { received(early.span, on: client) }
    }

    private func openStream(_ head: Response, _ type: String) throws {
        guard let exchange else { return }
        mode = .stream
        goLive(exchange.plan, isStream: true)
        var bytes: [UInt8] = []
        state.writer.writeStreamHead(
            contentType: type, fields: head.fields.filter { ![.contentType, .xContentTypeOptions].contains($0.name) },
            at: Timestamp.now().milliseconds / 1000, into: &bytes)
        client.write(bytes)
        client.isReadingPaused = false
        try passContent()
    }

    private func goLive(_ plan: FaultPlan, isStream: Bool) {
        frames = LiveFrames(plan, isStream: isStream)
        state.live[ObjectIdentifier(self)] = self
    }

    private func passContent() throws {
        let event = try exchange!.parser.next()
        try pass(exchange!.parser.takeContent())
        guard case .response(let last) = event else { return }
        try pass(last.body)
        end()
    }

    func pass(_ bytes: [UInt8]) throws {
        var out: [UInt8] = []
        let isEnd = try frames?.pass(bytes, into: &out) ?? false
        send(out)
        if isEnd { end() }
    }

    private func pushAgain(_ message: [UInt8], _ rev: Int64, in room: String) {
        var out: [UInt8] = []
        // The answer may end with a line feed, which an event must not contain.
        let json = message.last == UInt8(ascii: "\n") ? message.dropLast() : message
        let isEnd = frames?.pushAgain(json, rev, in: room, into: &out) ?? false
        send(out)
        if isEnd { end() }
    }

    func send(_ bytes: [UInt8]) {
        guard !endsAfterHeld else { return }
        if client.isCongested { held += bytes } else { client.write(bytes) }
        server?.isReadingPaused = client.isCongested
    }

    /// Ends the connection after the bytes sent so far, without a close handshake.
    func end() {
        closeServer()
        endsAfterHeld = !held.isEmpty
        if held.isEmpty { client.finish() }
    }

    func restoreEpochs(_ reader: inout MessageReader) {
        var (out, random): ([UInt8], SystemRandomNumberGenerator) = ([], SystemRandomNumberGenerator())
        func append(_ opcode: Opcode, _ payload: [UInt8]) {
            Frame.append(opcode, payload: payload.span, maskingKey: MaskingKey(using: &random), into: &out)
        }
        while let event = try? reader.next(), event != .needMoreBytes {
            switch event {
            case .text(let text): append(.text, Array(Epochs.restored(in: String(decoding: text, as: UTF8.self)).utf8))
            case .binary(let bytes): append(.binary, bytes)
            case .ping(let bytes): append(.ping, bytes)
            case .pong(let bytes): append(.pong, bytes)
            case .close(let code, let reason):
                let payload = code.map {
                    ClosePayload(code: $0, reason: String(decoding: reason, as: UTF8.self)).encoded()
                }
                append(.close, payload ?? [])
            case .needMoreBytes: break
            }
        }
        sendToServer(out)
    }
}
