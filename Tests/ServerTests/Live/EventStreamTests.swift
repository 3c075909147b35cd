import HTTP
import HTTPTypes
import Server
import Testing

@Suite("An event stream")
struct EventStreamTests {
    @Test("has the frames as data, their types as events, and ids on messages alone")
    func events() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let first = try client.post(HTTPClient.draft("1")).text
            let epoch = try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).epoch
            let stream = try EventStreamClient(port: server.port, "/v1/rooms/lobby/live?since=0")
            let subscribed = #"{"type":"subscribed","room":"lobby","head":1,"rev":1,"epoch":"\#(epoch)"}"#
            #expect(try stream.block() == ["event: subscribed", "data: \(subscribed)"])
            func message(_ rev: Int, _ json: String) -> [String] {
                ["event: message", "id: \(epoch):\(rev)", #"data: {"type":"message","message":\#(json)}"#]
            }
            #expect(try stream.block() == message(1, first))
            #expect(try stream.block() == ["event: live", #"data: {"type":"live","room":"lobby","rev":1}"#])
            let second = try client.post(HTTPClient.draft("2")).text
            #expect(try stream.block() == message(2, second))
        }
    }

    @Test("is answered as such, in HTTP/1.0 too", arguments: [0, 1])
    func head(minorVersion: Int) throws {
        try withServer { server in
            let stream = try EventStreamClient(port: server.port, minorVersion: minorVersion)
            let fields = Set(stream.head.dropFirst().map { $0.lowercased() })
            #expect(fields.isSuperset(of: ["content-type: text/event-stream", "cache-control: no-cache"]))
            #expect(fields.allSatisfy { !$0.hasPrefix("content-length") && !$0.hasPrefix("transfer-encoding") })
            try stream.greeting()
            try HTTPClient(port: server.port).send("x")
            #expect(try stream.message().text == "x")
        }
    }

    @Test("is what the client prefers among what it accepts")
    func negotiation() throws {
        try withServer { server in
            let target = "/v1/rooms/lobby/live"
            for accept in ["*/*", "application/json", "text/event-stream;q=0.1, application/json"] {
                let client = try HTTPClient(port: server.port)
                let response = try client.get(target, fields: [HTTPField(name: .accept, value: accept)])
                #expect(response.status.code == 426)
            }
            // An offer to upgrade to something else does not keep a client from its events.
            try EventStreamClient(port: server.port, lines: ["Upgrade: h2c", "Connection: Upgrade"]).greeting()
            // A client that asks for a WebSocket gets one, whatever it accepts.
            try WebSocketClient(port: server.port, fields: [HTTPField("Accept", "text/event-stream")]).greeting()
        }
    }

    @Test("goes on after the event that the client has seen last, whatever the URL says")
    func lastEventID() throws {
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
            // An empty one is what a client sends that has seen none.
            let fresh = try EventStreamClient(
                port: server.port, "/v1/rooms/lobby/live?since=3", lines: ["Last-Event-ID:"])
            _ = try fresh.frame()
            #expect(try fresh.message().rev == 4)
        }
    }

    @Test("after an event of another history, or none, is refused", arguments: [("other:1", 410), ("x", 400)])
    func badLastEventID(id: String, status: Int) throws {
        try withServer { server in
            let refused = #expect(throws: Unexpected.self) {
                try EventStreamClient(port: server.port, lines: ["Last-Event-ID: \(id)"])
            }
            #expect(refused?.description.contains(" \(status) ") == true)
        }
    }

    @Test("has a comment from time to time while nothing happens")
    func comments() throws {
        try withServer {
            $0.webSocket.pingInterval = .milliseconds(100)
        } _: { server in
            let stream = try EventStreamClient(port: server.port)
            try stream.greeting()
            for _ in 1...3 { #expect(try stream.block() == [": ping"]) }
            try HTTPClient(port: server.port).send("x")
            #expect(try stream.message().text == "x")
        }
    }
}
