import TestSupport
import Testing

@testable import Transport

@Suite("Connections")
struct EchoTests {
    @Test func `Bytes are echoed over plain TCP`() throws {
        try withServer { server in
            let client = try TestClient(port: server.port)
            try client.send("hello")
            #expect(try client.receive(asLongAs: "hello") == "hello")
            client.close()
            try server.events.wait(for: .closed)
            #expect(server.events.events == [.opened, .received("hello"), .closed])
        }
    }

    @Test(arguments: [TLSOptions.Version.tls12, .tls13])
    func `Bytes are echoed over TLS 1.2 and 1.3`(version: TLSOptions.Version) throws {
        let certificate = try TestCertificate(name: "echo")
        try withServer(certificate: certificate) { server in
            let client = try TestClient(port: server.port, tls: TLSOptions(version))
            try client.send("hello")
            #expect(try client.receive(asLongAs: "hello") == "hello")
            #expect(client.agreed?.version == (version == .tls12 ? "TLSv1.2" : "TLSv1.3"))
            #expect(client.agreed?.certificate == "echo")
            client.close()
            try server.events.wait(for: .closed)
        }
    }

    @Test func `TLS 1.1 is refused`() throws {
        let certificate = try TestCertificate()
        try withServer(certificate: certificate) { server in
            #expect(throws: TestClientError.handshake("tlsv1 alert protocol version")) {
                try TestClient(port: server.port, tls: TLSOptions(.tls11))
            }
            try server.waitUntilEmpty()
            #expect(server.events.events == [], "a handler is for clients that have shaken hands")
        }
    }

    @Test func `A client that supports HTTP/2 is told to use HTTP/1.1`() throws {
        let certificate = try TestCertificate()
        try withServer(certificate: certificate) { server in
            let client = try TestClient(port: server.port, tls: TLSOptions(.tls13, protocols: ["h2", "http/1.1"]))
            try client.send("hello")
            #expect(try client.receive(asLongAs: "hello") == "hello")
            #expect(client.agreed?.applicationProtocol == "http/1.1")
        }
    }

    @Test func `A handler can be replaced while bytes arrive`() throws {
        let later = Recorder<Event>()
        var script = Script()
        script.received = { connection, _ in
            connection.handler = ScriptedHandler(Script(), on: connection, events: later)
            connection.write(Array("switched".utf8))
        }
        try withServer(script) { server in
            let client = try TestClient(port: server.port)
            try client.send("upgrade")
            #expect(try client.receive(asLongAs: "switched") == "switched")
            try client.send("more")
            #expect(try client.receive(asLongAs: "more") == "more")
            client.close()
            try later.wait(for: .closed)
            #expect(later.events == [.opened, .received("more"), .closed])
            #expect(server.events.events == [.opened, .received("upgrade")])
        }
    }

    @Test func `A handler can write before any bytes arrive`() throws {
        var script = Script()
        script.opened = { $0.write(Array("welcome".utf8)) }
        try withServer(script) { server in
            let client = try TestClient(port: server.port)
            #expect(try client.receive(asLongAs: "welcome") == "welcome")
        }
    }

    @Test(arguments: [false, true])
    func `Every loop gets connections`(encrypted: Bool) throws {
        let loops = Recorder<Int>()
        var script = Script()
        script.received = { connection, bytes in
            loops.record(connection.loop.index)
            connection.write(bytes)
        }
        let certificate = encrypted ? try TestCertificate() : nil
        try withServer(script, loops: 2, certificate: certificate) { server in
            let clients = try (0..<64).map { _ in
                try TestClient(port: server.port, tls: encrypted ? TLSOptions(.tls13) : nil)
            }
            for client in clients { try client.send("hello") }
            for client in clients { #expect(try client.receive(asLongAs: "hello") == "hello") }
            #expect(server.group.connectionCount == clients.count)
            #expect(Set(loops.events) == [0, 1])
        }
    }

    @Test func `A handler knows the client's address, and each connection has a number`() throws {
        let seen = Recorder<String>()
        var script = Script()
        script.opened = { seen.record("\($0.id) \($0.peer) \($0.isSecure) \($0.isOpen)") }
        try withServer(script) { server in
            for _ in 0..<2 {
                let client = try TestClient(port: server.port)
                try client.send("hello")
                #expect(try client.receive(asLongAs: "hello") == "hello")
                client.close()
                try server.events.wait { $0.last == .closed }
            }
            #expect(seen.events == ["1 127.0.0.1 false true", "2 127.0.0.1 false true"])
        }
    }
}
