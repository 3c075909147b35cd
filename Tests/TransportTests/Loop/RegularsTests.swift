import TestSupport
import Testing

@testable import Transport

@Suite("Clients with frequent requests")
struct RegularsTests {
    /// Tells the loop that its client asks again and again, and echoes what it gets; or ends, when told so.
    private static let script = Script(received: { connection, bytes in
        connection.asksAgain()
        switch bytes {
        case Array("abort".utf8): connection.abort()
        case Array("finish".utf8): connection.finish()
        case Array("pause".utf8): connection.isReadingPaused = true
        default: connection.write(bytes)
        }
    })

    /// A client that the server has heard of once.
    private func regular(of server: LiveServer, _ text: String = "one") throws -> TestClient {
        let client = try TestClient(port: server.port)
        try client.send(text)
        try server.events.wait { $0.contains(.received(text)) }
        return client
    }

    /// Has the loop look between two sockets, when `meanwhile` is done.
    ///
    /// - Returns: what the server was told up to then.
    private func look(_ server: LiveServer, after meanwhile: () throws -> Void) throws -> [Event] {
        let isThere = Recorder<Bool>()
        let goesOn = Recorder<Bool>()
        let seen = Recorder<[Event]>()
        server.loop.post { [loop = server.loop, events = server.events] in
            isThere.record(true)
            _ = try? goesOn.wait(for: 1)
            loop.runInterludes(isLong: true)
            seen.record(events.events)
        }
        try isThere.wait(for: 1)
        try meanwhile()
        goesOn.record(true)
        return try seen.wait(for: 1)[0]
    }

    @Test("are served between two sockets of a turn, and other clients are not")
    func served() throws {
        try withServer(Self.script) { server in
            let client = try regular(of: server)
            let other = try TestClient(port: server.port)
            try server.events.wait { $0.count { $0 == .opened } == 2 }
            let seen = try look(server) {
                try client.send("two")
                try other.send("other")
            }
            #expect(seen.contains(.received("two")) && !seen.contains(.received("other")))
            #expect(try client.receive(asLongAs: "onetwo") == "onetwo")
            #expect(try other.receive(asLongAs: "other") == "other")
        }
    }

    @Test("can send more than one read takes; the rest follows in order")
    func long() throws {
        try withServer(Self.script) { server in
            let client = try regular(of: server)
            let text = (0..<3_000).map { "\($0)," }.joined()
            let seen = try look(server) { try client.send(text) }
            #expect(seen.last == .received("…"))
            #expect(try client.receive(asLongAs: "one" + text) == "one" + text)
        }
    }

    @Test("that have closed are detected by the library")
    func ended() throws {
        try withServer(Self.script) { server in
            let client = try regular(of: server)
            let seen = try look(server) { client.close() }
            #expect(!seen.contains(.closed))
            try server.events.wait { $0.contains(.closed) }
        }
    }

    @Test("are not read from while reading is paused, nor after the last bytes", arguments: ["pause", "finish"])
    func paused(how: String) throws {
        try withServer(Self.script) { server in
            let client = try regular(of: server, how)
            let seen = try look(server) { try client.send("two") }
            #expect(!seen.contains(.received("two")))
        }
    }

    @Test("can be cut by their own request")
    func aborted() throws {
        try withServer(Self.script) { server in
            let client = try regular(of: server)
            let seen = try look(server) { try client.send("abort") }
            #expect(seen.contains(.received("abort")))
            try client.waitForEnd()
            try server.waitUntilEmpty()
        }
    }

    @Test("are not read from past their encryption")
    func encrypted() throws {
        let certificate = try TestCertificate()
        try withServer(Self.script, certificate: certificate) { server in
            let client = try TestClient(port: server.port, tls: TLSOptions(.tls13))
            try client.send("one")
            try server.events.wait { $0.contains(.received("one")) }
            let seen = try look(server) { try client.send("two") }
            #expect(!seen.contains(.received("two")))
            #expect(try client.receive(asLongAs: "onetwo") == "onetwo")
        }
    }

    @Test("are limited in number, and the oldest is replaced")
    func bounded() {
        var regulars = Regulars()
        for slot in 0..<Regulars.capacity { #expect(add(slot, to: &regulars) == nil) }
        #expect(add(Regulars.capacity, to: &regulars) == 0)
        #expect(add(Regulars.capacity + 1, to: &regulars) == 1)
        #expect(regulars.all.map(\.slot).sorted() == Array(2..<Regulars.capacity + 2))
    }

    private func add(_ slot: Int, to regulars: inout Regulars) -> Int? {
        regulars.add(slot: slot, id: UInt64(slot))?.slot
    }

    @Test("that were replaced return with their next request")
    func comeBack() throws {
        try withServer(Self.script) { server in
            let clients = try (0...Regulars.capacity).map { try regular(of: server, "\($0)") }
            #expect(try look(server) { try clients[0].send("away") }.contains(.received("away")) == false)
            try server.events.wait { $0.contains(.received("away")) }
            #expect(try look(server) { try clients[0].send("back") }.contains(.received("back")))
        }
    }
}
