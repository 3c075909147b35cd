import TestSupport
import Testing

@testable import Transport

@Suite("New long-lived clients")
struct AcceptPaceTests {
    private let start = ContinuousClock.now

    /// Accepts a client at each of these times, and returns the pauses after them, in milliseconds.
    private func rests(_ pace: inout AcceptPace, at times: [Int]) -> [Int?] {
        times.map { time in
            let now = start + .milliseconds(time)
            pace.arrived(at: now)
            return pace.rest(at: now)?.roundedMilliseconds
        }
    }

    @Test func `are accepted at any rate while nobody is being served`() {
        var pace = AcceptPace(rate: 100, burst: 2)
        #expect(rests(&pace, at: [0, 0, 0, 0, 1]) == [nil, nil, nil, nil, nil])
    }

    @Test func `are accepted at a limited rate while others are being served, and for a second after that`() {
        var pace = AcceptPace(rate: 100, burst: 2)
        pace.prioritizeClients(at: start)
        // Accepted clients delay the next ones.
        #expect(rests(&pace, at: [1, 1, 1, 31, 32]) == [nil, 20, 30, nil, nil])
        #expect(rests(&pace, at: [60, 60, 70]) == [nil, 20, 20])
        #expect(rests(&pace, at: [998, 999, 999, 1000]) == [nil, nil, 29, nil])
    }

    @Test func `do not wait for those accepted while nobody was being served`() {
        var pace = AcceptPace(rate: 100, burst: 2)
        _ = rests(&pace, at: Array(repeating: 0, count: 10_000))
        pace.prioritizeClients(at: start)
        #expect(rests(&pace, at: [0, 0]) == [nil, 20])
    }

    @Test func `do not wait for those that have left, which leaves no credit either`() {
        var pace = AcceptPace(rate: 100, burst: 2)
        pace.prioritizeClients(at: start)
        for _ in 1...1000 {
            pace.arrived(at: start)
            pace.left(at: start)
        }
        #expect(pace.rest(at: start) == nil)
        for _ in 1...10 { pace.left(at: start) }
        #expect(rests(&pace, at: [0, 0, 0]) == [nil, 20, 30])
    }

    @Test func `wait at most a tenth of a second, whatever their number`() {
        var pace = AcceptPace(rate: 100, burst: 2)
        pace.prioritizeClients(at: start)
        #expect(rests(&pace, at: Array(repeating: 0, count: 10_000)).last == 100)
    }

    @Test func `are accepted at 2,300 a second on each loop, 8 at once`() {
        let limits = TransportLimits()
        #expect(limits.acceptRate == 2300 && limits.acceptBurst == 8)
    }

    @Test func `are accepted at least one at a time`() {
        var pace = AcceptPace(rate: 0, burst: 0)
        pace.prioritizeClients(at: start)
        #expect(pace.rest(at: start) == nil)
        #expect(rests(&pace, at: [0]) == [1000])
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `are all accepted, at the limited rate`(host: String) throws {
        var script = Script()
        script.received = { connection, bytes in
            connection.loop.prioritizeClients()
            connection.loop.clientStays()
            connection.write(bytes)
        }
        try withServer(script, host: host, limits: TransportLimits(acceptRate: 20, acceptBurst: 1)) { server in
            let start = ContinuousClock.now
            for _ in 0..<4 {
                let client = try TestClient(port: server.port)
                try client.send("hello")
                #expect(try client.receive(asLongAs: "hello") == "hello")
            }
            // A lower bound, not a race: the third waits for the first two, 50 ms each, less the inaccuracy of timers.
            #expect(ContinuousClock.now - start >= .milliseconds(90))
        }
    }
}
