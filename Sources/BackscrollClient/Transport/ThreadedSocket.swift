#if canImport(Glibc)
import Glibc
import HTTP
import HTTPTypes
import Synchronization
import WebSocket

/// A WebSocket with a thread of its own, which reads, answers pings, and writes.
final class ThreadedSocket: ClientSocket {
    /// Maximum number of bytes of a message. A frame of the server has one message of a room, at most 256 KiB.
    static let messageBytes = 4 * 1024 * 1024
    /// Number of bytes of messages waiting for ``receive()`` at which the thread stops reading.
    static let queuedBytes = 1024 * 1024
    /// Maximum number of bytes that wait to be written; as many more may be in the process of being written. Beyond it
    /// the socket ends, because the server does not read.
    static let unsentBytes = 1024 * 1024
    /// Maximum time for which a socket waits for the server's Close frame after it has sent its own.
    static let closingTime = Duration.seconds(2)

    private struct State {
        var messages: [[UInt8]] = []
        /// Number of messages that ``ThreadedSocket/receive()`` has taken.
        var taken = 0
        var bytes = 0
        /// True while the thread does not read. It reads again when half of the bytes are taken.
        var isFull = false
        var receiver: CheckedContinuation<SocketEvent?, Never>?
        var pings: [CheckedContinuation<Void, Never>] = []
        var outgoing: [UInt8] = []
        /// The end of the wait for the server's Close frame.
        var closingEnd: ContinuousClock.Instant?
        var end: SocketEvent?
    }

    private let state = Mutex(State())
    private let waker: Waker

    private init(waker: Waker) {
        self.waker = waker
    }

    /// Performs the opening handshake and starts the thread.
    static func open(
        _ request: TransportRequest, on stream: ByteStream, deadline: ContinuousClock.Instant
    ) throws(TransportFailure) -> ThreadedSocket {
        var random = SystemRandomNumberGenerator()
        let handshake = ClientHandshake(
            nonce: (0..<ClientHandshake.nonceLength).map { _ in .random(in: .min ... .max, using: &random) },
            subprotocols: request.subprotocols, offersDeflate: true)
        var bytes: [UInt8] = []
        let fields = request.fields.map { ($0.key, $0.value) } + handshake.fields.map { ($0.name, $0.value) }
        RequestWriter.write(request, fields: fields, into: &bytes)
        try stream.writeAll(bytes, until: deadline)

        var parser = ResponseParser()
        var buffer = [UInt8](repeating: 0, count: SocketTransport.readBytes)
        let response: Response
        let agreement: ClientHandshake.Agreement
        do {
            reading: while true {
                let count = try stream.readSome(into: &buffer, until: deadline)
                parser.append(buffer.span.extracting(first: count))
                if case .response(let answer) = try parser.next() {
                    response = answer
                    break reading
                }
                guard count == 0 else { continue }
                guard let answer = try parser.finish() else {
                    throw TransportFailure(.unreachable, "The connection ended before the socket opened.")
                }
                response = answer
                break reading
            }
            guard response.status.code == 101 else {
                throw TransportFailure(
                    .invalidAnswer, "The server refused the socket with status \(response.status.code).",
                    response: TransportResponse(response))
            }
            let fields = response.fields
            agreement = try handshake.check(
                ClientHandshake.Response(
                    status: 101, upgrade: fields[values: .upgrade], connection: fields[values: .connection],
                    accept: fields[values: .secWebSocketAccept], subprotocol: fields[values: .secWebSocketProtocol],
                    extensions: fields[values: .secWebSocketExtensions]))
        } catch let failure as TransportFailure {
            throw failure
        } catch let refusal as ResponseRefusal {
            let kind: TransportFailure.Kind = refusal.code == "response_cut_off" ? .unreachable : .invalidAnswer
            throw TransportFailure(kind, refusal.detail)
        } catch let failure as ClientHandshake.Failure {
            throw TransportFailure(.invalidAnswer, "The socket did not open: \(failure.reason).")
        } catch {
            throw TransportFailure(.invalidAnswer, "\(error)")
        }

        let socket = ThreadedSocket(waker: stream.waker)
        let rest = parser.takeRemainder()
        let compresses = agreement.deflate != nil
        startThread {
            var reader = MessageReader(
                role: .client, maxMessageBytes: messageBytes, allowsCompression: compresses)
            reader.append(rest.span)
            socket.run(stream, &reader)
        }
        return socket
    }

    // MARK: ClientSocket

