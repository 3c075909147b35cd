import Testing

@testable import Load

/// Tests whole runs against a small server in this process, with a disturbance after the measurement.
@Suite struct DisturbanceTests {
    @Test(arguments: [1, 2]) func `clients of a storm catch up, and are judged like the others`(threads: Int)
        async throws
    {
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await EndToEndTests.run(
            server, "--rate=200", "--storm=30", "--back=20", "--threads=\(threads)", "--rooms=1", "--seconds=1")
        #expect(report.isGood, "\(report.verdict?.lines ?? []) \(report.failures.lines)")
        let storm = try #require(report.disturbance)
        #expect(storm.catchUp.count == 30)
        #expect(storm.seconds > 0)
        // Messages acknowledged before the storm and during it are reported separately, like deliveries.
        #expect(report.ack.count > 0 && storm.ack.count > 0)
        #expect(report.delivery.count == report.ack.count * 12)
        #expect(storm.delivery.count == storm.ack.count * 12)
        let verdict = try #require(report.verdict)
        #expect(verdict.subscribers == 42)
        // The storm's clients have missed all but the last 20 messages sent by then.
        #expect(verdict.expected < verdict.acknowledged * 42)
        #expect(verdict.expected >= verdict.acknowledged * 12 + 30 * 20)
        #expect(
            ReportText(report).lines.contains { $0.hasPrefix("storm       30 of 30 caught up with 20 messages in ") })
        #expect(ReportText(report).lines.contains { $0.hasPrefix("ack then    p50 ") })
        #expect(report.json.contains(#""disturbing_clients":30"#))
        #expect(report.json.contains(#""disturbed_ack_ms":{"count":\#(storm.ack.count),"#))
    }

    @Test func `a storm keeps to the rate of connections, whatever the run did before it`() async throws {
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await EndToEndTests.run(
            server, "--rate=50", "--storm=11", "--back=1", "--connect-rate=20", "--rooms=1", "--warmup=1")
        #expect(report.isGood, "\(report.verdict?.lines ?? []) \(report.failures.lines)")
        // At any speed: the first connects at once, and each further one a twentieth of a second later.
        #expect(try #require(report.disturbance).seconds >= 10.0 / 20)
    }

    @Test func `a storm's client that misses a message is found`() async throws {
        // The storm's clients are the room's subscribers from the 13th on.
        let server = try TinyServer(TinyServer.Faults(refusesUpgradesFrom: 12))
        defer { server.stop() }
        let report = try await EndToEndTests.run(server, "--rate=200", "--storm=3", "--rooms=1")
        #expect(!report.isGood)
        #expect(report.verdict?.lost == 3)
        #expect(report.disturbance?.isComplete == false)
    }

    @Test func `slow readers miss nothing, and only the others are timed`() async throws {
        // Few large messages: as many bytes as fill the buffers, at a rate that a loaded machine keeps up with. A run that
        // lags behind its rate sends nothing that was due during the stall.
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await EndToEndTests.run(
            server, "--rate=25", "--size=16384", "--stall=3", "--stall-seconds=3", "--rooms=1", "--drain=60")
        #expect(report.isGood, "\(report.verdict?.lines ?? []) \(report.failures.lines)")
        let stall = try #require(report.disturbance)
        #expect(stall.clients == 3)
        #expect(stall.delivery.count > 0)
        // Only the 9 others count.
        #expect(stall.delivery.count == stall.ack.count * 9)
        #expect(ReportText(report).lines.contains { $0.hasPrefix("stall       3 read nothing for ") })
    }

    @Test func `no more than the given number of messages is sent`() async throws {
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await EndToEndTests.run(
            server, "--messages=101", "--subscribers=0", "--room=big", "--rooms=1", "--threads=2", "--seconds=0.01")
        #expect(report.isGood)
        #expect(report.total.acknowledged == 101)
        #expect(report.measured.acknowledged == 101)
    }

    @Test(arguments: ["newest", "random", "deepest"]) func `pages of a room are asked for`(page: String) async throws {
        let server = try TinyServer()
        defer { server.stop() }
        let report = try await EndToEndTests.run(
            server, "--pages=\(page)", "--room=big", "--rooms=1", "--messages=1000", "--subscribers=0",
            "--seconds=1")
        #expect(report.isGood)
        #expect(report.kind == .pages)
        #expect(report.measured.acknowledged > 0)
    }
}
