import TestSupport
import Testing

@testable import Transport

@Suite("New connections")
struct AcceptPaceTests {
    private let start = ContinuousClock.now

    /// Asks for each of these milliseconds how long the next one has to wait, and lets it in if it has not to.
    private func rests(_ pace: inout AcceptPace, at times: [Int]) -> [Int?] {
        times.map { time in
            let now = start + .milliseconds(time)
            if let rest = pace.rest(at: now) { return rest.roundedMilliseconds }
            pace.admitted(at: now)
            return nil
        }
    }

    @Test("come in as fast as they can while nobody is being served")
    func unhurried() {
        var pace = AcceptPace(limit: 2, interval: .milliseconds(10))
        #expect(rests(&pace, at: [0, 0, 0, 0, 1]) == [nil, nil, nil, nil, nil])
    }

    @Test("come in a few at a time while others are being served, and for a second after that")
    func paced() {
        var pace = AcceptPace(limit: 2, interval: .milliseconds(10))
        pace.favourClients(at: start)
        #expect(rests(&pace, at: [1, 4, 4, 10, 11, 11, 11]) == [nil, nil, 7, 1, nil, nil, 10])
        // One that comes alone does not wait, however many there were.
        #expect(rests(&pace, at: [500, 998, 999, 999, 1000, 1000]) == [nil, nil, nil, 9, nil, nil])
    }

    @Test("come in one at a time at least")
    func limit() {
        var pace = AcceptPace(limit: 0, interval: .milliseconds(10))
        pace.favourClients(at: start)
        #expect(rests(&pace, at: [0, 0]) == [nil, 10])
    }

    @Test("are all served, the last ones when their time has come", arguments: ["127.0.0.1", "localhost"])
    func served(host: String) throws {
        var script = Script()
        script.received = { connection, bytes in
            connection.loop.favourClients()
            connection.write(bytes)
        }
        let limits = TransportLimits(acceptsPerInterval: 1, acceptInterval: .milliseconds(50))
        try withServer(script, host: host, limits: limits) { server in
            let first = try TestClient(port: server.port)
            try first.send("hello")
            #expect(try first.receive(asLongAs: "hello") == "hello")
            let start = ContinuousClock.now
            let clients = try (0..<4).map { _ in try TestClient(port: server.port) }
            for client in clients {
                try client.send("hello")
                #expect(try client.receive(asLongAs: "hello") == "hello")
            }
            // One may have come with the first client; the others have rests in front of them.
            #expect(ContinuousClock.now - start >= .milliseconds(2 * 50))
        }
    }
}
