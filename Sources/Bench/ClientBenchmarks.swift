import BackscrollClient
import BackscrollTimeline
import FoundationEssentials

/// Benchmarks of the client library: live messages from the socket's bytes to the rows of a screen.
enum ClientBenchmarks {
    static let name = "client apply a live message"
    /// Number of messages in a round.
    static let messages = 10_000

    /// Times rounds of one session with one open room. A further round comes first and is not counted.
    static func measure(rounds: Int) async throws -> Measurement {
        let frames = try frames(1...Int64(messages))
        var times: [Double] = []
        for round in 0...rounds {
            let time = try await apply(frames)
            if round > 0 { times.append(time / .nanoseconds(1) / Double(messages)) }
        }
        return Measurement(name: name, unit: "message", nanoseconds: times.sorted())
    }

    static let memoryName = "client memory of a room"
    /// Numbers of live messages after which the memory is measured.
    static let memorySteps: [Int64] = [10_000, 100_000]

    /// Returns the resident bytes of the process after each number of messages, in one session with one open room.
    static func measureMemory(after steps: [Int64] = memorySteps) async throws -> [Int] {
        let socket = ScriptedSocket()
        let (client, room) = try await openRoom(on: socket)
        var results: [Int] = []
        var seq: Int64 = 0
        for step in steps {
            while seq < step {
                let last = min(seq + 1000, step)
                await socket.push(try frames(seq + 1...last))
                for await change in room.changes where change.view.rows.last?.seq == last { break }
                seq = last
            }
            results.append(try residentBytes())
        }
        await client.close()
        return results
    }

    /// Returns the process's resident memory (proc_pid_status(5)).
    private static func residentBytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let kibibytes = line?.split(separator: " ").dropLast().last.flatMap({ Int($0) }) else {
            throw BenchError.wrongResult
        }
        return kibibytes * 1024
    }

    private static func frames(_ seqs: ClosedRange<Int64>) throws -> [[UInt8]] {
        try seqs.map { seq in
            Array(#"{"type":"message","message":"#.utf8) + (try Samples.snapshot(seq)) + Array("}".utf8)
        }
    }

    private static func openRoom(on socket: ScriptedSocket) async throws -> (BackscrollClient, Room) {
        var options = ClientOptions()
        options.transport = ScriptedTransport(socket: socket)
        let client = BackscrollClient(
            server: URL(string: "http://bench.invalid")!, user: .name("alice"), options: options)
        let room = try await client.room("lobby").open(at: .newest)
        for await change in room.changes where change.view.connection == .live { break }
        return (client, room)
    }

    /// Returns the time from the first frame until the last one is shown.
    private static func apply(_ frames: [[UInt8]]) async throws -> Duration {
        let socket = ScriptedSocket()
        let (client, room) = try await openRoom(on: socket)
        let start = ContinuousClock.now
        await socket.push(frames)
        for await change in room.changes where change.view.rows.last?.seq == Int64(frames.count) { break }
        let time = ContinuousClock.now - start
        await client.close()
        return time
    }
}

/// A network whose server has one empty room.
private struct ScriptedTransport: ClientTransport {
    let socket: ScriptedSocket

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        let page = #"{"messages":[],"has_before":false,"has_after":false,"head":0,"rev":0,"epoch":"E"}"#
        return TransportResponse(status: 200, body: Array(page.utf8))
    }

    func connect(_ request: TransportRequest) async throws(TransportFailure) -> any ClientSocket {
        socket
    }
}

/// A socket that receives what it is given.
private actor ScriptedSocket: ClientSocket {
    private var texts: [[UInt8]] = []
    private var next = 0
    private var isClosed = false
    private var waiter: CheckedContinuation<Void, Never>?

    func push(_ added: [[UInt8]]) {
        texts += added
        wake()
    }

    func receive() async throws(TransportFailure) -> SocketEvent {
        while next == texts.count {
            texts.removeAll(keepingCapacity: true)
            next = 0
            if isClosed { return .closed(code: 1000, reason: "") }
            await withCheckedContinuation { waiter = $0 }
        }
        next += 1
        return .text(texts[next - 1])
    }

    func send(_ text: String) {
        guard text.contains(#""subscribe""#) else { return }
        push([
            Array(#"{"type":"subscribed","room":"lobby","head":0,"epoch":"E"}"#.utf8),
            Array(#"{"type":"live","room":"lobby","rev":0}"#.utf8),
        ])
    }

    func ping() {}

    func close(code: Int) {
        isClosed = true
        wake()
    }

    private func wake() {
        waiter?.resume()
        waiter = nil
    }
}
