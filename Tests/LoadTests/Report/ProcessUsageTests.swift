import Glibc
import Testing

@testable import Load

@Suite struct ProcessUsageTests {
    @Test func `a program's name may contain anything`() throws {
        let line = "123 (a) R 7 (x)) S 45 6 7 8 9 10 11 12 13 14 150 50 3 2 20 0 1 0 100"
        let stat = try #require(ProcessStat(line: line, ticksPerSecond: 100))
        #expect(stat.parent == 45)
        #expect(stat.cpuSeconds == 2.05)
        #expect(stat.childSeconds == 0.05)
        #expect(ProcessStat(line: "123 (a) R", ticksPerSecond: 100) == nil)
        #expect(ProcessStat(line: "", ticksPerSecond: 100) == nil)
    }

    @Test func `this process uses memory, and a missing process uses none`() {
        let own = Int(getpid())
        #expect(ProcessUsage.exists(own))
        #expect(ProcessUsage.read(of: [own]).memory > 100_000)
        #expect(ProcessUsage.read(of: [own]).cpuSeconds > 0)
        #expect(ProcessUsage.ownCPUSeconds > 0)
        #expect(!ProcessUsage.exists(Int(Int32.max)))
        #expect(ProcessUsage.read(of: [Int(Int32.max)]) == ProcessUsage())
        #expect(ProcessUsage.read(of: []) == ProcessUsage())
    }
}
