import Logging
import Server
import TestSupport
import Testing
import Transport

@testable import Load

/// Tests runs against Backscroll itself while it misbehaves. The verdict must name these faults and no others.
@Suite struct FaultyServerTests {
    private static let messages = 20

    /// Sends ``messages`` messages to a room with 6 subscribers, of a server whose faults all requests ask for.
    private func run(_ faults: String, threads: Int = 1, _ options: String...) async throws -> Report {
        let directory = try TemporaryDirectory()
        var configuration = ServerConfiguration()
        configuration.host = "127.0.0.1"
        configuration.port = 0
        configuration.database = directory.path(of: "chat.db")
        configuration.threads = threads
        configuration.transport.linger = .milliseconds(100)
        configuration.grace = .milliseconds(500)
        configuration.faults = true
        let server = try Server(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        defer { server.stop() }
        return try await EndToEndTests.run(
            [
                server.url, "--subscribers=6", "--rooms=1", "--messages=\(Self.messages)", "--in-flight=1",
                "--until=ack", "--header=Backscroll-Fault: \(faults)",
            ] + options)
    }

    @Test(arguments: [1, 2])
    func `a dropped frame is missing, with its subscriber and number`(threads: Int) async throws {
        let report = try await run("drop-frame=7", threads: threads)
        let verdict = try #require(report.verdict)
        #expect(!report.isGood)
        #expect(verdict.missing == 6)
        #expect(verdict.expected == 6 * Self.messages)
        #expect(verdict.duplicates == 0 && verdict.disordered == 0 && verdict.foreign == 0 && verdict.lost == 0)
        // Messages are numbered from 0.
        #expect(verdict.faults.allSatisfy { $0.hasSuffix("misses 1 of \(Self.messages) messages: 6") })
    }

    @Test func `a frame that arrives twice is a duplicate`() async throws {
        let report = try await run("double-frame=5, double-frame=8")
        let verdict = try #require(report.verdict)
        #expect(!report.isGood)
        #expect(verdict.duplicates == 2 * 6)
        #expect(verdict.missing == 0 && verdict.disordered == 0)
    }

    @Test func `a message that is pushed twice is a duplicate for each subscriber`() async throws {
        let report = try await run("double-push", threads: 2)
        let verdict = try #require(report.verdict)
        #expect(!report.isGood)
        // The last one's may come after the end.
        #expect((6 * (Self.messages - 1)...6 * Self.messages).contains(verdict.duplicates))
        #expect(verdict.missing == 0 && verdict.disordered == 0)
    }

    @Test(arguments: ["cut-live=6", "torn-frame=6"])
    func `a cut connection is reported as lost`(fault: String) async throws {
        let verdict = try #require(try await run(fault).verdict)
        #expect(verdict.lost == 6)
        #expect(verdict.faults.count == 6)
        #expect(verdict.faults.allSatisfy { $0.contains("lost its connection after ") })
    }

    @Test(arguments: ["cut-live=6", "torn-frame=6", "cut-live=6, cut-replay=2", "cut-live=6, new-epoch"])
    func `connections that are cut and re-established lose nothing`(fault: String) async throws {
        let report = try await run(fault, "--reconnect", "--drain=30")
        #expect(report.isGood, "\(report.verdict?.lines ?? []) \(report.failures.lines)")
        #expect(report.total.resumed >= 6)
    }

    @Test func `a dropped frame stays missing after a reconnection`() async throws {
        let report = try await run("drop-frame=3, cut-live=12", "--reconnect", "--drain=1")
        let verdict = try #require(report.verdict)
        #expect(!report.isGood)
        #expect(verdict.missing >= 6)
        #expect(verdict.duplicates == 0 && verdict.disordered == 0)
    }

    @Test func `sends with lost answers are repeated, and stored once`() async throws {
        let report = try await run("lost-answer", "--reconnect", "--drain=30")
        #expect(report.isGood, "\(report.verdict?.lines ?? []) \(report.failures.lines)")
        #expect(report.total.retried == Self.messages)
        #expect(report.total.confirmed == Self.messages)
        let verdict = try #require(try await run("lost-answer").verdict)
        #expect(verdict.acknowledged == 0 && verdict.unanswered > 0)
        #expect(verdict.missing == 0)
    }

    @Test(arguments: ["fragment-frames=5", "late-answer=1", "delay=1"])
    func `faults that clients must tolerate are tolerated`(fault: String) async throws {
        let report = try await run(fault)
        #expect(report.isGood, "\(report.verdict?.lines ?? []) \(report.failures.lines)")
    }

    @Test func `a server that refuses everything is reported`() async throws {
        let error = await #expect(throws: LoadError.self) { _ = try await run("status=503") }
        #expect(error?.description.contains("the upgrade was refused: 503") == true)
    }
}
