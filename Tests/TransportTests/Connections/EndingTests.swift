import TestSupport
import Testing

@testable import Transport

@Suite("The end of a connection")
struct EndingTests {
    @Test func `A client that has closed its sending side gets its answer, even if reading is paused`() throws {
        var script = Script()
        script.received = { connection, _ in
            connection.isReadingPaused = true
            connection.setDeadline(.milliseconds(200))
        }
        script.deadline = { connection in
            connection.write(Array("the answer".utf8))
            connection.finish()
        }
        try withServer(script) { server in
            let client = try TestClient(port: server.port)
            try client.send("the question")
            client.finishSending()
            #expect(try client.receiveToEnd() == Array("the answer".utf8))
            client.close()
            try server.events.wait(for: .closed)
            #expect(server.events.events == [.opened, .received("the question"), .deadline, .closed])
        }
    }

    @Test(arguments: [false, true])
    func `A client that keeps sending can read the last bytes, and its own are ignored`(encrypted: Bool) throws {
        let words = [UInt8](repeating: 65, count: 300_000)
        var script = Script()
        script.received = { connection, _ in
            connection.write(words)
            connection.finish()
            #expect(!connection.isOpen)
        }
        let certificate = encrypted ? try TestCertificate() : nil
        try withServer(script, certificate: certificate) { server in
            let client = try TestClient(port: server.port, tls: encrypted ? TLSOptions(.tls13) : nil)
            try client.send("!")
            try server.events.wait(for: .received("!"))
            for _ in 0..<20 { try client.send([UInt8](repeating: 66, count: 10_000)) }
            let isWhole = try client.receiveToEnd() == words
            #expect(isWhole, "and the end is in good order")
            client.close()
            try server.events.wait(for: .closed)
            #expect(server.events.events == [.opened, .received("!"), .closed])
        }
    }

    @Test(arguments: [false, true])
    func `A client that never closes is dropped after a while`(encrypted: Bool) throws {
        var script = Script()
        script.received = { connection, _ in connection.finish() }
        let certificate = encrypted ? try TestCertificate() : nil
        let limits = TransportLimits(linger: .milliseconds(100))
        try withServer(script, limits: limits, certificate: certificate) { server in
            let client = try TestClient(port: server.port, tls: encrypted ? TLSOptions(.tls13) : nil)
            try client.send("!")
            #expect(try client.receiveToEnd() == [])
            try server.events.wait(for: .closed)
            #expect(server.group.connectionCount == 0)
        }
    }

    @Test func `An earlier deadline does not shorten the lingering`() throws {
        let times = Recorder<Duration>()
        var script = Script()
        script.received = { connection, _ in
            connection.setDeadline(.milliseconds(200))
            connection.finish()
            connection.setDeadline(.milliseconds(1))
            times.record(connection.loop.time)
        }
        script.closed = { times.record($0.loop.time) }
        try withServer(script, limits: TransportLimits(linger: .milliseconds(500))) { server in
            let client = try TestClient(port: server.port)
            try client.send("!")
            let both = try times.wait(for: 2)
            #expect(both[1] - both[0] >= .milliseconds(500))
            #expect(!server.events.events.contains(.deadline))
            client.close()
        }
    }

    @Test func `An answer at a deadline reaches a silent client`() throws {
        var script = Script()
        script.opened = { $0.setDeadline(.milliseconds(100)) }
        script.deadline = { connection in
            connection.write(Array("408".utf8))
            connection.finish()
        }
        try withServer(script) { server in
            let client = try TestClient(port: server.port)
            #expect(try client.receiveToEnd() == Array("408".utf8))
        }
    }

    /// The situations in which a handler cuts its connection.
    enum Place: CaseIterable {
        case opened, received, drained, deadline, shuttingDown
    }

