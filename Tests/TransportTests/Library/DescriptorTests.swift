import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Transport

/// Each test runs in a process of its own, since the limit of descriptors belongs to the process.
@Suite("Without free file descriptors")
struct DescriptorTests {
    @Test func `clients are served, others are refused, and nothing spins; then the loop recovers`() async {
        await #expect(processExitsWith: .success) { try DescriptorTests.runOut() }
    }

    private static func runOut() throws {
        let turns = Atomic<Int>(0)
        var script = Script()
        script.opened = { connection in
            if connection.id == 1 { connection.loop.atEndOfTurn { turns.add(1, ordering: .relaxed) } }
        }
        script.received = { connection, bytes in
            if bytes == Array("wait".utf8) { connection.setDeadline(.milliseconds(500)) }
            connection.write(bytes)
        }
        try withServer(script) { server in
            let served = try TestClient(port: server.port)
            try served.send("hello")
            #expect(try served.receive(asLongAs: "hello") == "hello")

            // Each connection takes two descriptors of this process. The clients get theirs, the server gets none.
            let clients = try (0..<200).map { _ in try TestClient() }
            try withDescriptors(more: 0) {
                for client in clients { try client.connect(to: server.port) }
                for client in clients { try client.waitForEnd() }
                try served.send("still served")
                #expect(try served.receive(asLongAs: "still served") == "still served")
                let start = turns.load(ordering: .relaxed)
                try served.send("wait")
                try server.events.wait(for: .deadline)
                // A spinning loop makes 100,000.
                #expect(turns.load(ordering: .relaxed) - start < 1000)
            }
            let next = try TestClient(port: server.port)
            try next.send("hello")
            #expect(try next.receive(asLongAs: "hello") == "hello")
            #expect(server.group.connectionCount == 2)
        }
    }

    @Test func `a group cannot start, and says so`() async {
        await #expect(processExitsWith: .success) {
            try LoopGroup(count: 1).stop()
            let open = try openDescriptors()
            // Wherever it fails after libuv's own descriptors (some of which libuv keeps), it reports it and closes
            // all.
            for more in 8..<16 {
                try withDescriptors(more: more) {
                    let error = #expect(throws: TransportError.self) { try LoopGroup(count: 2) }
                    let texts = ["has no free file descriptors", "could not create an event loop"]
                    let said = String(describing: error)
                    #expect(texts.contains { said.contains($0) }, "with \(more): \(said)")
                }
            }
            let left = try openDescriptors()
            #expect(left == open, "\(left), not \(open)")
            try withDescriptors(more: 80) { try LoopGroup(count: 2).stop() }
        }
    }

    @Test func `the limit of open files is set to the wanted value, also downwards`() async {
        await #expect(processExitsWith: .success) {
            #expect(raiseOpenFileLimit(to: 256) == 256)
            #expect(raiseOpenFileLimit(to: 128) == 128)
            #expect(raiseOpenFileLimit() >= 1024)
            #expect(availableProcessors() > 0)
        }
    }

    @Test func `the system's table of open files is enlarged in advance, and nothing stays open`() async {
        await #expect(processExitsWith: .success) {
            func tableSize() -> Int {
                let lines = (try? contents(of: "/proc/self/status"))?.split(separator: "\n") ?? []
                return lines.first { $0.hasPrefix("FDSize:") }.flatMap { Int($0.dropFirst(8)) } ?? 0
            }
            let limit = raiseOpenFileLimit(to: 8192)
            reserveDescriptors(limit / 2)
            #expect(tableSize() >= limit / 2)
            #expect(fcntl(Int32(limit / 2 - 1), F_GETFD) == -1, "it is closed again")
            reserveDescriptors(limit + 1)
            #expect(tableSize() < limit, "more than the limit there will never be")
        }
    }
}
