import Dispatch
import HTTPTypes
import Synchronization

@testable import Server

/// Holds up what a server's only reader has read, and so all that is to be read after it, for as long as a test wants.
final class HeldReads {
    private let gate = ReaderGate()
    /// Whose read is held up: one who goes is not answered.
    private var client: HTTPClient?

    /// Nothing is held up yet.
    ///
    /// - Parameter configuration: the server's, which is not to be started yet.
    init(of configuration: inout ServerConfiguration) {
        configuration.readers = 1
        configuration.onRead = { [gate] in gate.pass() }
    }

    /// From now on nothing is answered that has to be read: the reader stands still when this returns, with nothing queued.
    func hold(_ server: LiveServer, as token: String? = nil) throws {
        gate.close()
        client = try HTTPClient(port: server.port)
        try client?.write(HTTPClient.bytes(.get, "/v1/rooms/unused", fields: token.map { [.bearer($0)] } ?? []))
        gate.waitForArrival()
    }

    /// Waits until so many reads are queued behind the one that is held up.
    func wait(for count: Int, _ client: HTTPClient) throws {
        while try !client.get("/metrics").text.contains("\nbackscroll_queued_reads \(count)\n") {}
    }

    /// Lets the reader go on.
    func open() {
        gate.open()
    }
}

/// Holds up threads while it is closed.
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

/// Runs `body` with a server whose reads can be held up.
///
/// - Parameter configure: changes what the server is started with.
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
