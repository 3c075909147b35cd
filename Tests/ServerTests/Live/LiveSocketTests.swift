import HTTP
import HTTPTypes
import Testing
import WebSocket

@Suite("A room's socket")
struct LiveSocketTests {
    @Test func `sends subscribed, live, and then new messages, in frames of exactly these bytes`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("before")
            let epoch = try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).epoch
            let socket = try WebSocketClient(port: server.port)
            let subscribed = #"{"type":"subscribed","room":"lobby","head":1,"rev":1,"epoch":"\#(epoch)"}"#
            #expect(try String(decoding: socket.next(), as: UTF8.self) == subscribed)
            #expect(try String(decoding: socket.next(), as: UTF8.self) == #"{"type":"live","room":"lobby","rev":1}"#)
            for index in 2...4 {
                let sent = try client.post(HTTPClient.draft("\(index)"))
                #expect(
                    try String(decoding: socket.next(), as: UTF8.self) == #"{"type":"message","message":\#(sent.text)}"#
                )
            }
        }
    }

    @Test func `of an unused room waits for its first message`() throws {
        try withServer { server in
            for format in LiveFormat.allCases {
                let room = "\(format)"
                let live = try format.subscribe(port: server.port, room: room)
                #expect(try live.greeting().rev == 0)
                try HTTPClient(port: server.port).send("first", to: room)
                #expect(try live.message().seq == 1)
            }
        }
    }

    @Test func `gets all messages of its room and none of others`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let one = try WebSocketClient(port: server.port, "/v1/rooms/one/live")
            let two = try WebSocketClient(port: server.port, "/v1/rooms/two/live")
            try one.greeting()
            try two.greeting()
            for index in 1...5 {
                try client.send("1-\(index)", to: "one", as: "alice")
                try client.send("2-\(index)", to: "two", as: "bob")
            }
            for index in 1...5 {
                #expect(try one.message().text == "1-\(index)")
                #expect(try two.message().text == "2-\(index)")
            }
        }
    }

    @Test func `gets the echo of its own user's send with the client's id, once even if the send is repeated`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let socket = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?user=alice")
            try socket.greeting()
            for _ in 1...3 { _ = try client.post(HTTPClient.draft("mine", id: "a1"), as: "alice") }
            try client.send("end")
            let echo = try socket.message()
            #expect(echo.sender == "alice" && echo.clientMessageId == "a1")
            #expect(try socket.message().text == "end")
        }
    }

    @Test func `gets every message once, in order, whatever their number and size`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let lives = try LiveFormat.allCases.flatMap { format in
                try (0..<3).map { _ in try format.subscribe(port: server.port) }
            }
            for live in lives { try live.greeting() }
            let sizes = (0..<300).map { $0 % 50 == 0 ? 16_000 : $0 }
            let sends = sizes.flatMap {
                HTTPClient.bytes(sending: HTTPClient.draft(String(repeating: "x", count: $0 + 1)))
            }
            try client.write(sends)
            for _ in sizes { #expect(try client.response().status == .created) }
            for live in lives {
                let revs = try sizes.map { _ in try live.message().rev }
                #expect(revs == Array(1...300))
            }
        }
    }

    @Test func `that closes does not affect the others`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let staying = try WebSocketClient(port: server.port)
            try staying.greeting()
            for index in 1...10 {
                let leaving = try WebSocketClient(port: server.port)
                try leaving.greeting()
                index % 2 == 0 ? leaving.http.reset() : leaving.http.close()
                try client.send("\(index)")
                #expect(try staying.message().text == "\(index)")
            }
        }
    }
}
