import Synchronization

@testable import BackscrollClient

/// The platform's transport, on whose real connections a test can let something fail that no server does on demand.
final class FaultyTransport: ClientTransport {
    private struct State {
        var sockets: [FaultySocket] = []
        var requests: [(request: TransportRequest, at: Duration)] = []
        var connections: [Duration] = []
        var answer: @Sendable (TransportRequest) -> Result<TransportResponse, TransportFailure>? = { _ in nil }
    }

    private let transport = SocketTransport()
    private let clock: ClientClock
    private let state = Mutex(State())

    /// - Parameter clock: The clock of ``times(of:)`` and ``connections``.
    init(clock: ClientClock = .fast) {
        self.clock = clock
    }

    /// Answers requests instead of the server, unless `body` returns nil.
    func answer(_ body: @escaping @Sendable (TransportRequest) -> Result<TransportResponse, TransportFailure>?) {
        state.withLock { $0.answer = body }
    }

    /// Answers each request that `isMeant` is true for with a problem, so many times.
    func refuse(
        _ times: Int = 1, status: Int, code: String, retryAfter: Double? = nil,
        where isMeant: @escaping @Sendable (TransportRequest) -> Bool
    ) {
        let left = Counting(times)
        answer { request in
            guard isMeant(request), left.take() else { return nil }
            let body = Array(#"{"status":\#(status),"code":"\#(code)","detail":"By the test."}"#.utf8)
            return .success(TransportResponse(status: status, retryAfter: retryAfter, body: body))
        }
    }

    /// Lets the server take requests that `isMeant` is true for, but loses the answers, so many times.
    func loseAnswers(_ times: Int = 1, where isMeant: @escaping @Sendable (TransportRequest) -> Bool) {
        let left = Counting(times)
        losing.withLock { $0 = { isMeant($0) && left.take() } }
    }
    private let losing = Mutex<@Sendable (TransportRequest) -> Bool>({ _ in false })

    /// The times of the requests whose method and target have these beginnings.
    func times(of method: String, _ target: String) -> [Duration] {
        state.withLock { state in
            state.requests.filter { $0.request.method == method && $0.request.target.hasPrefix(target) }.map(\.at)
        }
    }

    /// The times of the attempts to open a socket.
    var connections: [Duration] { state.withLock { $0.connections } }

    /// The latest socket.
    var socket: FaultySocket? { state.withLock { $0.sockets.last } }

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        let now = clock.elapsed()
        let answer = state.withLock { state in
            state.requests.append((request, now))
            return state.answer
        }
        if let answer = answer(request) { return try answer.get() }
        let response = try await transport.send(request)
        if losing.withLock({ $0 })(request) {
            throw TransportFailure(.unreachable, "The answer was lost, by the test.")
        }
        return response
    }

    func connect(_ request: TransportRequest) async throws(TransportFailure) -> any ClientSocket {
        let now = clock.elapsed()
        state.withLock { $0.connections.append(now) }
        let socket = FaultySocket(try await transport.connect(request))
        state.withLock { $0.sockets.append(socket) }
        return socket
    }

    private final class Counting: Sendable {
        private let left: Mutex<Int>
        init(_ count: Int) { left = Mutex(count) }

        func take() -> Bool {
            left.withLock { left in
                left -= 1
                return left >= 0
            }
        }
    }
}

/// A socket of the server that a test can end, or let fall silent.
final class FaultySocket: ClientSocket {
    private let socket: any ClientSocket
    private let events: AsyncStream<SocketEvent>
    private let continuation: AsyncStream<SocketEvent>.Continuation
    private let isSilent = Mutex(false)
    private let closed = Signal()
    private let sending = Mutex<@Sendable (String) async -> Bool>({ _ in true })
    private let hearing = Mutex<@Sendable (String) -> Void>({ _ in })

    init(_ socket: any ClientSocket) {
        self.socket = socket
        (events, continuation) = AsyncStream.makeStream()
        Task { [continuation, closed, weak self] in
            while let event = try? await socket.receive() {
                if self?.isSilent.withLock({ $0 }) == false { continuation.yield(event) }
                if case .text(let text) = event, let hear = self?.hearing.withLock({ $0 }) {
                    hear(String(decoding: text, as: UTF8.self))
                }
                guard case .closed = event else { continue }
                // A silent socket does not hear that the server has ended it, either.
                if self?.isSilent.withLock({ $0 }) == true { return }
                closed.raise()
                continuation.yield(event)
                return continuation.finish()
            }
        }
    }

    /// Ends the socket with a frame and a close code, as if the server had.
    func end(code: Int, reason: String = "", after frame: String? = nil) async {
        if let frame { continuation.yield(.text(Array(frame.utf8))) }
        continuation.yield(.closed(code: code, reason: reason))
        continuation.finish()
        closed.raise()
        await socket.close(code: 1000)
    }

    /// Delivers a frame as if the server had sent it.
    func inject(_ frame: String) {
        continuation.yield(.text(Array(frame.utf8)))
    }

    /// Loses everything that the server sends from now on, pongs and its end included.
    func fallSilent() {
        isSilent.withLock { $0 = true }
    }

    /// Calls `body` before each frame of the client is sent. The frame is lost if it returns false.
    func onSend(_ body: @escaping @Sendable (String) async -> Bool) {
        sending.withLock { $0 = body }
    }

    /// Calls `body` with each frame of the server, after the client has got it.
    func onText(_ body: @escaping @Sendable (String) -> Void) {
        hearing.withLock { $0 = body }
    }

    func receive() async throws(TransportFailure) -> SocketEvent {
        for await event in events { return event }
        if Task.isCancelled { throw TransportFailure(.cancelled, "The task was cancelled.") }
        return .closed(code: 1006, reason: "")
    }

    func send(_ text: String) async {
        let isSent = sending.withLock { $0 }
        if await isSent(text) { await socket.send(text) }
    }

    func ping() async {
        if isSilent.withLock({ $0 }) { await closed.wait() } else { await socket.ping() }
    }

    func close(code: Int) async {
        await socket.close(code: code)
        guard isSilent.withLock({ $0 }) else { return }
        continuation.yield(.closed(code: code, reason: ""))
        continuation.finish()
        closed.raise()
    }
}
