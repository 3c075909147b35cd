import ArgumentParser
import Testing
import Wire

@testable import Load

@Suite struct ReportTests {
    /// Returns a report of a run with these options that delivered a million messages in four seconds.
    static func report(_ options: String...) throws -> Report {
        var report = Report(try PlanBuilder(try LoadCommand.parse(["http://h"] + options)).plan(run: 42))
        report.connected = report.plan.subscribers
        report.connectSeconds = 0.25
        var last = RunCounters(time: 5_000_000_000)
        last.tally = Tally(started: 10_000, acknowledged: 10_000, deliveries: 1_000_000)
        last.subscribers = report.connected
        last.delivery.record(2_000_000)
        last.answer.record(1_000_000)
        report.measure(from: RunCounters(time: 1_000_000_000), to: last)
        report.finish(last)
        report.usage.base = ProcessUsage(cpuSeconds: 1, memory: 10e6)
        report.usage.connected = ProcessUsage(cpuSeconds: 1.5, memory: 11e6)
        report.usage.settled = ProcessUsage(cpuSeconds: 1.5, memory: 11e6)
        report.usage.measure(from: (ProcessUsage(cpuSeconds: 2), 1), to: (ProcessUsage(cpuSeconds: 4, memory: 12e6), 4))
        return report
    }

    static func good() -> Verdict {
        Verdict(VerdictTests.records(sent: [VerdictTests.three], got: [[[0, 1, 2]]]))
    }

    @Test func `the text has a label for each figure`() throws {
        var report = try Self.report("--pid", "1")
        report.verdict = Self.good()
        #expect(
            ReportText(report).lines == [
                "run         http://h, run 42, 100 subscribers in 1 room, 32 in flight until delivered, 256 bytes, 4.0 s",
                "connected   100 in 0.25 s, 0.50 s of server CPU, 10.0 kB of server memory each (10.0 MB before, 11.0 MB now)",
                "sends/s     2,500 (10,000 acknowledged in 4.00 s)",
                "deliver/s   250,000 (1,000,000 delivered in 4.00 s)",
                "ack         p50 1.000  p90 1.000  p99 1.000  p99.9 1.000  max 1.000 ms",
                "delivery    p50 2.000  p90 2.000  p99 2.000  p99.9 2.000  max 2.000 ms",
                "server      50 % of a core: 500,000 deliveries, 5,000 sends per CPU second; 12.0 MB at the end",
                "tool        75 % of a core",
                "verdict     OK: each of 1 subscriber got every message of its room exactly once, all in the same order",
                "            3 messages, 3 deliveries",
            ])
    }

    @Test func `a run that reaches less than half of the rate fails`() throws {
        // 10,000 requests in four seconds.
        for (rate, asked) in [("2500", nil), ("5000", nil), ("5001", 20_004), ("100000", 400_000)] as [(String, Int?)] {
            var report = try Self.report("--rate", rate)
            report.verdict = Self.good()
            #expect(report.unmetRequests == asked)
            #expect(report.isGood == (asked == nil))
            let verdict = try #require(ReportText(report).lines.first { $0.hasPrefix("verdict") })
            #expect(
                verdict.contains("OK") == (asked == nil) && verdict.contains("FAILED: only 10,000") == (asked != nil))
        }
        #expect(try Self.report("--rate", "100000", "--messages", "10").unmetRequests == nil)
    }

    @Test func `disturbances are noted`() throws {
        var report = try Self.report("--rate", "2.5")
        report.measured.late = 3
        report.backlog = 4
        report.total.retried = 1
        report.total.confirmed = 1
        report.total.resumed = 2
        report.failures.note("refused: 503")
        report.endedEarly = "it was interrupted"
        let lines = ReportText(report).lines
        #expect(lines[0].contains("2.5/s over 128 connections"))
        #expect(lines[1] == "            ended early: it was interrupted")
        #expect(
            lines.contains {
                $0.hasSuffix(
                    "; 3 began late, 4 still due at the end, 1 retry, 1 were found stored already, 2 subscriptions resumed"
                )
            })
        #expect(lines.contains("failures    refused: 503"))
        #expect(!lines.contains { $0.hasPrefix("server") })
    }

    @Test func `pages are judged by their answers`() throws {
        var report = try Self.report("--method", "GET", "--subscribers", "0", "--url", "http://h/")
        report.measured.contentBytes = 50_000_000
        let lines = ReportText(report).lines
        #expect(lines.contains("pages/s     2,500 (10,000 answered in 4.00 s) of 5.0 kB each"))
        #expect(lines.last == "verdict     OK")
        report.total.refused = 2
        report.total.started += 2 + 32
        #expect(
            ReportText(report).lines.suffix(2) == [
                "verdict     FAILED: 2 requests were refused", "            FAILED: 32 requests were never answered",
            ])
        #expect(!report.isGood)
        #expect(report.json.contains(#""refused":2,"unanswered":32,"#))
        report.total.refused = 0
        report.total.started = 10_001
        #expect(!report.isGood)
        #expect(ReportText(report).lines.last == "verdict     FAILED: 1 request was never answered")
    }

    @Test func `held connections are judged by their losses`() throws {
        var report = try Self.report("--idle")
        #expect(ReportText(report).lines.last == "verdict     OK")
        report.lost = 1
        #expect(
            ReportText(report).lines.last == "verdict     FAILED: 1 of 100 subscribers had no connection at the end")
        #expect(!report.isGood)
        #expect(report.json.contains(#""lost_subscribers":1,"#))
    }

    @Test func `the JSON can be parsed, and has the same content`() throws {
        var report = try Self.report("--pid", "1")
        report.verdict = Self.good()
        report.failures.note("a \"quoted\" reason")
        let json = report.json
        var scanner = try JSONScanner(Array(json.utf8))
        try scanner.skipValue()
        try scanner.finish()
        for part in [
            #"{"ok":true,"#, #""acknowledged_per_second":2500.000"#, #""deliveries":1000000"#, #""p99.9":2.000"#,
            #""deliveries_per_server_cpu_second":500000.000"#, #""missing":0"#, #""failures":["a \"quoted\" reason"]"#,
        ] {
            #expect(json.contains(part), "\(part) in \(json)")
        }
    }

    @Test func `the progress line shows the changes since the last one`() throws {
        let plan = try PlanBuilder(try LoadCommand.parse(["http://h"])).plan(run: 1)
        var now = RunCounters(time: 3_000_000_000)
        now.tally = Tally(acknowledged: 5000, deliveries: 500_000)
        now.delivery.record(1_500_000)
        now.subscribers = 98
        #expect(
            ProgressLine(plan: plan, from: RunCounters(time: 2_000_000_000), to: now).text
                == "3 s  5,000 sends/s  500,000 deliveries/s  delivered p99 1.500 ms  2 not connected")
    }
}
