import TestSupport
import Testing

@testable import Transport

@Suite("Listening")
struct ListeningTests {
    @Test func `localhost means both families on one port`() throws {
        try withServer(loops: 2, host: "localhost") { server in
            for host in ["127.0.0.1", "::1"] {
                let client = try TestClient(port: server.port, host: host)
                try client.send("hello")
                #expect(try client.receive(asLongAs: "hello") == "hello")
            }
        }
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `A port in use is refused, although the sockets of one server share theirs`(host: String) throws {
        try withServer(loops: 2, host: host) { server in
            let second = try LoopGroup(count: 2)
            defer { second.stop() }
            let error = try #require(throws: TransportError.self) {
                try second.listen(host: host, port: server.port) { _ in fatalError("nobody is let in") }
            }
            #expect(error.isAddressInUse)
            #expect(
                error.description
                    == "cannot listen on 127.0.0.1:\(server.port): another process is listening there already")
            let client = try TestClient(port: server.port)
            try client.send("hello")
            #expect(try client.receive(asLongAs: "hello") == "hello")
        }
    }

    @Test func `A port is free again when its server has stopped, even after it closed connections`() throws {
        let port = try withServer { server in
            let client = try TestClient(port: server.port)
            try client.send("hello")
            #expect(try client.receive(asLongAs: "hello") == "hello")
            return server.port
        }
        let second = try LoopGroup(count: 1)
        defer { second.stop() }
        let taken = try second.listen(host: "127.0.0.1", port: port) {
            ScriptedHandler(Script(), on: $0, events: Recorder())
        }
        #expect(taken == port)
    }

    @Test func `One group can listen on several addresses`() throws {
        try withServer { server in
            let events = Recorder<Event>()
            let port = try server.group.listen(host: "127.0.0.1", port: 0) {
                ScriptedHandler(Script(), on: $0, events: events)
            }
            #expect(port != server.port)
            for port in [port, server.port] {
                let client = try TestClient(port: port)
                try client.send("hello")
                #expect(try client.receive(asLongAs: "hello") == "hello")
            }
        }
    }

    @Test(arguments: [
        ("203.0.113.7", 0, "cannot use the address 203.0.113.7:0: Cannot assign requested address"),
        ("no such host", 80, "cannot use the address no such host:80: Name or service not known"),
        ("127.0.0.1", 65_536, "cannot use the address 127.0.0.1:65536: a port is a number from 0 to 65535"),
        ("127.0.0.1", -1, "cannot use the address 127.0.0.1:-1: a port is a number from 0 to 65535"),
    ])
    func `An invalid or foreign address is refused with its name`(host: String, port: Int, message: String) throws {
        let group = try LoopGroup(count: 1)
        defer { group.stop() }
        let error = try #require(throws: TransportError.self) {
            try group.listen(host: host, port: port) { _ in fatalError("nobody is let in") }
        }
        #expect(error.description == message)
        #expect(!error.isAddressInUse)
    }

    @Test func `A stopped group does not listen`() throws {
        let group = try LoopGroup(count: 2)
        group.stop()
        let error = try #require(throws: TransportError.self) {
            try group.listen(host: "127.0.0.1", port: 0) { _ in fatalError("nobody is let in") }
        }
        // The address was taken before, so the error has its port.
        let expected = /cannot listen on 127\.0\.0\.1:[1-9][0-9]*: the loops have been stopped/
        #expect(error.description.wholeMatch(of: expected) != nil)
    }

    @Test(arguments: [
        ("localhost", true), ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("0.0.0.0", false),
        ("::", false), ("192.0.2.1", false), ("::ffff:127.0.0.1", true),
    ])
    func `Loopback addresses are recognized`(host: String, isLoopback: Bool) throws {
        #expect(try LoopGroup.isLoopback(host) == isLoopback)
    }
}
