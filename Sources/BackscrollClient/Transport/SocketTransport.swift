#if canImport(Glibc)
import Glibc
import HTTP
import HTTPTypes
import Synchronization

/// The network of clients on Linux, on the HTTP and WebSocket codecs of this package.
///
/// Each request and each open socket has a thread of its own. Connections of requests are kept for later requests.
public final class SocketTransport: ClientTransport {
    /// Maximum number of unused connections to keep.
    static let idleConnections = 4
    /// Maximum time for which an unused connection is kept. A server closes it after 75 s (`--idle-timeout`).
    static let idleTime = Duration.seconds(45)
    /// Maximum number of bytes of an answer's content. A page has at most 4 MiB.
    static let bodyBytes = 8 * 1024 * 1024
    /// Maximum number of bytes of one read.
    static let readBytes = 64 * 1024

    private struct Idle {
        let server: ServerAddress
        let stream: ByteStream
        let since: ContinuousClock.Instant
    }

    private let certificateFile: String?
    private let certificates = Mutex<TrustedCertificates?>(nil)
    private let idle = Mutex<[Idle]>([])

    /// Creates a transport.
    ///
    /// - Parameter certificateFile: The path of further certificates (PEM) to trust besides the system's.
    public init(trusting certificateFile: String? = nil) {
        self.certificateFile = certificateFile
    }

    // MARK: ClientTransport

    /// Sends a request. If a kept connection ends before the first byte of the answer, the request is sent once more on
    /// a new connection.
    public func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        try await onThread { waker throws(TransportFailure) in
            let deadline = ContinuousClock.now + request.timeout
            if let stream = self.takeIdle(request.server) {
                stream.waker = waker
                var hasAnswer = false
                do throws(TransportFailure) {
                    return try self.exchange(request, on: stream, deadline, &hasAnswer)
                } catch {
                    // The server may have closed the connection while the request was on its way. Requests can be
                    // repeated: sends have an id, and the others set a state instead of changing it by a step.
                    guard error.kind == .unreachable, !hasAnswer else { throw error }
                }
            }
            var hasAnswer = false
            let stream = try self.open(request.server, waker, deadline)
            return try self.exchange(request, on: stream, deadline, &hasAnswer)
        }
    }

    /// Opens a WebSocket.
    public func connect(_ request: TransportRequest) async throws(TransportFailure) -> any ClientSocket {
        try await onThread { waker throws(TransportFailure) in
            let deadline = ContinuousClock.now + request.timeout
            let stream = try self.open(request.server, waker, deadline)
            return try ThreadedSocket.open(request, on: stream, deadline: deadline)
        }
    }

    // MARK: Connections

    private func open(
        _ server: ServerAddress, _ waker: Waker, _ deadline: ContinuousClock.Instant
    ) throws(TransportFailure) -> ByteStream {
        var trusted: TrustedCertificates?
        if server.isSecure {
            trusted = certificates.withLock { $0 }
            if trusted == nil {
                let made = try TrustedCertificates(adding: certificateFile)
                certificates.withLock { $0 = made }
                trusted = made
            }
        }
        return try ByteStream(to: server, trusting: trusted, waker: waker, deadline: deadline)
    }

    private func takeIdle(_ server: ServerAddress) -> ByteStream? {
        idle.withLock { idle in
            let oldest = ContinuousClock.now - Self.idleTime
            idle.removeAll { $0.since < oldest }
            return idle.lastIndex { $0.server == server }.map { idle.remove(at: $0).stream }
        }
    }

    private func keep(_ stream: ByteStream, of server: ServerAddress) {
        idle.withLock { idle in
            if idle.count == Self.idleConnections { idle.removeFirst() }
            idle.append(Idle(server: server, stream: stream, since: .now))
        }
    }

    // MARK: Requests

    private func exchange(
        _ request: TransportRequest, on stream: ByteStream, _ deadline: ContinuousClock.Instant,
        _ hasAnswer: inout Bool
    ) throws(TransportFailure) -> TransportResponse {
        var bytes: [UInt8] = []
        RequestWriter.write(request, fields: request.fields.map { ($0.key, $0.value) }, into: &bytes)
        try stream.writeAll(bytes, until: deadline)

        var limits = HTTPLimits()
        limits.bodyBytes = Self.bodyBytes
        var parser = ResponseParser(limits: limits, keeping: [.retryAfter])
        var buffer = [UInt8](repeating: 0, count: Self.readBytes)
        do {
            while true {
                let count = try stream.readSome(into: &buffer, until: deadline)
                if count > 0 { hasAnswer = true }
                parser.append(buffer.span.extracting(first: count))
                if case .response(let response) = try parser.next() {
                    if response.keepAlive { keep(stream, of: request.server) }
                    return TransportResponse(response)
                }
                if count == 0 {
                    if let response = try parser.finish() { return TransportResponse(response) }
                    throw TransportFailure(.unreachable, "The connection ended before the answer.")
                }
            }
        } catch let refusal as ResponseRefusal {
            // An answer that was cut off counts as lost, not as invalid.
            let kind: TransportFailure.Kind = refusal.code == "response_cut_off" ? .unreachable : .invalidAnswer
            throw TransportFailure(kind, refusal.detail)
        } catch let failure as TransportFailure {
            throw failure
        } catch {
            throw TransportFailure(.invalidAnswer, "\(error)")
        }
    }
}

