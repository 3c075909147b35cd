import TestSupport
import Testing

@testable import Transport

@Suite("Pushes to outlets")
struct PushTests {
    /// A server whose first connection takes pushes, with that connection's outlet.
    private func withOutlet(
        _ script: Script = Script(), certificate: TestCertificate? = nil,
        _ body: (LiveServer, TestClient, UInt64) throws -> Void
    ) throws {
        let outlets = Recorder<UInt64>()
        var script = script
        script.received = { connection, bytes in
            switch bytes {
            case Array("off".utf8): connection.takesPushes = false
            case Array("end".utf8): connection.finish()
            default: connection.takesPushes = true
            }
            outlets.record(connection.outlet)
        }
        try withServer(script, certificate: certificate) { server in
            let client = try TestClient(port: server.port, tls: certificate.map { _ in TLSOptions(.tls13) })
            try client.send("on")
            try body(server, client, try outlets.wait(for: 1)[0])
        }
    }

    private func push(_ text: String, to outlet: UInt64, of server: LiveServer) throws -> Bool {
        try server.loop.run { [loop = server.loop] in
            let bytes = Array(text.utf8)
            return loop.push(bytes.span, to: outlet)
        }
    }

    @Test func `arrive in order with the connection's own writes`() throws {
        try withOutlet { (server, client, outlet) throws in
            #expect(try push("one", to: outlet, of: server))
            #expect(try push("two", to: outlet, of: server))
            #expect(try client.receive(asLongAs: "onetwo") == "onetwo")
        }
    }

    @Test func `are refused by connections without an outlet and by encrypted ones`() throws {
        try withOutlet { (server, client, outlet) throws in
            try client.send("off")
            try server.events.wait(for: .received("off"))
            #expect(try push("no", to: outlet, of: server) == false)
        }
        try withOutlet(certificate: try TestCertificate()) { (server, _, outlet) throws in
            #expect(try push("no", to: outlet, of: server) == false)
        }
    }

    @Test func `are refused after the last bytes, and by connections that are closed or have replaced a closed one`()
        throws
    {
        try withOutlet { (server, client, outlet) throws in
            try client.send("end")
            try client.waitForEnd()
            #expect(try push("no", to: outlet, of: server) == false)
            client.close()
            try server.waitUntilEmpty()
            #expect(try push("no", to: outlet, of: server) == false)
            let other = try TestClient(port: server.port)
            try other.send("on")
            try server.events.wait { $0.count { $0 == .received("on") } == 2 }
            #expect(try push("no", to: outlet, of: server) == false)
        }
    }

    @Test func `continue in order when the kernel has not accepted everything; meanwhile further ones are refused`()
        throws
    {
        let pushed = Recorder<Int>()
        var script = Script()
        script.drained = { $0.write([33]) }
        try withOutlet(script) { server, client, outlet in
            let piece = [UInt8](repeating: 120, count: 1_000_000)
            server.loop.post { [loop = server.loop] in
                var count = 0
                while loop.push(piece.span, to: outlet) { count += 1 }
                pushed.record(count)
            }
            let count = try pushed.wait(for: 1)[0]
            #expect(count > 0 && server.events.events.last != .drained)
            let bytes = try client.receive { $0.last == 33 }
            #expect(bytes.count == count * piece.count + 1 && bytes.dropLast().allSatisfy { $0 == 120 })
            #expect(try push("again", to: outlet, of: server))
        }
    }

    @Test func `detect a connection that the client has reset`() throws {
        try withOutlet { (server, client, outlet) throws in
            client.reset()
            try server.waitUntil { loop in
                _ = loop.push([120].span, to: outlet)
                return loop.connectionCount == 0
            }
            #expect(try push("no", to: outlet, of: server) == false)
        }
    }

    @Test func `find outlets by slot and connection`() {
        var table = OutletTable()
        let first = OutletTable.outlet(slot: 3, id: 1)
        let next = OutletTable.outlet(slot: 3, id: 1 << 32 + 2)
        #expect(table[first] == nil)
        table.set(first, to: 7)
        #expect(table[first] == 7 && table[next] == nil && table[OutletTable.outlet(slot: 2, id: 1)] == nil)
        table.set(first, to: nil)
        #expect(table[first] == nil)
        table.set(next, to: 0)
        #expect(table[first] == nil && table[next] == 0)
        #expect(OutletTable.slot(of: next) == 3)
    }
}
