import Testing

@testable import Load

@Suite struct LatencyTests {
    @Test func `percentiles are accurate to a thousandth`() {
        var latency = Latency()
        for microseconds in 1...10_000 { latency.record(Int64(microseconds) * 1000) }
        let summary = latency.summary
        #expect(summary.count == 10_000)
        for (value, expected) in [
            (summary.p50, 5.0), (summary.p90, 9.0), (summary.p95, 9.5), (summary.p99, 9.9), (summary.p999, 9.99),
            (summary.max, 10),
        ] {
            #expect(abs(value - expected) <= expected / 1000 + 0.001)
        }
    }

    @Test func `values out of range count at the nearest end`() {
        var latency = Latency()
        latency.record(-5)
        latency.record(.max)
        #expect(latency.summary.count == 2)
        #expect(latency.summary.max >= 600_000)
    }

    @Test func `the latencies of loops are added up`() {
        var a = Latency()
        var b = Latency()
        a.record(1_000_000)
        b.record(3_000_000)
        a.add(b)
        #expect(a.summary.count == 2)
        #expect(abs(a.summary.max - 3) < 0.01)
        #expect(Latency().summary == LatencySummary())
    }
}
