import Glibc
import Testing

@testable import Server

@Suite struct ProcessMetricsTests {
    private func value(_ name: String, _ registry: PrometheusRegistry) -> Double? {
        registry.samples.first { $0.hasPrefix(name + " ") }.flatMap { Double($0.dropFirst(name.count + 1)) }
    }

    @Test func `the fields of a stat line are found after a command with parentheses and spaces`() throws {
        let line = """
            1234 (a ) (b) S 1 1234 1234 0 -1 4194560 9 0 0 0 250 50 0 0 20 0 8 0 987654 1073741824 2048 \
            18446744073709551615 1 1

            """
        let status = try #require(ProcessStatus(line))
        #expect(status.processorTicks == 300)
        #expect(status.startTicks == 987_654)
        #expect(status.virtualBytes == 1_073_741_824)
        #expect(status.residentPages == 2048)
    }

    @Test(arguments: ["", "1 (a", "1 (a) S 1 2 3", "1 (a) S 1 1 1 0 -1 4 9 0 0 0 x 50 0 0 20 0 8 0 9 10 11 12"])
    func `a malformed line gives no values`(line: String) {
        #expect(ProcessStatus(line) == nil)
    }

    @Test func `the process metrics have their usual names`() throws {
        let registry = PrometheusRegistry()
        registry.observeProcess()
        #expect(try #require(value("process_cpu_seconds_total", registry)) >= 0)
        let resident = try #require(value("process_resident_memory_bytes", registry))
        #expect(resident > 1_000_000)
        #expect(try #require(value("process_virtual_memory_bytes", registry)) >= resident)
        #expect(try #require(value("process_max_fds", registry)) >= 3)
        #expect(registry.text.contains("# TYPE process_cpu_seconds_total counter\n"))
        #expect(registry.text.contains("# TYPE process_open_fds gauge\n"))
    }

    @Test func `the start time is in the past, and constant`() throws {
        let registry = PrometheusRegistry()
        registry.observeProcess()
        let start = try #require(value("process_start_time_seconds", registry))
        #expect(start > 1_700_000_000)
        #expect(start <= Double(time(nil)) + 1)
        #expect(value("process_start_time_seconds", registry) == start)
    }

    @Test func `open descriptors are counted`() throws {
        let registry = PrometheusRegistry()
        registry.observeProcess()
        // More than concurrent tests may close.
        let opened = (0..<100).map { _ in open("/dev/null", O_RDONLY) }
        defer { for descriptor in opened { close(descriptor) } }
        #expect(try #require(value("process_open_fds", registry)) >= 103)
    }
}
