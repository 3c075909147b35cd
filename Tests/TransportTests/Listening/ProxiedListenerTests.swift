import TestSupport
import Testing

@testable import Transport

@Suite("Connections from a balancer")
struct ProxiedListenerTests {
    /// Runs a server that expects PROXY headers from these addresses, and records the addresses it has served.
    private func withBalancedServer(
        proxies: [String] = ["127.0.0.0/8"], limits: TransportLimits = TransportLimits(),
        certificate: TestCertificate? = nil,
        _ body: (_ port: Int, _ group: LoopGroup, _ peers: Recorder<String>, _ failures: Recorder<String>) throws ->
            Void
    ) throws {
        let tls = certificate.map { TLSConfiguration(certificate: $0.certificatePath, key: $0.keyPath) }
        let group = try LoopGroup(count: 1, limits: limits, tls: tls)
        defer { group.stop() }
        let (peers, failures, events) = (Recorder<String>(), Recorder<String>(), Recorder<Event>())
        var script = Script()
        script.opened = { peers.record($0.peer) }
        let options = ListenerOptions(
            isSecure: true, proxies: proxies.compactMap { IPRange($0) },
            onProxyFailure: { failures.record("\($0): \($1)") })
        let port = try group.listen(host: "127.0.0.1", port: 0, options: options) { [script] in
            ScriptedHandler(script, on: $0, events: events)
        }
        try body(port, group, peers, failures)
    }

    private static let line = Array("PROXY TCP4 192.0.2.7 10.0.0.1 50000 443\r\n".utf8)
    private static let binary: [UInt8] =
        [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x21, 0x11, 0, 12]
        + [192, 0, 2, 7, 10, 0, 0, 1, 0xC3, 0x50, 0x01, 0xBB]

    @Test(arguments: [line, binary])
    func `are treated as the client's that the header names, along with the bytes after it`(header: [UInt8]) throws {
        try withBalancedServer { port, _, peers, _ in
            let client = try TestClient(port: port)
            try client.send(header + Array("hello".utf8))
            #expect(try client.receive(asLongAs: "hello") == "hello")
            try client.send("again")
            #expect(try client.receive(asLongAs: "again") == "again")
            #expect(peers.events == ["192.0.2.7"])
        }
    }

    @Test(arguments: [line, binary])
    func `may send the header byte by byte`(header: [UInt8]) throws {
        try withBalancedServer { port, group, peers, _ in
            let client = try TestClient(port: port)
            for byte in header.dropLast() {
                try client.send([byte])
                // A turn of the loop, so that the server sees it.
                try group.loops[0].run {}
                #expect(peers.events == [])
            }
            try client.send(header.suffix(1) + Array("hello".utf8))
            #expect(try client.receive(asLongAs: "hello") == "hello")
            #expect(peers.events == ["192.0.2.7"])
        }
    }

    @Test(arguments: [TLSOptions.Version.tls12, .tls13], [line, binary])
    func `are encrypted after the header`(version: TLSOptions.Version, header: [UInt8]) throws {
        try withBalancedServer(certificate: try TestCertificate()) { port, _, peers, _ in
            let client = try TestClient(port: port, preface: header, tls: TLSOptions(version))
            try client.send("hello")
            #expect(try client.receive(asLongAs: "hello") == "hello")
            #expect(peers.events == ["192.0.2.7"])
        }
    }

    @Test(arguments: [
        Array("PROXY UNKNOWN\r\n".utf8),
        [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x20, 0, 0, 0],
    ])
    func `count as the balancer's own if the header says so or names no client`(header: [UInt8]) throws {
        try withBalancedServer { port, _, peers, _ in
            let client = try TestClient(port: port)
            try client.send(header + Array("hello".utf8))
            #expect(try client.receive(asLongAs: "hello") == "hello")
            #expect(peers.events == ["127.0.0.1"])
        }
    }

    @Test func `are closed without a header`() throws {
        try withBalancedServer { port, group, peers, failures in
            for bytes in ["GET / HTTP/1.1\r\n\r\n", "PROXY TCP4 x y 1 2\r\n", "PROXY TCP4 1.2.3.4"] {
                let client = try TestClient(port: port)
                try client.send(bytes)
                client.finishSending()
                try client.waitForEnd()
            }
            #expect(peers.events == [])
            #expect(try failures.wait(for: 3).allSatisfy { $0.hasPrefix("127.0.0.1: ") })
            #expect(group.connectionCount == 0)
            #expect(group.refusedConnectionCount == 3)
        }
    }

    @Test func `have a time limit for the header`() throws {
        try withBalancedServer(limits: TransportLimits(proxyHeader: .milliseconds(50))) {
            port, group, peers, failures in
            let silent = try TestClient(port: port)
            try silent.send("PROXY ")
            try silent.waitForEnd()
            #expect(try failures.wait(for: 1) == ["127.0.0.1: it did not arrive in time"])
            #expect(peers.events == [] && group.connectionCount == 0)
        }
    }

    @Test func `count towards the limit of connections while the header is incomplete`() throws {
        let limits = TransportLimits(connections: 1, refusals: 0, proxyHeader: .seconds(60))
        try withBalancedServer(limits: limits) { port, group, peers, failures in
            let silent = try TestClient(port: port)
            while group.connectionCount == 0 { try group.loops[0].run {} }
            try TestClient(port: port).waitForEnd()
            #expect(group.refusedConnectionCount == 1)
            silent.close()
            try failures.wait(for: 1)
            let client = try TestClient(port: port)
            try client.send(Self.line + Array("hello".utf8))
            #expect(try client.receive(asLongAs: "hello") == "hello")
            #expect(peers.events == ["192.0.2.7"])
        }
    }

    @Test func `with an incomplete header do not delay the server's stop`() throws {
        var client: TestClient?
        try withBalancedServer { port, group, _, _ in
            client = try TestClient(port: port)
            try client?.send("PROXY")
            while group.connectionCount == 0 { try group.loops[0].run {} }
        }
        try client?.waitForEnd()
    }

    @Test func `are distinguished from others, whose header is not accepted`() throws {
        try withBalancedServer(proxies: ["10.0.0.0/8", "::1"]) { port, _, peers, _ in
            let client = try TestClient(port: port)
            try client.send(Self.line)
            let text = String(decoding: Self.line, as: UTF8.self)
            #expect(try client.receive(asLongAs: text) == text, "it is echoed, as anything else")
            #expect(peers.events == ["127.0.0.1"])
        }
    }
}
