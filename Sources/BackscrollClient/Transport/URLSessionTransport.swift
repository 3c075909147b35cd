// Linux compiles this file only in scripts/test-packaging, as a build for Apple's platforms.
#if canImport(Darwin)
public import Foundation

/// The network of clients on Apple's platforms, on `URLSession`.
public final class URLSessionTransport: ClientTransport {
    /// Time in seconds after which `URLSession` ends a silent socket. It is long, because the client's pings detect
    /// lost sockets earlier.
    private static let idleSocketTimeout = 7.0 * 24 * 3600

    private let session: URLSession

    /// Creates a transport.
    ///
    /// - Parameter configuration: The configuration of the session. Caches and cookies are turned off in it.
    public init(configuration: URLSessionConfiguration = .ephemeral) {
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        session = URLSession(configuration: configuration)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// Sends a request.
    public func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        let made = try Self.make(request, isSocket: false)
        let data: Data
        let answer: URLResponse
        do {
            (data, answer) = try await session.data(for: made, delegate: NoRedirects())
        } catch {
            throw Self.failure(error)
        }
        guard let response = answer as? HTTPURLResponse else {
            throw TransportFailure(.invalidAnswer, "The answer is not HTTP.")
        }
        return TransportResponse(response, body: [UInt8](data))
    }

    /// Opens a WebSocket.
    public func connect(_ request: TransportRequest) async throws(TransportFailure) -> any ClientSocket {
        let made = try Self.make(request, isSocket: true)
        let opening = Opening()
        let task = session.webSocketTask(with: made)
        task.maximumMessageSize = 4 * 1024 * 1024
        task.delegate = opening
        task.resume()
        // The request's own timeout would also end a socket that is open and silent.
        let timer = Task {
            guard (try? await Task.sleep(for: request.timeout)) != nil else { return }
            opening.timeOut()
        }
        let failure = await opening.outcome()
        timer.cancel()
        if let failure {
            task.cancel()
            var described = Self.failure(failure)
            if let response = task.response as? HTTPURLResponse, response.statusCode != 101 {
                described.response = TransportResponse(response, body: [])
            }
            throw described
        }
        return URLSessionSocket(task: task)
    }

    private static func make(_ request: TransportRequest, isSocket: Bool) throws(TransportFailure) -> URLRequest {
        guard let url = URL(string: request.server.url(request.target, isSocket: isSocket)) else {
            throw TransportFailure(.invalidAnswer, "The request has no valid URL.")
        }
        var made = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        made.httpMethod = request.method
        made.timeoutInterval = isSocket ? Self.idleSocketTimeout : request.timeout.inSeconds
        for (name, value) in request.fields { made.setValue(value, forHTTPHeaderField: name) }
        if !request.subprotocols.isEmpty {
            made.setValue(request.subprotocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
        }
        if !request.body.isEmpty { made.httpBody = Data(request.body) }
        return made
    }

    private static func failure(_ error: any Error) -> TransportFailure {
        switch (error as? URLError)?.code {
        case .cancelled?: TransportFailure(.cancelled, "The request was cancelled.")
        case .timedOut?: TransportFailure(.timedOut, "The server did not answer in time.")
        default: TransportFailure(.unreachable, error.localizedDescription)
        }
    }
}

extension TransportResponse {
    fileprivate init(_ response: HTTPURLResponse, body: [UInt8]) {
        self.init(
            status: response.statusCode,
            retryAfter: response.value(forHTTPHeaderField: "Retry-After").flatMap(Double.init), body: body)
    }
}

private final class NoRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        nil
    }
}

/// Waits for a socket to open.
private final class Opening: NSObject, URLSessionWebSocketDelegate {
    private let outcomes: AsyncStream<(any Error)?>
    private let continuation: AsyncStream<(any Error)?>.Continuation

    override init() {
        (outcomes, continuation) = AsyncStream<(any Error)?>.makeStream()
    }

    /// Returns nil once the socket is open, else the reason why it did not open: ``URLError/cancelled`` if the task is
    /// cancelled.
    func outcome() async -> (any Error)? {
        for await outcome in outcomes { return outcome }
        return URLError(.cancelled)
    }

    func timeOut() {
        continuation.yield(URLError(.timedOut))
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol name: String?
    ) {
        continuation.yield(nil)
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith code: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        // Only a socket that never opened ends here. An open one reports its end by `receive`.
        continuation.yield(URLError(.networkConnectionLost))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        continuation.yield(error ?? URLError(.networkConnectionLost))
    }
}

private final class URLSessionSocket: ClientSocket {
    private let task: URLSessionWebSocketTask

    init(task: URLSessionWebSocketTask) {
        self.task = task
    }

    deinit {
        task.cancel()
    }

    func receive() async throws(TransportFailure) -> SocketEvent {
        while true {
            do {
                // A task that is cancelled does not end a pending `receive`, but the end of the socket does.
                let message = try await withTaskCancellationHandler {
                    try await task.receive()
                } onCancel: {
                    task.cancel(with: .goingAway, reason: nil)
                }
                switch message {
                case .string(let text): return .text(Array(text.utf8))
                default: continue
                }
            } catch {
                if Task.isCancelled { throw TransportFailure(.cancelled, "The task was cancelled.") }
                let code = task.closeCode == .invalid ? 1006 : task.closeCode.rawValue
                return .closed(code: code, reason: task.closeReason.map { String(decoding: $0, as: UTF8.self) } ?? "")
            }
        }
    }

    func send(_ text: String) async {
        try? await task.send(.string(text))
    }

    func ping() async {
        // The handler may be called more than once when the connection fails.
        let (answers, continuation) = AsyncStream<Void>.makeStream()
        task.sendPing { _ in
            continuation.yield()
            continuation.finish()
        }
        for await _ in answers { return }
    }

    func close(code: Int) async {
        task.cancel(with: URLSessionWebSocketTask.CloseCode(rawValue: code) ?? .normalClosure, reason: nil)
    }
}
#endif
