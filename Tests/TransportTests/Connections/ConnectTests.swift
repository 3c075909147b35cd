import TestSupport
import Testing

@testable import Transport

@Suite("Outgoing connections")
struct ConnectTests {
    /// Connects from a loop of the server to `port` of this machine.
    private func connect(
        _ script: Script, from loop: Loop, to port: Int, host: String = "127.0.0.1", events: Recorder<Event>
    ) throws {
        let address = try PeerAddress(host: host, port: port)
        let isConnecting = try loop.run {
            let connection = try? loop.connect(to: address) { ScriptedHandler(script, on: $0, events: events) }
            return connection != nil
        }
        #expect(isConnecting)
    }

    @Test func `Bytes written before the connection is established are sent afterwards, in order`() throws {
        try withServer(host: "localhost") { server in
            for host in ["127.0.0.1", "::1"] {
                let events = Recorder<Event>()
                var script = Script()
                script.opened = { connection in
                    connection.write(Array("first ".utf8))
                    connection.write(Array("second".utf8))
                    #expect(!connection.isSecure && connection.peer == host)
                }
                let answer = Recorder<[UInt8]>()
                script.received = { connection, bytes in
                    answer.record(bytes)
                    if answer.events.joined().count == 12 { connection.finish() }
                }
                try connect(script, from: server.loop, to: server.port, host: host, events: events)
                try events.wait(for: .closed)
                #expect(String(decoding: answer.events.joined(), as: UTF8.self) == "first second")
            }
            #expect(server.group.connectionCount <= 2, "the limit counts those who come, not where we go")
        }
    }

    @Test func `A refused connection closes, and its handler is told once`() throws {
        try withServer { server in
            let unused = try withServer { $0.port }
            let events = Recorder<Event>()
            var script = Script()
            script.opened = { $0.write(Array("anybody?".utf8)) }
            try connect(script, from: server.loop, to: unused, events: events)
            try events.wait(for: .closed)
            #expect(events.events == [.opened, .closed])
        }
    }

    @Test func `A connection attempt without an answer can be cancelled`() throws {
        try withServer { server in
            let events = Recorder<Event>()
            var script = Script()
            script.opened = { $0.setDeadline(.milliseconds(100)) }
            script.deadline = { $0.abort() }
            // An address reserved for documentation, which does not answer or is unreachable (RFC 5737).
            try connect(script, from: server.loop, to: 80, host: "192.0.2.1", events: events)
            try events.wait(for: .closed)
        }
    }

    @Test func `An invalid port is refused`() {
        let error = #expect(throws: TransportError.self) { try PeerAddress(host: "127.0.0.1", port: 70_000) }
        #expect(
            error?.description
                == "cannot use the address 127.0.0.1:70000: a port is a number from 0 to 65535")
    }
}
