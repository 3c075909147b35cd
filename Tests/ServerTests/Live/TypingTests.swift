import HTTP
import HTTPTypes
import Server
import Testing
import WebSocket

@Suite("A typing notice")
struct TypingTests {
    @Test func `is sent once in an interval to the room's other users, on every loop and kind of connection`() throws {
        try withServer {
            $0.threads = 4
            $0.typingInterval = .seconds(3600)
        } _: { server in
            let live = "/v1/rooms/lobby/live?user="
            // Enough sockets for every loop to have some.
            let own = try (0..<8).map { _ in try WebSocketClient(port: server.port, live + "alice") }
            let ownMany = try (0..<8).map { _ in try WebSocketClient.forRooms(port: server.port, as: "alice") }
            let others = try (0..<8).map { try WebSocketClient(port: server.port, live + "bob\($0)") }
            let othersMany = try (0..<8).map { try WebSocketClient.forRooms(port: server.port, as: "carol\($0)") }
            let stream = try EventStreamClient(port: server.port)
            let elsewhere = try WebSocketClient(port: server.port, "/v1/rooms/other/live")
            for socket in own + others + [elsewhere] { try socket.greeting() }
            try stream.greeting()
            for socket in ownMany + othersMany { try socket.join("lobby") }

            for socket in own + ownMany {
                for _ in 1...3 { try socket.send(#"{"type":"typing","room":"lobby"}"#) }
                #expect(try socket.isQuiet())
            }
            try HTTPClient(port: server.port).send("done")
            try HTTPClient(port: server.port).send("done", to: "other")
            for socket in others + othersMany {
                let notice = try String(decoding: socket.next(), as: UTF8.self)
                #expect(notice == #"{"type":"typing","room":"lobby","user":"alice"}"#)
            }
            let event = try stream.event()
            #expect(event.type == "typing" && event.id == nil)
            for socket in own + ownMany + others + othersMany + [elsewhere] {
                #expect(try socket.message().text == "done")
            }
            #expect(try stream.message().text == "done")
        }
    }

    @Test func `is sent again after the interval, and separately for each user and room`() throws {
        try withServer {
            $0.typingInterval = .zero
        } _: { server in
            let reader = try WebSocketClient.forRooms(port: server.port)
            try reader.join("red", "green")
            let alice = try WebSocketClient.forRooms(port: server.port, as: "alice")
            try alice.join("red", "green")
            let bob = try WebSocketClient(port: server.port, "/v1/rooms/red/live?user=bob")
            try bob.greeting()
            for room in ["red", "red", "green"] {
                try alice.send(#"{"type":"typing","room":"\#(room)"}"#)
                guard case .typing(room, user: "alice") = try reader.frame().content else {
                    throw Unexpected("another frame")
                }
            }
            try bob.send(#"{"type":"typing"}"#)
            #expect(try alice.frame().typist == "bob")
        }
    }

    @Test func `needs a name and a subscription`() throws {
        try withServer { server in
            let nobody = try WebSocketClient(port: server.port)
            try nobody.greeting()
            try nobody.send(#"{"type":"typing"}"#)
            guard case .error("unauthenticated", room: "lobby") = try nobody.frame().content else {
                throw Unexpected("another answer")
            }
            let many = try WebSocketClient.forRooms(port: server.port)
            try many.join("lobby")
            try many.send(#"{"type":"typing","room":"lobby"}"#)
            guard case .error("unauthenticated", room: "lobby") = try many.frame().content else {
                throw Unexpected("another answer")
            }
            let alice = try WebSocketClient.forRooms(port: server.port, as: "alice")
            try alice.join("other")
            try alice.send(#"{"type":"typing","room":"lobby"}"#)
            #expect(try alice.frame().errorCode == "not_subscribed")
            #expect(try nobody.isQuiet())
        }
    }

    @Test func `reaches the other user of a direct room, who does not block the typing one`() throws {
        try withServer {
            $0.typingInterval = .zero
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let made = try client.request(.put, "/v1/direct/bob?user=alice")
            let room = try decode(made.body, as: ReceivedRoom.self).room
            let (alice, bob) = (
                try WebSocketClient.forRooms(port: server.port, as: "alice"),
                try WebSocketClient.forRooms(port: server.port, as: "bob")
            )
            for socket in [alice, bob] { try socket.join(room) }
            try bob.send(#"{"type":"typing","room":"\#(room)"}"#)
            #expect(try alice.frame().typist == "bob")
            #expect(try client.request(.put, "/v1/blocks/bob?user=alice").status == .created)
            try bob.send(#"{"type":"typing","room":"\#(room)"}"#)
            #expect(try bob.isQuiet() && alice.isQuiet())
            // The one who blocks is still heard.
            try alice.send(#"{"type":"typing","room":"\#(room)"}"#)
            #expect(try bob.frame().typist == "alice")
            #expect(try client.request(.delete, "/v1/blocks/bob?user=alice").status == .noContent)
            try bob.send(#"{"type":"typing","room":"\#(room)"}"#)
            #expect(try alice.frame().typist == "bob")
        }
    }

    @Test func `of an admin reaches the users of a direct room of others`() async throws {
        let root = try TestToken.of("root", #""admin":true"#)
        let alice = try TestToken.of("alice")
        try await withTokenServer(configure: { $0.typingInterval = .zero }) { server in
            let client = try HTTPClient(port: server.port)
            let made = try client.request(.put, "/v1/direct/bob", fields: [.bearer(alice)])
            let room = try decode(made.body, as: ReceivedRoom.self).room
            let sockets = try [root, alice].map {
                try WebSocketClient(port: server.port, "/v1/live?access_token=\($0)")
            }
            for socket in sockets { try socket.join(room) }
            try sockets[0].send(#"{"type":"typing","room":"\#(room)"}"#)
            #expect(try sockets[1].frame().typist == "root")
        }
    }

    @Test func `is not replayed`() throws {
        try withServer { server in
            let alice = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?user=alice")
            try alice.greeting()
            try alice.send(#"{"type":"typing"}"#)
            #expect(try alice.isQuiet())
            try HTTPClient(port: server.port).send("1")
            for format in LiveFormat.allCases {
                let live = try format.subscribe(port: server.port, query: "since=0")
                #expect(try live.frame().room?.rev == 1)
                #expect(try live.message().text == "1")
                #expect(try live.frame().liveRev == 1)
            }
        }
    }
}