    func receive() async throws(TransportFailure) -> SocketEvent {
        let event: SocketEvent? = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (event, isCancelled, resumesReading) = state.withLock { state in
                    let event = Self.takeNext(&state)
                    // A cancellation before this lock is seen here. A later one finds the receiver.
                    let isCancelled = event == nil && Task.isCancelled
                    if event == nil, !isCancelled { state.receiver = continuation }
                    let resumesReading = state.isFull && state.bytes < Self.queuedBytes / 2
                    if resumesReading { state.isFull = false }
                    return (event, isCancelled, resumesReading)
                }
                if resumesReading { waker.wake() }
                if event != nil || isCancelled { continuation.resume(returning: event) }
            }
        } onCancel: {
            let receiver = state.withLock { $0.receiver.take() }
            receiver?.resume(returning: nil)
        }
        guard let event else { throw TransportFailure(.cancelled, "The task was cancelled.") }
        return event
    }

    func send(_ text: String) async {
        write(.text, Array(text.utf8))
    }

    func ping() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.end != nil || state.closingEnd != nil { return true }
                state.pings.append(continuation)
                return false
            }
            if isOver { return continuation.resume() }
            write(.ping, [])
        }
    }

    func close(code: Int) async {
        let code = CloseCode(rawValue: UInt16(clamping: code))
        startClosing(ClosePayload(code: code.mayBeSent ? code : .normalClosure))
    }

    // MARK: The queue

    private static func takeNext(_ state: inout State) -> SocketEvent? {
        if state.taken < state.messages.count {
            let message = state.messages[state.taken]
            state.taken += 1
            state.bytes -= message.count
            if state.taken == state.messages.count {
                state.messages.removeAll(keepingCapacity: state.taken < 1024)
                state.taken = 0
            }
            return .text(message)
        }
        return state.end
    }

    private func deliver(_ message: [UInt8]) {
        let receiver: CheckedContinuation<SocketEvent?, Never>? = state.withLock { state in
            if let receiver = state.receiver {
                state.receiver = nil
                return receiver
            }
            state.messages.append(message)
            state.bytes += message.count
            return nil
        }
        receiver?.resume(returning: .text(message))
    }

    private func write(_ opcode: Opcode, _ payload: [UInt8]) {
        var random = SystemRandomNumberGenerator()
        var frame: [UInt8] = []
        Frame.append(opcode, payload: payload.span, maskingKey: MaskingKey(using: &random), into: &frame)
        state.withLock { state in
            guard state.end == nil, state.closingEnd == nil else { return }
            guard state.outgoing.count + frame.count <= Self.unsentBytes else { return state.closingEnd = .now }
            state.outgoing += frame
        }
        waker.wake()
    }

    private func startClosing(_ payload: ClosePayload) {
        var random = SystemRandomNumberGenerator()
        var frame: [UInt8] = []
        Frame.appendClose(payload, maskingKey: MaskingKey(using: &random), into: &frame)
        state.withLock { state in
            guard state.end == nil, state.closingEnd == nil else { return }
            state.outgoing += frame
            state.closingEnd = .now + Self.closingTime
        }
        waker.wake()
    }

    private func finish(_ end: SocketEvent) {
        let (receiver, pings) = state.withLock { state in
            defer {
                state.receiver = nil
                state.pings = []
            }
            state.end = end
            return (state.receiver, state.pings)
        }
        receiver?.resume(returning: end)
        for ping in pings { ping.resume() }
    }

    // MARK: The thread

    /// Reads and writes until the end.
    private func run(_ stream: ByteStream, _ reader: inout MessageReader) {
        var buffer = [UInt8](repeating: 0, count: SocketTransport.readBytes)
        var pending: ArraySlice<UInt8> = []
        do {
            if let end = try takeEvents(&reader) { return finish(end) }
            while true {
                waker.reset()
                let (isFull, closingEnd) = state.withLock { state in
                    if pending.isEmpty {
                        pending = state.outgoing[...]
                        state.outgoing = []
                    }
                    if state.bytes >= Self.queuedBytes { state.isFull = true }
                    return (state.isFull, state.closingEnd)
                }
                if let closingEnd, ContinuousClock.now >= closingEnd { break }
                var events: Int32 = 0
                if !pending.isEmpty {
                    switch try stream.write(pending) {
                    case .bytes(let count):
                        pending = pending.dropFirst(count)
                        if pending.isEmpty { continue }
                        events |= POLLOUT
                    case .wait(let wanted): events |= wanted
                    }
                }
                if !isFull {
                    switch try stream.read(into: &buffer) {
                    case .bytes(0):
                        return finish(.closed(code: Int(CloseCode.abnormalClosure.rawValue), reason: ""))
                    case .bytes(let count):
                        reader.append(buffer.span.extracting(first: count))
                        if let end = try takeEvents(&reader) {
                            sayGoodbye(stream, after: pending)
                            return finish(end)
                        }
                        continue
                    case .wait(let wanted): events |= wanted
                    }
                }
                var milliseconds: Int32 = -1
                if let closingEnd { milliseconds = Int32(max(1, (closingEnd - .now).inSeconds * 1000)) }
                stream.wait(for: events, milliseconds: milliseconds)
            }
        } catch let error as WebSocketError {
            startClosing(ClosePayload(code: error.closeCode, reason: error.reason))
            sayGoodbye(stream, after: pending)
        } catch {}
        finish(.closed(code: Int(CloseCode.abnormalClosure.rawValue), reason: ""))
    }

    /// Delivers what has been read. Returns the end if the server has closed the socket.
    private func takeEvents(_ reader: inout MessageReader) throws -> SocketEvent? {
        while true {
            switch try reader.next() {
            case .needMoreBytes: return nil
            case .text(let text): deliver(text)
            case .binary: break
            case .ping(let payload): write(.pong, payload)
            case .pong:
                let pings = state.withLock { state in
                    defer { state.pings = [] }
                    return state.pings
                }
                for ping in pings { ping.resume() }
            case .close(let code, let reason):
                startClosing(code.map { ClosePayload(code: $0) } ?? .empty)
                return .closed(
                    code: Int((code ?? .noStatusReceived).rawValue), reason: String(decoding: reason, as: UTF8.self))
            }
        }
    }

    /// Writes the rest of the current frame, then the queued ones with the Close frame, as far as possible without
    /// waiting.
    private func sayGoodbye(_ stream: ByteStream, after pending: ArraySlice<UInt8>) {
        let last = state.withLock { $0.outgoing[...] }
        Self.writeAtOnce([pending, last]) { try? stream.write($0) }
    }

    /// Writes parts one after the other, and stops at the first one that would have to wait: a frame must not follow an
    /// incomplete frame.
    static func writeAtOnce(_ parts: [ArraySlice<UInt8>], with write: (ArraySlice<UInt8>) -> ByteStream.Progress?) {
        for part in parts {
            var rest = part
            while !rest.isEmpty {
                guard case .bytes(let count)? = write(rest) else { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}
#endif
