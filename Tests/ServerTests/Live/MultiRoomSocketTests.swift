import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import WebSocket

@Suite("A socket for many rooms")
struct MultiRoomSocketTests {
    private func withSocket(
        _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: (LiveServer, HTTPClient, WebSocketClient) throws -> Void
    ) throws {
        try withServer(configure) { server in
            try body(server, HTTPClient(port: server.port), .forRooms(port: server.port))
        }
    }

    @Test(arguments: [false, true])
    func `gets the same bytes for each room as the room's own socket`(deflate: Bool) throws {
        try withServer {
            $0.threads = 2
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let rooms = ["red", "green", "blue"]
            for index in 1...9 { try client.send("before \(index)", to: rooms[index % 3]) }
            let many = try WebSocketClient.forRooms(port: server.port, offersDeflate: deflate)
            #expect((many.deflate != nil) == deflate)
            for room in rooms {
                let own = try WebSocketClient(
                    port: server.port, "/v1/rooms/\(room)/live?since=1", offersDeflate: deflate)
                try many.ask(for: room, since: "1")
                // Subscribed, two messages, live.
                for _ in 1...4 { #expect(try many.next() == own.next()) }
                for index in 1...5 { try client.send("to \(room), number \(index) of these", to: room) }
                for _ in 1...5 { #expect(try many.next() == own.next()) }
            }
        }
    }

    @Test func `begins at the client's position, in each way to state it`() throws {
        try withSocket { server, client, socket in
            for index in 1...4 { try client.send("\(index)") }
            let epoch = try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).epoch
            for since in ["3", #""3""#, #""\#(epoch):3""#, #"3,"epoch":"\#(epoch)""#] {
                try socket.ask(for: "lobby", since: since)
                #expect(try socket.frame().room?.rev == 4)
                #expect(try socket.message().rev == 4)
                #expect(try socket.frame().liveRev == 4)
                try socket.send(#"{"type":"unsubscribe","room":"lobby"}"#)
            }
        }
    }

    @Test func `reports what cannot be served, with the room, and stays open`() throws {
        try withSocket {
            $0.webSocket.subscriptions = 2
        } _: { server, client, socket in
            try client.send("1")
            try socket.join("lobby")
            let refusals: [(frame: String, code: String, room: String?)] = [
                (#"{"type":"subscribe","room":"a","since":1}"#, "cursor_unknown", "a"),
                (#"{"type":"subscribe","room":"a","since":"other:0"}"#, "cursor_unknown", "a"),
                (#"{"type":"subscribe","room":"a","since":"x"}"#, "invalid_cursor", "a"),
                (#"{"type":"subscribe","room":"a b"}"#, "invalid_room", "a b"),
                (#"{"type":"subscribe"}"#, "invalid_field", nil),
                (#"{"type":"subscribe","room":"lobby","since":0}"#, "already_subscribed", "lobby"),
                (#"{"type":"subscribe","room":"a","epoch":"other"}"#, "cursor_unknown", "a"),
                (#"{"type":"subscribe","rooms":"mine"}"#, "unauthenticated", nil),
                (#"{"type":"subscribe","rooms":["a"]}"#, "invalid_field", nil),
                (#"{"type":"unsubscribe","rooms":"mine"}"#, "not_subscribed", nil),
                (#"{"type":"unsubscribe","room":"a"}"#, "not_subscribed", "a"),
                (#"{"type":"typing","room":"a"}"#, "not_subscribed", "a"),
                (#"{"type":"typing"}"#, "invalid_field", nil), (#"{"type":"dance"}"#, "unknown_type", nil),
                (#"{"type":"dance","room":"a"}"#, "unknown_type", "a"),
            ]
            for refusal in refusals {
                try socket.send(refusal.frame)
                guard case .error(let code, let room) = try socket.frame().content else {
                    throw Unexpected("another answer")
                }
                #expect(code == refusal.code && room == refusal.room)
            }
            // None of them counts as a subscription.
            try socket.join("a")
            try socket.ask(for: "b")
            #expect(try socket.frame().errorCode == "too_many_subscriptions")
            try socket.send(#"{"type":"unsubscribe","room":"a"}"#)
            try socket.join("b")
            try socket.send(#"{"type":"token","token":"x.y.z"}"#)
            try client.send("2")
            #expect(try socket.message().text == "2")
        }
    }

    @Test(arguments: [
        (Opcode.text, "hello", CloseCode.invalidPayloadData), (.text, "[]", .policyViolation),
        (.binary, #"{"type":"typing"}"#, .unsupportedData),
    ])
    func `closes on an invalid frame`(opcode: Opcode, payload: String, code: CloseCode) throws {
        try withSocket { _, _, socket in
            try socket.send(opcode, Array(payload.utf8))
            let closeCode = try socket.closeCode()
            #expect(closeCode == code)
        }
    }

    @Test func `gets nothing of a room after unsubscribing, and may subscribe again`() throws {
        try withSocket { _, client, socket in
            try socket.join("a", "b")
            try socket.send(#"{"type":"unsubscribe","room":"a"}"#)
            #expect(try socket.isQuiet())
            try client.send("1", to: "a")
            try client.send("1", to: "b")
            #expect(try socket.message().room == "b")
            try socket.ask(for: "a", since: "0")
            #expect(try socket.frame().room?.room == "a")
            #expect(try socket.message().room == "a")
            #expect(try socket.frame().liveRev == 1)
        }
    }

    @Test func `gets no answer if it unsubscribes before the answer`() throws {
        try withSocket { server, client, socket in
            try client.send("1", to: "a")
            let frames = [#"{"type":"subscribe","room":"a","since":0}"#, #"{"type":"unsubscribe","room":"a"}"#]
            let both = frames.flatMap { WebSocketClient.frame(.text, Array($0.utf8)) }
            // Few enough for one turn of the connection, see TurnSlice. In the next turn an answer may come between the two frames.
            try socket.http.write((1...5).flatMap { _ in both })
            #expect(try socket.isQuiet())
            try socket.join("b")
            #expect(try client.get("/metrics").text.contains("\nbackscroll_feeds 1\n"))
        }
    }

    @Test func `may subscribe to a thousand rooms at once`() throws {
        try withServer {
            $0.threads = 2
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let socket = try WebSocketClient.forRooms(port: server.port)
            let limit = server.configuration.webSocket.subscriptions
            #expect(limit == 1000)
            let rooms = (1...limit).map { "room\($0)" }
            try socket.http.write(
                rooms.flatMap { room in
                    WebSocketClient.frame(.text, Array(#"{"type":"subscribe","room":"\#(room)","since":0}"#.utf8))
                })
            for room in rooms { #expect(try socket.greeting().room == room) }
            for room in [rooms[0], rooms[499], rooms[999]] {
                try client.send("x", to: room)
                #expect(try socket.message().room == room)
            }
            #expect(try client.get("/metrics").text.contains("\nbackscroll_subscribers 1000\n"))
            socket.http.close()
            let other = try WebSocketClient.forRooms(port: server.port)
            try other.join("last")
        }
    }

    @Test func `closes with 4429 above its limit of frames in a second`() throws {
        try withSocket {
            $0.webSocket.framesPerSecondForRooms = 50
        } _: { _, _, socket in
            try socket.http.write((0..<51).flatMap { _ in WebSocketClient.frame(.ping, []) })
            #expect(try socket.closeCode() == .tooManyFrames)
        }
    }

    @Test func `does not exist as an event stream, or without an upgrade`() throws {
        try withServer { server in
            for fields in [[], [HTTPField(name: .accept, value: "text/event-stream")]] {
                let client = try HTTPClient(port: server.port)
                let response = try client.get("/v1/live", fields: fields)
                #expect(response.status.code == 426)
                #expect(try response.problem.code == "upgrade_required")
                #expect(response["Upgrade"] == "websocket")
            }
            let client = try HTTPClient(port: server.port)
            #expect(try client.get("/v1/live?user=a%20b", fields: HandshakeTests.fields).status == .badRequest)
            #expect(try client.request(.post, "/v1/live").status == .methodNotAllowed)
        }
    }

    @Test func `closes with 1001 when the server stops`() throws {
        try withSocket { server, _, socket in
            try socket.join("a", "b")
            let running = server.server!
            try concurrently([{ running.stop() }]) {
                let code = try socket.closeCode()
                #expect(code == .goingAway)
            }
        }
    }
}
