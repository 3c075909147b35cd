import Synchronization
import TestSupport
import Testing

@testable import Transport

@Suite("Backpressure")
struct BackpressureTests {
    private static let large = [UInt8](unsafeUninitializedCapacity: 50_000_000) { buffer, count in
        for index in 0..<50_000_000 {
            buffer.initializeElement(at: index, to: UInt8(truncatingIfNeeded: index &* 31 >> 3))
        }
        count = 50_000_000
    }

    @Test(arguments: [false, true])
    func `50 MB written at once arrive completely, and then the connection is drained`(encrypted: Bool) throws {
        let congested = Recorder<Bool>()
        var script = Script()
        script.received = { connection, _ in
            connection.write(Self.large)
            congested.record(connection.isCongested)
        }
        script.drained = { connection in
            congested.record(connection.isCongested)
            connection.finish()
        }
        let certificate = encrypted ? try TestCertificate() : nil
        try withServer(script, certificate: certificate) { server in
            let client = try TestClient(port: server.port, tls: encrypted ? TLSOptions(.tls13) : nil)
            try client.send("!")
            try congested.wait(for: true)
            // Outside the macro, which would print the bytes.
            let isWhole = try client.receiveToEnd() == Self.large
            #expect(isWhole)
            client.close()
            try server.events.wait(for: .closed)
            #expect(server.events.events == [.opened, .received("!"), .drained, .closed])
            #expect(congested.events == [true, false])
        }
    }

    @Test func `A connection that exceeds the bytes kept for slow clients is ended`() throws {
        var limits = TransportLimits()
        limits.unsentBytes = 1_000_000
        var script = Script()
        script.received = { connection, _ in connection.write(Self.large) }
        try withServer(script, limits: limits) { server in
            let client = try TestClient(port: server.port)
            try client.send("!")
            try server.events.wait(for: .closed)
            #expect(server.group.unsent.used == 0)
        }
    }

    @Test(arguments: [false, true])
    func `Bytes written during congestion follow earlier ones`(encrypted: Bool) throws {
        var script = Script()
        script.received = { connection, _ in
            for number in UInt8(0)..<100 { connection.write([UInt8](repeating: number, count: 50_000)) }
            connection.finish()
        }
        let certificate = encrypted ? try TestCertificate() : nil
        try withServer(script, certificate: certificate) { server in
            let client = try TestClient(port: server.port, tls: encrypted ? TLSOptions(.tls12) : nil)
            try client.send("!")
            let isInOrder =
                try client.receiveToEnd() == (UInt8(0)..<100).flatMap { [UInt8](repeating: $0, count: 50_000) }
            #expect(isInOrder)
        }
    }

    @Test func `A write that the kernel accepts completely neither congests nor drains`() throws {
        try withServer { server in
            let client = try TestClient(port: server.port)
            try client.send("hello")
            #expect(try client.receive(asLongAs: "hello") == "hello")
            client.close()
            try server.events.wait(for: .closed)
            #expect(!server.events.events.contains(.drained))
        }
    }

    @Test(arguments: [false, true])
    func `A stalled client causes no turns of the loop, even while it sends`(encrypted: Bool) throws {
        let turns = Atomic<Int>(0)
        let turnsOfStall = Recorder<Int>()
        var script = Script()
        script.opened = { connection in
            connection.loop.atEndOfTurn { turns.add(1, ordering: .relaxed) }
        }
        script.received = { connection, bytes in
            guard bytes == Array("!".utf8) else { return }
            connection.write(Self.large)
            turnsOfStall.record(turns.load(ordering: .relaxed))
            connection.setDeadline(.milliseconds(500))
        }
        script.deadline = { _ in turnsOfStall.record(turns.load(ordering: .relaxed)) }
        let certificate = encrypted ? try TestCertificate() : nil
        try withServer(script, certificate: certificate) { server in
            let client = try TestClient(port: server.port, tls: encrypted ? TLSOptions(.tls13) : nil)
            try client.send("!")
            try turnsOfStall.wait(for: 1)
            for _ in 0..<20 { try client.send("and another thing") }
            let counts = try turnsOfStall.wait(for: 2)
            // The buffers fill in a few turns. A spinning loop makes 100,000.
            #expect(counts[1] - counts[0] < 1000)
            #expect(server.events.events == [.opened, .received("!"), .deadline], "nothing is read meanwhile")
            let isWhole = try client.receive { $0.count >= Self.large.count } == Self.large
            #expect(isWhole)
            let events = try server.events.wait { $0.count >= 5 }
            #expect(events.prefix(4) == [.opened, .received("!"), .deadline, .drained], "then the rest is read")
        }
    }

    @Test func `A client that reads nothing for too long is cut`() throws {
        var script = Script()
        script.received = { connection, _ in connection.write(Self.large) }
        try withServer(script, limits: TransportLimits(noProgress: .milliseconds(300))) { server in
            let client = try TestClient(port: server.port)
            try client.send("!")
            try server.events.wait(for: .closed)
            #expect(server.group.connectionCount == 0)
            try client.waitForEnd()
        }
    }

    @Test func `A client that does not read the last bytes is cut, too`() throws {
        var script = Script()
        script.received = { connection, _ in
            connection.write(Self.large)
            connection.finish()
        }
        try withServer(script, limits: TransportLimits(noProgress: .milliseconds(300))) { server in
            let client = try TestClient(port: server.port)
            try client.send("!")
            try server.events.wait(for: .closed)
            try client.waitForEnd()
        }
    }

    @Test func `A client that reads a little from time to time is not stalled`() throws {
        let ticks = Recorder<Bool>()
        var script = Script()
        script.received = { connection, _ in
            connection.write(Self.large)
            connection.setDeadline(.milliseconds(100))
        }
        script.deadline = { connection in
            ticks.record(true)
            connection.setDeadline(.milliseconds(100))
        }
        try withServer(script, limits: TransportLimits(noProgress: .seconds(1))) { server in
            let client = try TestClient(port: server.port, receiveBuffer: 64 * 1024)
            try client.send("!")
            // Longer than the time limit, in steps shorter than that.
            for tick in 1...20 {
                try ticks.wait(for: tick)
                _ = try client.receive { $0.count >= 256 * 1024 }
            }
            #expect(!server.events.events.contains(.closed))
        }
    }

    @Test func `While reading is paused nothing is read; afterwards everything is`() throws {
        let connections = Recorder<LoopBound<Connection>>()
        var script = Script()
        script.opened = { connection in
            connections.record(LoopBound(connection, of: connection.loop))
            connection.isReadingPaused = true
        }
        try withServer(script) { server in
            let client = try TestClient(port: server.port)
            let connection = try connections.wait(for: 1)[0]
            try client.send("hello")
            // A second connection is served meanwhile, so the loop had time.
            let other = try TestClient(port: server.port)
            try server.events.wait(for: 2)
            #expect(try server.loop.run { connection.value.isReadingPaused })
            #expect(server.events.events == [.opened, .opened])
            server.loop.post { connection.value.isReadingPaused = false }
            #expect(try client.receive(asLongAs: "hello") == "hello")
            other.close()
        }
    }
}
