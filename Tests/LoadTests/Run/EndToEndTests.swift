import ArgumentParser
import Commands
import Synchronization
import Testing
import Transport

@testable import Load

/// Tests whole runs against a small server in this process.
@Suite struct EndToEndTests {
    /// Runs against `server` for a moment, with further options; later options override earlier ones.
    static func run(_ server: TinyServer, _ options: String...) async throws -> Report {
        try await run([server.address] + options)
    }

    static func run(_ options: [String]) async throws -> Report {
        let usual = [
            "--subscribers=12", "--rooms=3", "--in-flight=4", "--seconds=0.3", "--warmup=0.05", "--settle=0",
            "--drain=0.3",
        ]
        let plan = try PlanBuilder(try LoadCommand.parse(usual + options)).plan(run: 7)
        return try await onOwnThread { try await LoadRun(plan, console: Console(isQuiet: true)).run() }
    }

    /// Runs `body` on its own thread. All tests share as many threads as there are processors, and tests that wait for
    /// sockets block these. A run that must read the clock would be delayed by minutes there.
    static func onOwnThread<R: Sendable>(_ body: () async throws -> R) async throws -> R {
        let group = try LoopGroup(count: 1)
        defer { group.stop() }
        return try await withTaskExecutorPreference(group.loops[0], operation: body)
    }

    @Test func `a server that delivers everything passes`() async throws {
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

    @Test func `several threads together find no fault`() async throws {
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await Self.run(server, "--threads=2", "--rooms=2", "--subscribers=6")
        #expect(report.isGood, "\(report.verdict?.lines ?? [])")
    }

    @Test func `a fixed rate is not exceeded`() async throws {
        let server = try TinyServer()
        defer { server.stop() }
        let clock = ContinuousClock()
        let begun = clock.now
        let report = try await Self.run(server, "--rate=200", "--seconds=0.5")
        #expect(report.isGood)
        // Even on a busy machine, no more was sent than was due.
        #expect(Double(report.total.started) <= 200 * (clock.now - begun).seconds + 1)
    }

    /// Returns the marks of the messages that a server received.
    private static func marks(_ options: String...) async throws -> [Mark] {
        let heard = Heard()
        let server = try TinyServer(
            TinyServer.Faults(hears: { body in
                var offset = 0
                if let mark = Mark.next(in: body.span, at: &offset) { heard.marks.withLock { $0.append(mark) } }
            }))
        defer { server.stop() }
        let report = try await run([server.address] + options)
        #expect(report.isGood, "\(report.verdict?.lines ?? []) \(report.failures.lines)")
        #expect(report.total.acknowledged == 40)
        #expect(report.backlog == 0)
        return heard.marks.withLock(\.self)
    }

    private final class Heard: Sendable {
        let marks = Mutex<[Mark]>([])
    }

    @Test(.timeLimit(.minutes(30)))
    func `loops without a publisher get no share of a number of messages`() async throws {
        let marks = try await Self.marks("--messages=40", "--in-flight=2", "--threads=4", "--rooms=1")
        // No number is missing, whatever the number of loops.
        #expect(marks.map(\.number).sorted() == Array(0..<40))
    }

    @Test(.timeLimit(.minutes(30)))
    func `loops without a publisher get no share of a rate or of rooms`() async throws {
        let marks = try await Self.marks("--messages=40", "--in-flight=2", "--threads=4", "--rooms=4", "--rate=200")
        let due = marks.map(\.time).sorted()
        #expect(zip(due, due.dropFirst()).allSatisfy { $1 - $0 == 5_000_000 })
        #expect(Set(marks.map(\.room)) == [0, 1, 2, 3])
    }

    @Test func `sends without subscribers are judged by their answers`() async throws {
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await Self.run(server, "--subscribers=0")
        #expect(report.isGood)
        #expect(report.verdict?.expected == 0)
        #expect(report.measured.deliveries == 0)
    }

    @Test func `pages are requested and counted`() async throws {
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await Self.run([
            "--method=GET", "--subscribers=0", "--url=\(server.address)/v1/rooms/big/messages?before={rand}",
            "--rand=31:1000000",
        ])
        #expect(report.isGood)
        #expect(report.kind == .pages)
        #expect(report.measured.contentBytes == report.measured.acknowledged * #"{"seq":1}"#.utf8.count)
    }

    @Test func `connections can be held without traffic`() async throws {
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await Self.run(server, "--idle")
        #expect(report.isGood)
        #expect(report.kind == .connections)
        #expect(report.verdict == nil)
    }

    @Test func `publishers reconnect when the server closes connections`() async throws {
        let server = try TinyServer(TinyServer.Faults(closesAfterAnswers: true))
        defer { server.stop() }
        let report = try await Self.run(server)
        #expect(report.isGood, "\(report.verdict?.lines ?? []) \(report.failures.lines)")
    }

    @Test func `any server can be loaded with templates`() async throws {
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await Self.run([
            "--ws=ws://127.0.0.1:\(server.port)/v1/rooms/{run}-{room}/live",
            "--post=\(server.address)/v1/rooms/{run}-{room}/messages", "--header=X-Run: {run}",
            #"--body={"id":"{pub}.{room}.{seq}.{ts}","wrapped":{"text":"{mark}{pad}"}}"#,
        ])
        #expect(report.isGood)
    }
}
