import HTTP
import TestSupport
import Testing
import Transport

@testable import Server

@Suite("The shared exposition of metrics")
struct SharedExpositionTests {
    private let start = ContinuousClock.now

    private func registry(counting reads: Recorder<Int>) -> PrometheusRegistry {
        let registry = PrometheusRegistry()
        registry.observeGauge("reads", help: "Counts expositions.") {
            reads.record(1)
            return Double(reads.events.count)
        }
        return registry
    }

    @Test func `is computed once in its interval`() throws {
        let reads = Recorder<Int>()
        let shared = SharedExposition(of: registry(counting: reads), interval: .seconds(1))
        let first = shared.bytes(at: start)
        #expect(String(decoding: first, as: UTF8.self).contains("\nreads 1\n"))
        #expect(shared.bytes(at: start + .milliseconds(999)) == first)
        #expect(reads.events.count == 1)
        let second = shared.bytes(at: start + .seconds(1))
        #expect(String(decoding: second, as: UTF8.self).contains("\nreads 2\n"))
        #expect(shared.bytes(at: start + .milliseconds(1999)) == second)
        #expect(reads.events.count == 2)
    }

    @Test func `is computed each time with an interval of zero`() throws {
        let reads = Recorder<Int>()
        let shared = SharedExposition(of: registry(counting: reads), interval: .zero)
        for _ in 1...3 { _ = shared.bytes(at: start) }
        #expect(reads.events.count == 3)
    }

    @Test func `is the same for all connections of a server, and each second a new one`() throws {
        try withServer {
            $0.threads = 2
            $0.metricsInterval = ServerConfiguration().metricsInterval
        } _: { server in
            let clients = try (1...4).map { _ in try HTTPClient(port: server.port) }
            func samples() throws -> Set<String> { try Set(clients.map { try $0.get("/metrics").text }) }
            // The interval may end between two of the clients once, not twice.
            let (first, second) = (try samples(), try samples())
            #expect(first.count == 1 || second.count == 1)
            while try clients[0].get("/metrics").text == first.first {}
        }
    }
}
