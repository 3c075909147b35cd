import ArgumentParser
import Testing

@testable import Bench

@Suite("A benchmark")
struct BenchmarkTests {
    @Test func `runs in rounds of as many calls as fit the round time, and reports the time for each unit`() throws {
        var calls: [Int] = []
        let benchmark = Benchmark("x", per: "thing", times: 10) { count in
            calls.append(count)
            for number in 0..<count * 1000 { keep(number) }
        }
        let measurement = try benchmark.measure(rounds: 3, roundTime: .milliseconds(2))
        #expect(calls.count > 3 && Set(calls.suffix(4)).count == 1)
        #expect(measurement.nanoseconds.count == 3 && measurement.nanoseconds == measurement.nanoseconds.sorted())
        #expect(measurement.nanoseconds.allSatisfy { $0 > 0 })
    }

    @Test func `reports the median of its rounds`() {
        let measurement = Measurement(name: "http parse a send", unit: "request", nanoseconds: [90, 100, 130])
        #expect(measurement.median == 100 && measurement.perSecond == 10_000_000 && measurement.spread == 0.4)
        #expect(
            BenchReport.line(measurement)
                == "http parse a send                             100 ns/request   10,000,000/s   rounds within 40 %")
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567")])
    func `separates thousands in numbers`(number: Int, text: String) {
        #expect(BenchReport.grouped(number) == text)
    }

    @Test func `gets the expected result from each piece of work`() throws {
        for benchmark in try CodecBenchmarks.all() + FeedBenchmarks.all() { try benchmark.work(2) }
        let store = try StoreBenchmarks(in: "/tmp", messages: 100)
        for benchmark in store.all { try benchmark.work(1) }
    }

    @Test func `measures the memory of a client's room`() async throws {
        let sizes = try await ClientBenchmarks.measureMemory(after: [4_000, 14_000])
        #expect(sizes.count == 2 && sizes.allSatisfy { $0 > 0 })
        let line = BenchReport.line("memory", [(Int64(4_000), 3_145_728), (14_000, 4_194_304)])
        #expect(line.hasSuffix("  3,072 KiB after 4,000 messages, 4,096 KiB after 14,000 messages"))
    }

    @Test func `applies live messages in a session of the client, until its room shows them`() async throws {
        let measurement = try await ClientBenchmarks.measure(rounds: 1)
        #expect(measurement.nanoseconds.count == 1 && measurement.median > 0)
    }

    @Test(arguments: [["--rounds", "0"], ["--round-time", "0"], ["--messages", "5"]])
    func `refuses options out of range`(arguments: [String]) {
        #expect(throws: (any Error).self) { try BenchCommand.parse(arguments) }
    }
}
