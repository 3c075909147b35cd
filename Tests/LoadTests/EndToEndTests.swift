import Testing

@testable import Load

/// Whole runs against a small server in this process.
@Suite struct EndToEndTests {
    /// Runs against `server` for a moment.
    static func run(_ server: TinyServer, _ change: (inout LoadOptions) -> Void = { _ in }) async throws -> Report {
        var options = LoadOptions()
        options.server = server.address
        options.subscribers = 12
        options.rooms = 3
        options.inFlight = 4
        options.seconds = 0.3
        options.warmup = 0.05
        options.settle = 0
        options.drain = 0.3
        change(&options)
        let plan = try PlanBuilder(options).plan(run: 7)
        return try await LoadRun(plan, console: Console(isQuiet: true)).run()
    }

    @Test func `a server that delivers everything is found to do so`() async throws {
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await Self.run(server)
        #expect(report.isGood)
        #expect(report.connected == 12)
        #expect(report.measured.acknowledged > 0)
        #expect(report.measured.deliveries > report.measured.acknowledged)
        #expect(report.delivery.count > 0 && report.ack.count > 0)
        #expect(report.failures.isEmpty)
        let verdict = try #require(report.verdict)
        #expect(verdict.expected == verdict.acknowledged * 4)
        #expect(verdict.faults.isEmpty)
    }

    @Test func `several threads agree with each other`() async throws {
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await Self.run(server) { options in
            options.threads = 2
            options.rooms = 2
            options.subscribers = 6
        }
        #expect(report.isGood, "\(report.verdict?.lines ?? [])")
    }

    @Test func `a fixed rate is held, and counted from the clock`() async throws {
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await Self.run(server) { options in
            options.rate = 200
            options.seconds = 0.5
        }
        #expect(report.isGood)
        #expect(report.total.started <= 120)
        #expect(report.backlog <= 1)
    }

    @Test func `sends without subscribers are judged by their answers`() async throws {
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await Self.run(server) { $0.subscribers = 0 }
        #expect(report.isGood)
        #expect(report.verdict?.expected == 0)
        #expect(report.measured.deliveries == 0)
    }

    @Test func `pages are asked for and counted`() async throws {
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await Self.run(server) { options in
            options.method = "GET"
            options.subscribers = nil
            options.post = server.address + "/v1/rooms/big/messages?before={rand}"
            options.random = "31:1000000"
        }
        #expect(report.isGood)
        #expect(report.kind == .pages)
        #expect(report.measured.contentBytes == report.measured.acknowledged * #"{"seq":1}"#.utf8.count)
    }

    @Test func `connections can be held without sending anything`() async throws {
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await Self.run(server) { $0.isIdle = true }
        #expect(report.isGood)
        #expect(report.kind == .connections)
        #expect(report.verdict == nil)
    }

    @Test func `publishers connect anew when the server ends connections`() async throws {
        let server = try TinyServer(TinyServer.Faults(closesAfterAnswers: true))
        defer { server.stop() }
        let report = try await Self.run(server)
        #expect(report.isGood, "\(report.verdict?.lines ?? []) \(report.failures.lines)")
    }

    @Test func `any server can be loaded by templates`() async throws {
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await Self.run(server) { options in
            options.server = nil
            options.ws = "ws://127.0.0.1:\(server.port)/v1/rooms/{run}-{room}/live"
            options.post = server.address + "/v1/rooms/{run}-{room}/messages"
            options.body = #"{"id":"{pub}.{room}.{seq}.{ts}","wrapped":{"text":"{mark}{pad}"}}"#
            options.headers = ["X-Run: {run}"]
        }
        #expect(report.isGood)
    }
}
