import HTTP
import HTTPTypes
import Server
import Testing
import Transport

@Suite("An event stream")
struct EventStreamTests {
    @Test func `has frames as data, their types as events, and positions to resume from as ids`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let first = try client.post(HTTPClient.draft("1")).text
            let epoch = try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).epoch
            let stream = try EventStreamClient(port: server.port, "/v1/rooms/lobby/live?since=0")
            let subscribed = #"{"type":"subscribed","room":"lobby","head":1,"rev":1,"epoch":"\#(epoch)"}"#
            var beginning = try #require(try stream.block())
            let retry = beginning.removeFirst().wholeMatch(of: /retry: ([0-9]+)/).flatMap { Int($0.1) }
            #expect(retry.map((2000...4000).contains) == true)
            #expect(beginning == ["event: subscribed", "id: \(epoch):0", "data: \(subscribed)"])
            func message(_ rev: Int, _ json: String) -> [String] {
                ["event: message", "id: \(epoch):\(rev)", #"data: {"type":"message","message":\#(json)}"#]
            }
            #expect(try stream.block() == message(1, first))
            let live = #"data: {"type":"live","room":"lobby","rev":1}"#
            #expect(try stream.block() == ["event: live", "id: \(epoch):1", live])
            let second = try client.post(HTTPClient.draft("2")).text
            #expect(try stream.block() == message(2, second))
        }
    }

    @Test func `can be resumed from each event: subscribed has the requested position, live its own`() throws {
        try withServer {
            $0.presence = true
        } _: { server in
            let client = try HTTPClient(port: server.port)
            for index in 1...3 { try client.send("\(index)") }
            let epoch = try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).epoch
            func ids(_ query: String, lines: [String] = [], count: Int) throws -> [String?] {
                let stream = try EventStreamClient(port: server.port, "/v1/rooms/lobby/live\(query)", lines: lines)
                return try (0..<count).map { _ in try stream.event().id }
            }
            // Without a position: subscribed, live, presence.
            #expect(try ids("", count: 3) == ["\(epoch):3", "\(epoch):3", nil])
            #expect(try ids("?since=2", count: 3) == ["\(epoch):2", "\(epoch):3", "\(epoch):3"])
            #expect(
                try ids("?since=0", lines: ["Last-Event-ID: \(epoch):1"], count: 4)
                    == [1, 2, 3, 3].map { "\(epoch):\($0)" })
        }
    }

    @Test func `that ends before its first message resumes from where it began`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            let first = try EventStreamClient(port: server.port)
            let id = try #require(try first.event().id)
            first.close()
            try client.send("2")
            let again = try EventStreamClient(port: server.port, lines: ["Last-Event-ID: \(id)"])
            #expect(try again.frame().room?.rev == 2)
            #expect(try again.message().text == "2")
        }
    }

    @Test(arguments: [0, 1])
    func `is neither cached nor buffered by proxies, also over HTTP/1.0`(minorVersion: Int) throws {
        try withServer { server in
            let stream = try EventStreamClient(port: server.port, minorVersion: minorVersion)
            let fields = Set(stream.head.dropFirst().map { $0.lowercased() })
            #expect(
                fields.isSuperset(of: [
                    "content-type: text/event-stream", "cache-control: no-store", "x-accel-buffering: no",
                ]))
            #expect(fields.allSatisfy { !$0.hasPrefix("content-length") && !$0.hasPrefix("transfer-encoding") })
            try stream.greeting()
            try HTTPClient(port: server.port).send("x")
            #expect(try stream.message().text == "x")
        }
    }

    @Test func `is sent if the client prefers it in Accept`() throws {
        try withServer { server in
            let target = "/v1/rooms/lobby/live"
            for accept in ["*/*", "application/json", "text/event-stream;q=0.1, application/json"] {
                let client = try HTTPClient(port: server.port)
                let response = try client.get(target, fields: [HTTPField(name: .accept, value: accept)])
                #expect(response.status.code == 426)
            }
            // An offer to upgrade to another protocol does not prevent events.
            try EventStreamClient(port: server.port, lines: ["Upgrade: h2c", "Connection: Upgrade"]).greeting()
            // A request for a WebSocket gets one, whatever it accepts.
            try WebSocketClient(port: server.port, fields: [HTTPField("Accept", "text/event-stream")]).greeting()
        }
    }

    @Test func `resumes after Last-Event-ID, whatever the URL says`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for index in 1...4 { try client.send("\(index)") }
            let first = try EventStreamClient(port: server.port, "/v1/rooms/lobby/live?since=0")
            _ = try first.event()
            _ = try first.event()
            let seen = try first.event().id!
            let again = try EventStreamClient(
                port: server.port, "/v1/rooms/lobby/live?since=0", lines: ["Last-Event-ID: \(seen)"])
            #expect(try again.frame().room?.rev == 4)
            #expect(try again.message().rev == 3)
            #expect(try again.message().rev == 4)
            #expect(try again.frame().liveRev == 4)
            // A client without an event id sends an empty one.
            let fresh = try EventStreamClient(
                port: server.port, "/v1/rooms/lobby/live?since=3", lines: ["Last-Event-ID:"])
            _ = try fresh.frame()
            #expect(try fresh.message().rev == 4)
        }
    }

    @Test func `has a heartbeat while nothing happens, every 15 s by default`() throws {
        #expect(ServerConfiguration().eventHeartbeat == .seconds(15))
        try withServer {
            $0.eventHeartbeat = .milliseconds(100)
        } _: { server in
            let stream = try EventStreamClient(port: server.port)
            try stream.greeting()
            for _ in 1...3 { #expect(try stream.block() == [": ping"]) }
            try HTTPClient(port: server.port).send("x")
            #expect(try stream.message().text == "x")
        }
    }

    @Test func `ends when its client disappears and acknowledges no heartbeat`() throws {
        try withServer {
            $0.eventHeartbeat = .milliseconds(100)
            $0.transport.noProgress = .milliseconds(300)
        } _: { server in
            let stream = try EventStreamClient(port: server.port)
            try stream.greeting()
            try stream.fallSilent()
            // The stream is gone when the requesting connection is the only one.
            let client = try HTTPClient(port: server.port)
            while try !client.get("/metrics").text.contains("backscroll_connections 1\n") {}
            #expect(try client.get("/metrics").text.contains("backscroll_subscribers 0\n"))
        }
    }
}