    @Test(arguments: Place.allCases)
    func `A handler can cut its connection at any time, and is told once`(place: Place) throws {
        var script = Script()
        let cut: @Sendable (Connection) -> Void = { connection in
            connection.abort()
            #expect(!connection.isOpen)
            // Later calls have no effect.
            connection.write(Array("more".utf8))
            connection.isReadingPaused = true
            connection.setDeadline(.milliseconds(1))
            connection.finish()
            connection.abort()
        }
        switch place {
        case .opened: script.opened = cut
        case .received: script.received = { connection, _ in cut(connection) }
        case .drained:
            script.received = { connection, _ in connection.write([UInt8](repeating: 0, count: 20_000_000)) }
            script.drained = cut
        case .deadline:
            script.opened = { $0.setDeadline(.milliseconds(1)) }
            script.deadline = cut
        case .shuttingDown: script.shuttingDown = cut
        }
        try withServer(script) { server in
            let client = try TestClient(port: server.port)
            if place == .received || place == .drained { try client.send("!") }
            if place == .shuttingDown {
                try server.events.wait(for: .opened)
                server.group.windDown()
            }
            try client.waitForEnd()
            try server.events.wait(for: .closed)
            try server.waitUntilEmpty()
            #expect(server.events.events.filter { $0 == .closed }.count == 1)
            #expect(server.events.events.last == .closed)
        }
    }

    @Test func `A handler can cut other connections at any time`() throws {
        let connections = Recorder<LoopBound<Connection>>()
        var script = Script()
        script.opened = { connections.record(LoopBound($0, of: $0.loop)) }
        script.received = { own, _ in
            for other in connections.events where other.value !== own { other.value.abort() }
        }
        // Each closing connection cuts another one.
        script.closed = { _ in connections.events.last?.value.abort() }
        try withServer(script) { server in
            let clients = try (1...5).map { count in
                let client = try TestClient(port: server.port)
                try connections.wait(for: count)
                return client
            }
            try clients[4].send("!")
            for client in clients { try client.waitForEnd() }
            try server.waitUntilEmpty()
            #expect(server.events.events.filter { $0 == .closed }.count == 5)
        }
    }

    @Test func `After the end of a connection all calls on it are harmless`() throws {
        let connections = Recorder<LoopBound<Connection>>()
        var script = Script()
        script.opened = { connections.record(LoopBound($0, of: $0.loop)) }
        script.closed = { connection in
            connection.write([1, 2, 3])
            connection.finish()
            connection.abort()
            connection.setDeadline(.seconds(1))
            connection.isReadingPaused.toggle()
        }
        try withServer(script) { server in
            try TestClient(port: server.port).close()
            try server.events.wait(for: .closed)
            let connection = connections.events[0]
            try server.loop.run {
                let connection = connection.value
                connection.write([1, 2, 3])
                connection.finish()
                connection.setDeadline(.milliseconds(1))
                connection.isReadingPaused = true
                connection.abort()
                #expect(!connection.isOpen && !connection.isCongested && connection.handler == nil)
            }
            try server.waitUntilEmpty()
            #expect(server.events.events == [.opened, .closed])
        }
    }

    @Test(arguments: [false, true])
    func `A client that resets its connection is gone`(encrypted: Bool) throws {
        let certificate = encrypted ? try TestCertificate() : nil
        try withServer(certificate: certificate) { server in
            let client = try TestClient(port: server.port, tls: encrypted ? TLSOptions(.tls13) : nil)
            try client.send("!")
            try server.events.wait(for: .received("!"))
            client.reset()
            try server.events.wait(for: .closed)
            #expect(server.events.events == [.opened, .received("!"), .closed])
        }
    }

    @Test(arguments: [false, true])
    func `Writing to a client that is gone ends the connection, not the process`(encrypted: Bool) throws {
        var script = Script()
        script.received = { connection, _ in
            connection.isReadingPaused = true
            connection.setDeadline(.milliseconds(1))
        }
        script.deadline = { connection in
            connection.write(Array("anybody there?".utf8))
            connection.setDeadline(.milliseconds(1))
        }
        let certificate = encrypted ? try TestCertificate() : nil
        try withServer(script, certificate: certificate) { server in
            let client = try TestClient(port: server.port, tls: encrypted ? TLSOptions(.tls13) : nil)
            try client.send("!")
            try server.events.wait(for: .received("!"))
            client.reset()
            try server.events.wait(for: .closed)
            #expect(server.events.events.filter { $0 == .closed }.count == 1)
        }
    }
}
