import ArgumentParser
import Commands
import Testing
import Transport

@testable import Load

/// Tests runs that only hold connections, to servers that close once all are open.
@Suite struct IdleTests {
    /// Connects, lets `event` happen, and holds the remaining connections.
    private static func hold(
        _ options: [String], after event: () throws -> Void
    ) async throws -> Report {
        let usual = ["--subscribers=12", "--idle", "--seconds=0.001"]
        let plan = try PlanBuilder(try LoadCommand.parse(usual + options)).plan(run: 7)
        return try await EndToEndTests.onOwnThread {
            let run = try LoadRun(plan, console: Console(isQuiet: true))
            defer { run.group.stop() }
            try await run.connect()
            try event()
            try await run.hold()
            return run.report
        }
    }

    @Test(arguments: [["--reconnect", "--drain=0.3"], []])
    func `connections missing at the end are found`(options: [String]) async throws {
        let server = try TinyServer()
        let report = try await Self.hold([server.address] + options) { server.stop() }
        #expect(!report.isGood)
        let last = ReportText(report).lines.last ?? ""
        #expect(last.hasSuffix("FAILED: 12 of 12 subscribers had no connection at the end"), "\(last)")
    }

    @Test func `reconnections are not faults`() async throws {
        let server = try TinyServer()
        var next: TinyServer?
        defer { next?.stop() }
        let report = try await Self.hold([server.address, "--reconnect"]) {
            server.stop()
            next = try TinyServer(port: server.port)
        }
        #expect(report.isGood, "\(report.failures.lines)")
        #expect(report.total.resumed == 12)
    }
}
