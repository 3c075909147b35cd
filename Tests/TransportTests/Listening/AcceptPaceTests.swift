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

    @Test("are accepted at any rate while nobody is being served")
    func unhurried() {
        var pace = AcceptPace(rate: 100, burst: 2)
        #expect(rests(&pace, at: [0, 0, 0, 0, 1]) == [nil, nil, nil, nil, nil])
    }

    @Test("are accepted at a limited rate while others are being served, and for a second after that")
    func paced() {
        var pace = AcceptPace(rate: 100, burst: 2)
        pace.prioritizeClients(at: start)
        // Accepted clients delay the next ones.
        #expect(rests(&pace, at: [1, 1, 1, 31, 32]) == [nil, 20, 30, nil, nil])
        #expect(rests(&pace, at: [60, 60, 70]) == [nil, 20, 20])
        #expect(rests(&pace, at: [998, 999, 999, 1000]) == [nil, nil, 29, nil])
    }

    @Test("do not wait for those accepted while nobody was being served")
    func forgotten() {
        var pace = AcceptPace(rate: 100, burst: 2)
        _ = rests(&pace, at: Array(repeating: 0, count: 10_000))
        pace.prioritizeClients(at: start)
        #expect(rests(&pace, at: [0, 0]) == [nil, 20])
    }

    @Test("do not wait for those that have left, which leaves no credit either")
    func left() {
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

    @Test("wait at most a tenth of a second, whatever their number")
    func longestRest() {
        var pace = AcceptPace(rate: 100, burst: 2)
        pace.prioritizeClients(at: start)
        #expect(rests(&pace, at: Array(repeating: 0, count: 10_000)).last == 100)
    }

    @Test("are accepted at 2,300 a second on each loop, 8 at once")
    func defaults() {
        let limits = TransportLimits()
        #expect(limits.acceptRate == 2300 && limits.acceptBurst == 8)
    }

    @Test("are accepted at least one at a time")
    func bounds() {
        var pace = AcceptPace(rate: 0, burst: 0)
        pace.prioritizeClients(at: start)
        #expect(pace.rest(at: start) == nil)
        #expect(rests(&pace, at: [0]) == [1000])
    }

    @Test("are all accepted, at the limited rate", arguments: ["127.0.0.1", "localhost"])
    func served(host: String) throws {
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
