import TestSupport
import Testing

@testable import Transport

@Suite("The limit of connections")
struct LimitTests {
    @Test func `A count admits up to its maximum, and another for each that leaves`() {
        let count = ConnectionCount(limit: 2)
        #expect(count.enter() && count.enter())
        #expect(!count.enter())
        #expect(count.inside == 2)
        count.leave()
        #expect(count.enter())
        #expect(!count.enter())
    }

    @Test(arguments: [1, 2])
    func `An excess connection is told so; when one leaves, the next is accepted`(loops: Int) throws {
        try withServer(loops: loops, limits: TransportLimits(connections: 3)) { server in
            var clients = try (0..<3).map { count in
                let client = try TestClient(port: server.port)
                try client.send("\(count)")
                #expect(try client.receive(asLongAs: "0") == "\(count)")
                return client
            }
            for _ in 0..<2 {
                let refused = try TestClient(port: server.port)
                try refused.send("GET / HTTP/1.1\r\n\r\n")
                let answer = String(decoding: try refused.receiveToEnd(), as: UTF8.self)
                #expect(answer.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
                #expect(answer.contains("\r\nRetry-After: 1\r\n"))
                #expect(answer.contains(#""detail":"The server has reached its maximum number of connections."#))
            }
            for client in clients {
                try client.send("served")
                #expect(try client.receive(asLongAs: "served") == "served")
            }
            clients.removeLast().close()
            try server.events.wait(for: .closed)
            let next = try TestClient(port: server.port)
            try next.send("next")
            #expect(try next.receive(asLongAs: "next") == "next")
            #expect(server.group.connectionCount == 3)
        }
    }

    @Test func `A refused TLS client is cut`() throws {
        let certificate = try TestCertificate()
        try withServer(limits: TransportLimits(connections: 1), certificate: certificate) { server in
            let client = try TestClient(port: server.port, tls: TLSOptions(.tls13))
            try client.send("hello")
            #expect(try client.receive(asLongAs: "hello") == "hello")
            #expect(throws: TestClientError.self) {
                try TestClient(port: server.port, tls: TLSOptions(.tls13))
            }
            try client.send("still here")
            #expect(try client.receive(asLongAs: "still here") == "still here")
        }
    }

    @Test func `Clients in the middle of a handshake count, and have a time limit`() throws {
        let certificate = try TestCertificate()
        let limits = TransportLimits(connections: 1, handshake: .seconds(2))
        try withServer(limits: limits, certificate: certificate) { server in
            let silent = try TestClient(port: server.port)
            try server.waitUntil { $0.connectionCount == 1 }
            #expect(throws: TestClientError.self) {
                try TestClient(port: server.port, tls: TLSOptions(.tls13))
            }
            try silent.waitForEnd()
            try server.waitUntilEmpty()
            let client = try TestClient(port: server.port, tls: TLSOptions(.tls13))
            try client.send("hello")
            #expect(try client.receive(asLongAs: "hello") == "hello")
            #expect(!server.events.events.contains(.closed), "the silent one had no handler")
        }
    }

    @Test(arguments: [TLSOptions.Version.tls12, .tls13])
    func `The time limit of the handshake ends with it`(version: TLSOptions.Version) throws {
        var script = Script()
        script.opened = { $0.setDeadline(.milliseconds(2500)) }
        let certificate = try TestCertificate()
        let limits = TransportLimits(handshake: .seconds(1))
        try withServer(script, limits: limits, certificate: certificate) { server in
            let client = try TestClient(port: server.port, tls: TLSOptions(version))
            try server.events.wait(for: .deadline)
            try client.send("still here")
            #expect(try client.receive(asLongAs: "still here") == "still here")
        }
    }

    @Test(arguments: ["GET / HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}\u{7}", ""])
    func `Bytes that are not TLS cut the connection without a handler`(bytes: String) throws {
        let certificate = try TestCertificate()
        try withServer(limits: TransportLimits(handshake: .seconds(1)), certificate: certificate) { server in
            for _ in 0..<10 {
                let client = try TestClient(port: server.port)
                if !bytes.isEmpty { try client.send(bytes) }
                client.finishSending()
                try client.waitForEnd()
            }
            try server.waitUntilEmpty()
            #expect(server.events.events == [])
            #expect(server.group.connectionCount == 0)
        }
    }

    @Test func `Refused clients are dropped after a while, even if they stay`() throws {
        let limits = TransportLimits(connections: 0, refusals: 2, linger: .milliseconds(100))
        try withServer(limits: limits) { server in
            let clients = try (0..<10).map { _ in try TestClient(port: server.port) }
            for client in clients { try client.waitForEnd() }
            try server.waitUntilEmpty()
            #expect(server.events.events == [])
            #expect(server.group.connectionCount == 0)
        }
    }

    @Test func `The defaults are as documented`() {
        let limits = TransportLimits()
        #expect(limits.connections == 65_536)
        #expect(limits.handshake == .seconds(10))
        #expect(limits.noProgress == .seconds(60))
        #expect(limits.readSize >= LibraryContext.recordSize)
    }
}
