import Testing

@testable import Server

@Suite struct InstrumentTests {
    /// Runs `body` this many times in each of four tasks.
    private func inFourTasks(times: Int, _ body: @escaping @Sendable (Int) -> Void) async {
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for index in 0..<times { body(index) }
                }
            }
        }
    }

    @Test func `a counter loses no increment of several threads`() async {
        let counter = PrometheusCounter()
        await inFourTasks(times: 50_000) { _ in counter.increment(by: Int64(3)) }
        #expect(counter.value == .whole(600_000))
    }

    @Test func `a floating point counter loses no increment of several threads`() async {
        let counter = PrometheusCounter()
        await inFourTasks(times: 50_000) { _ in counter.increment(by: 0.5) }
        #expect(counter.value == .real(100_000))
    }

    @Test func `a counter never falls except on reset`() {
        let counter = PrometheusCounter()
        counter.increment(by: Int64(2))
        counter.increment(by: Int64(-1))
        for amount in [-1, 0, -.infinity, .infinity, .nan] as [Double] { counter.increment(by: amount) }
        #expect(counter.value == .whole(2))
        counter.increment(by: 0.25)
        #expect(counter.value == .real(2.25))
        counter.reset()
        #expect(counter.value == .whole(0))
    }

    @Test func `a counter is exact beyond the range of a double`() {
        let counter = PrometheusCounter()
        counter.increment(by: Int64(1) << 53)
        counter.increment(by: Int64(1))
        #expect(counter.value == .whole(9_007_199_254_740_993))
    }

    @Test func `a gauge goes up and down and can be set`() {
        let gauge = PrometheusGauge()
        gauge.set(Int64(10))
        gauge.increment(by: 2.5)
        gauge.decrement(by: 5)
        #expect(gauge.value == 7.5)
        gauge.increment(by: .nan)
        gauge.decrement(by: .infinity)
        #expect(gauge.value == 7.5)
        gauge.record(Int64(-3))
        #expect(gauge.value == -3)
        gauge.record(0.5)
        #expect(gauge.value == 0.5)
    }

    @Test func `a gauge moved by several threads ends where it began`() async {
        let gauge = PrometheusGauge()
        await inFourTasks(times: 20_000) { index in
            if index % 2 == 0 { gauge.increment(by: 1) } else { gauge.decrement(by: 1) }
        }
        #expect(gauge.value == 0)
    }

    @Test func `a value equal to a bound belongs to its bucket`() {
        for buckets in [HistogramBuckets.durations, .sizes] {
            for (index, bound) in buckets.upperBounds.enumerated() {
                #expect(buckets.index(of: bound) == index)
                #expect(buckets.index(of: bound.nextUp) == index + 1)
            }
            #expect(buckets.index(of: -1) == 0)
        }
    }

    @Test func `a duration equal to a bound belongs to its bucket`() {
        let nanoseconds: [Int64] = [
            100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
            100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
        ]
        let histogram = PrometheusHistogram(.durations)
        for duration in nanoseconds { histogram.recordNanoseconds(duration) }
        #expect(histogram.snapshot().cumulative == Array(1...16) + [16])
    }

    @Test func `a histogram is cumulative and has a sum`() {
        let histogram = PrometheusHistogram(.sizes)
        for value in [1, 1, 3, 40_000] as [Int64] { histogram.record(value) }
        histogram.record(0.5)
        for value in [Double.nan, .infinity, -.infinity] { histogram.record(value) }
        let (cumulative, sum) = histogram.snapshot()
        #expect(cumulative == [3, 3] + Array(repeating: 4, count: 14) + [5])
        #expect(sum == 40_005.5)
    }

    @Test func `a duration is never negative`() {
        let histogram = PrometheusHistogram(.durations)
        histogram.recordNanoseconds(-1)
        histogram.recordNanoseconds(.max)
        #expect(histogram.snapshot().cumulative == Array(repeating: 1, count: 16) + [2])
        #expect(histogram.snapshot().sum > 9e9)
    }

    @Test func `a histogram loses no value of several threads`() async {
        let histogram = PrometheusHistogram(.sizes)
        await inFourTasks(times: 20_000) { index in histogram.record(Int64(index % 4)) }
        let (cumulative, sum) = histogram.snapshot()
        #expect(cumulative == [40_000, 60_000] + Array(repeating: 80_000, count: 15))
        #expect(sum == 120_000)
    }
}