extension RequestWriter {
    /// Appends a request with these fields.
    static func write(_ request: TransportRequest, fields: [(String, String)], into output: inout [UInt8]) {
        write(
            HTTPRequest.Method(request.method) ?? .get, request.server.path + request.target,
            host: request.server.authority,
            fields: fields.compactMap { name, value in
                HTTPField.Name(name).map { HTTPField(name: $0, value: value) }
            },
            body: request.body.span, into: &output)
    }
}

extension TransportResponse {
    init(_ response: Response) {
        self.init(
            status: response.status.code, retryAfter: response.fields[.retryAfter].flatMap(Double.init),
            body: response.body)
    }
}

// MARK: - Bytes until a deadline

extension ByteStream {
    /// Writes all bytes.
    func writeAll(_ bytes: [UInt8], until deadline: ContinuousClock.Instant) throws(TransportFailure) {
        var sent = 0
        while sent < bytes.count {
            switch try write(bytes[sent...]) {
            case .bytes(let count): sent += count
            case .wait(let events): try wait(for: events, until: deadline)
            }
        }
    }

    /// Reads at least one byte, or none at the end of the input.
    func readSome(into buffer: inout [UInt8], until deadline: ContinuousClock.Instant) throws(TransportFailure) -> Int {
        while true {
            switch try read(into: &buffer) {
            case .bytes(let count): return count
            case .wait(let events): try wait(for: events, until: deadline)
            }
        }
    }
}

// MARK: - Threads

/// Runs `body` on a thread of its own, because it blocks. Cancelling the task wakes it.
func onThread<T: Sendable>(
    _ body: @escaping @Sendable (Waker) throws(TransportFailure) -> T
) async throws(TransportFailure) -> T {
    let waker = try Waker()
    let result: Result<T, TransportFailure> = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            startThread {
                do throws(TransportFailure) {
                    continuation.resume(returning: .success(try body(waker)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
    } onCancel: {
        waker.wake()
    }
    return try result.get()
}

/// Starts a detached thread that runs `body`.
func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 512 * 1024)
    defer { pthread_attr_destroy(&attributes) }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body))
    let failed = pthread_create(
        &thread, &attributes,
        { argument in
            // Writing to a connection that has ended is an error, not a signal that ends the app.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            // Balances the retain before `pthread_create`.
            Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().body()
            return nil
        }, box.toOpaque())
    precondition(failed == 0, "the system has no more threads")
}
#endif
