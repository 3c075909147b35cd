import TestSupport
import Testing

@testable import Transport

@Suite("Outgoing encrypted connections")
struct ClientTLSTests {
    /// Connects from a loop of the server to the server itself.
    private func connect(
        _ script: Script, to server: LiveServer, host: String = "127.0.0.1", trust: ClientTLS.Trust,
        events: Recorder<Event>
    ) throws {
        let address = try PeerAddress(host: "127.0.0.1", port: server.port)
        let tls = try ClientTLS(host: host, trust: trust)
        let loop = server.loop
        let isConnecting = try loop.run {
            let connection = try? loop.connect(to: address, tls: tls) {
                ScriptedHandler(script, on: $0, events: events)
            }
            return connection != nil
        }
        #expect(isConnecting)
    }

    @Test func `Bytes written before the handshake are all sent after it`() throws {
        let certificate = try TestCertificate()
        try withServer(certificate: certificate) { server in
            let sent = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            let events = Recorder<Event>()
            let answers = Recorder<[UInt8]>()
            var script = Script()
            script.opened = { connection in
                #expect(connection.isSecure)
                connection.write(sent)
            }
            script.received = { connection, bytes in
                answers.record(bytes)
                if answers.events.reduce(0, { $0 + $1.count }) == sent.count { connection.finish() }
            }
            try connect(
                script, to: server, host: "localhost", trust: .file(certificate.certificatePath), events: events)
            try events.wait(for: .closed)
            #expect(Array(answers.events.joined()) == sent)
        }
    }

    @Test func `An untrusted certificate, or one for another name, ends the connection with the reason`() throws {
        let certificate = try TestCertificate(name: "localhost")
        let cases = [("elsewhere", ClientTLS.Trust.file(certificate.certificatePath)), ("localhost", .system)]
        try withServer(certificate: certificate) { server in
            for (host, trust) in cases {
                let events = Recorder<Event>()
                let failures = Recorder<String?>()
                var script = Script()
                script.closed = { failures.record($0.failure) }
                try connect(script, to: server, host: host, trust: trust, events: events)
                try events.wait(for: .closed)
                #expect(try failures.wait(for: 1)[0]?.hasPrefix("the server's certificate is not trusted: ") == true)
            }
        }
    }

    @Test func `A server that does not speak TLS is detected`() throws {
        var greeting = Script()
        greeting.received = { connection, _ in connection.write(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)) }
        try withServer(greeting) { server in
            let events = Recorder<Event>()
            let failures = Recorder<String?>()
            var script = Script()
            script.closed = { failures.record($0.failure) }
            try connect(script, to: server, trust: .anyone, events: events)
            try events.wait(for: .closed)
            #expect(try failures.wait(for: 1)[0]?.hasPrefix("TLS failed: ") == true)
        }
    }

    @Test func `The server's close ends the connection`() throws {
        var goodbye = Script()
        goodbye.received = { connection, _ in connection.finish() }
        try withServer(goodbye, certificate: try TestCertificate()) { server in
            let events = Recorder<Event>()
            var script = Script()
            script.opened = { $0.write(Array("hello".utf8)) }
            try connect(script, to: server, trust: .anyone, events: events)
            try events.wait(for: .closed)
        }
    }
}
