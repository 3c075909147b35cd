import Testing

@testable import Load

/// Tests runs against a small server in this process with faults, each of which must be found and named.
@Suite struct FaultTests {
    @Test func `a dropped delivery is reported as missing, with its subscriber, room and number`() async throws {
        let server = try TinyServer(TinyServer.Faults(delivery: { $0 == 1 && $1 == 3 ? .dropped : .proper }))
        defer { server.stop() }
        let report = try await EndToEndTests.run(server, "--rooms=1", "--until=ack")
        let verdict = try #require(report.verdict)
        #expect(!report.isGood)
        #expect(verdict.missing == 1)
        #expect(verdict.duplicates == 0 && verdict.disordered == 0)
        let fault = try #require(verdict.faults.first)
        #expect(fault.contains("of room 0 misses 1 of"))
    }

    @Test func `a doubled delivery is a duplicate`() async throws {
        let server = try TinyServer(TinyServer.Faults(delivery: { $0 == 0 && $1 == 5 ? .doubled : .proper }))
        defer { server.stop() }
        let verdict = try #require(try await EndToEndTests.run(server, "--rooms=1").verdict)
        #expect(verdict.duplicates == 1)
        #expect(verdict.missing == 0)
        #expect(!verdict.isGood)
    }

    @Test func `deliveries in another order are found`() async throws {
        let server = try TinyServer(TinyServer.Faults(delivery: { $0 == 2 && $1 == 4 ? .postponed : .proper }))
        defer { server.stop() }
        let verdict = try #require(try await EndToEndTests.run(server, "--rooms=1", "--until=ack").verdict)
        #expect(verdict.disordered > 0)
        #expect(verdict.missing == 0 && verdict.duplicates == 0)
        #expect(!verdict.isGood)
    }

    @Test func `refused sends are counted, and the reason is shown`() async throws {
        let server = try TinyServer(TinyServer.Faults(refuses: { $0 == 2 || $0 == 3 }))
        defer { server.stop() }
        let report = try await EndToEndTests.run(server)
        let verdict = try #require(report.verdict)
        #expect(verdict.refused == 2 && verdict.missing == 0)
        #expect(!report.isGood)
        #expect(report.failures.lines.first?.hasPrefix("refused: 503") == true)
        #expect(report.failures.lines.first?.contains("tiny, As it was asked to.") == true)
    }

    @Test func `lost connections are a fault`() async throws {
        let server = try TinyServer(TinyServer.Faults(cutsEveryoneAt: 8))
        defer { server.stop() }
        let report = try await EndToEndTests.run(server, "--seconds=60")
        let verdict = try #require(report.verdict)
        #expect(verdict.lost == 12)
        #expect(verdict.faults.contains { $0.contains("lost its connection") })
        #expect(report.endedEarly == "every subscriber was lost")
        #expect(!report.isGood)
    }

    @Test func `a refused upgrade is reported with the server's text`() async throws {
        let server = try TinyServer(TinyServer.Faults(refusesUpgrades: true))
        defer { server.stop() }
        let error = await #expect(throws: LoadError.self) { _ = try await EndToEndTests.run(server) }
        let text = error?.description ?? ""
        #expect(text.hasPrefix("12 of 12 subscribers could not connect"))
        #expect(text.contains("the upgrade was refused: 403"))
        #expect(text.contains("tiny, As it was asked to. (12 times)"))
    }

    @Test func `an unreachable server is reported`() async throws {
        // Port 1 is reserved for an obsolete service.
        let error = await #expect(throws: LoadError.self) { _ = try await EndToEndTests.run(["http://127.0.0.1:1"]) }
        #expect(error?.description.contains("Connection refused") == true)
    }

    @Test func `with reconnecting, a cut connection loses nothing`() async throws {
        let server = try TinyServer(TinyServer.Faults(refuses: { $0 == 3 }, cutsEveryoneAt: 8))
        defer { server.stop() }
        let report = try await EndToEndTests.run(server, "--reconnect", "--seconds=0.6", "--drain=10")
        #expect(report.isGood, "\(report.verdict?.lines ?? []) \(report.failures.lines)")
        #expect(report.total.resumed == 12)
        #expect(report.total.retried >= 2)
        #expect(report.total.confirmed >= 1)
    }

    @Test func `with reconnecting, lost acknowledged messages are found`() async throws {
        let server = try TinyServer(TinyServer.Faults(cutsEveryoneAt: 8, forgets: 3))
        defer { server.stop() }
        let report = try await EndToEndTests.run(server, "--reconnect", "--seconds=0.6", "--drain=1")
        #expect(!report.isGood)
        #expect(report.failures.lines.contains { $0.contains("410") })
    }

    @Test func `with reconnecting, the run ends if the server stays away`() async throws {
        let server = try TinyServer(TinyServer.Faults(cutsEveryoneAt: 8, staysAway: true))
        defer { server.stop() }
        let report = try await EndToEndTests.run(server, "--reconnect", "--drain=0.5")
        let verdict = try #require(report.verdict)
        #expect(verdict.unanswered > 0)
        #expect(verdict.lost == 12)
        #expect(verdict.faults.contains { $0.contains("not connected again when the run ended") })
    }

    @Test(arguments: [false, true]) func `unanswered pages are found`(isGone: Bool) async throws {
        let server = try TinyServer(TinyServer.Faults(staysAway: isGone, answersPages: 3))
        defer { server.stop() }
        let report = try await EndToEndTests.run(
            server, "--pages=newest", "--room=big", "--rooms=1", "--subscribers=0", "--reconnect", "--drain=0.3")
        #expect(!report.isGood)
        #expect(report.total.acknowledged <= 3)
        #expect(report.total.confirmed == 0)
        // At most one for each connection.
        #expect((1...4).contains(report.total.unanswered))
        #expect(ReportText(report).lines.contains { $0.contains("FAILED: ") && $0.hasSuffix(" never answered") })
    }
}
