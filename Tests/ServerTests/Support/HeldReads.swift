import Dispatch
import HTTP
import HTTPTypes
import Synchronization

@testable import Server

/// Holds the results of a server's only reader, and so all later reads, for as long as a test needs.
final class HeldReads {
    private let gate = ReaderGate()
    /// The client of the held read. If it leaves, its read is not answered.
    private var client: HTTPClient?

    /// Installs the hook without holding reads yet.
    ///
    /// - Parameter configuration: The configuration of a server that has not started.
    init(of configuration: inout ServerConfiguration) {
        configuration.readers = 1
        configuration.onRead = { [gate] in gate.pass() }
    }

    /// Holds reads from now on. When it returns, the reader waits and its queue is empty.
    ///
    /// - Parameter target: A resource to read. The log has answered this read already when it is held.
    func hold(
        _ server: LiveServer, as token: String? = nil, on target: String = "/v1/rooms/unused", fields: [HTTPField] = []
    ) throws {
        gate.close()
        client = try HTTPClient(port: server.port)
        let fields = fields + (token.map { [.bearer($0)] } ?? [])
        try client?.write(HTTPClient.bytes(.get, target, fields: fields))
        gate.waitForArrival()
    }

    /// Returns the answer to the request whose read was held.
    func response() throws -> Response {
        guard let client else { throw Unexpected("no read was held") }
        return try client.response()
    }

    /// Waits until this many reads are queued behind the held one.
    func wait(for count: Int, _ client: HTTPClient) throws {
        while try !client.get("/metrics").text.contains("\nbackscroll_queued_reads \(count)\n") {}
    }

    /// Releases the reader.
    func open() {
        gate.open()
    }
}

/// A gate that blocks threads while it is closed.
private final class ReaderGate: Sendable {
    private struct State {
        var isClosed = false
        var waiting = 0
    }

    private let state = Mutex(State())
    private let arrived = DispatchSemaphore(value: 0)
    private let opened = DispatchSemaphore(value: 0)

    func pass() {
        let waits = state.withLock { state in
            if state.isClosed { state.waiting += 1 }
            return state.isClosed
        }
        guard waits else { return }
        arrived.signal()
        opened.wait()
    }

    func close() {
        state.withLock { $0.isClosed = true }
    }

    func waitForArrival() {
        arrived.wait()
    }

    func open() {
        let waiting = state.withLock { state in
            let waiting = state.waiting
            state = State()
            return waiting
        }
        for _ in 0..<waiting { opened.signal() }
    }
}

/// Runs `body` with a server whose reads can be held.
///
/// - Parameter configure: Changes the server's configuration.
func withHeldReads<R>(
    _ configure: (inout ServerConfiguration) -> Void = { _ in },
    _ body: (LiveServer, HTTPClient, HeldReads) throws -> R
) throws -> R {
    var reads: HeldReads!
    return try withServer {
        reads = HeldReads(of: &$0)
        configure(&$0)
    } _: { server in
        defer { reads.open() }
        return try body(server, HTTPClient(port: server.port), reads)
    }
}
