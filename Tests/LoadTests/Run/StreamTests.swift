import Testing

@testable import Load

/// Tests whole runs against a small broker in this process, whose protocol the tool gets from templates.
@Suite struct StreamTests {
    static func run(_ broker: TinyBroker, _ options: String...) async throws -> Report {
        try await EndToEndTests.run(broker.options + options)
    }

    @Test(arguments: [1, 2])
    func `a broker with a protocol of its own can be loaded with templates`(threads: Int) async throws {
        let broker = try TinyBroker(pieceBytes: 4096)
        defer { broker.stop() }
        let report = try await Self.run(broker, "--threads=\(threads)")
        #expect(report.isGood, "\(report.verdict?.lines ?? []) \(report.failures.lines)")
        #expect(report.failures.isEmpty)
        #expect(report.measured.acknowledged > 0)
        #expect(report.ack.count > 0)
        let verdict = try #require(report.verdict)
        #expect(verdict.expected == verdict.acknowledged * 4)
    }

    @Test(arguments: [1, 7, 30])
    func `a message cut across the stream's pieces is counted once`(pieceBytes: Int) async throws {
        let broker = try TinyBroker(pieceBytes: pieceBytes)
        defer { broker.stop() }
        let report = try await Self.run(broker, "--messages=60", "--size=40", "--body={mark}{pad}")
        #expect(report.isGood, "\(report.verdict?.lines ?? []) \(report.failures.lines)")
        #expect(report.verdict?.expected == 60 * 4)
    }

    @Test func `pieces are joined only if the transport is said to be a stream`() async throws {
        let broker = try TinyBroker(pieceBytes: 30)
        defer { broker.stop() }
        let options = broker.options.filter { $0 != "--ws-stream" }
        let report = try await EndToEndTests.run(options + ["--messages=6", "--until=ack"])
        #expect(!report.isGood)
        #expect((report.verdict?.missing ?? 0) > 0)
    }

    @Test func `the server's last message explains why a connection ended`() async throws {
        let broker = try TinyBroker(pieceBytes: 4096, hangsUpAt: 5)
        defer { broker.stop() }
        let report = try await Self.run(broker, "--messages=30")
        #expect(report.verdict?.unanswered == 1)
        #expect(
            report.failures.lines == ["the connection ended before the answer, after 'ERROR too much'"])
        #expect(report.total.acknowledged == 29)
    }

    @Test func `a broker without a greeting is reported`() async throws {
        let broker = try TinyBroker(pieceBytes: 4096)
        defer { broker.stop() }
        let options = broker.options.filter { !$0.hasPrefix("--tcp-hello") }
        let report = try await EndToEndTests.run(options + ["--messages=4", "--in-flight=1"])
        #expect(!report.isGood)
        #expect(report.failures.lines.first?.contains("after 'ERROR what?'") == true)
    }
}
