import HTTP
import HTTPTypes
import Server
import Testing

@Suite("The number of subscribers")
struct PresenceTests {
    private func withServer(
        interval: Duration, _ body: (LiveServer) throws -> Void
    ) throws {
        try ServerTests.withServer(
            {
                $0.threads = 4
                $0.presence = true
                $0.presenceInterval = interval
            }, body)
    }

    @Test(arguments: LiveFormat.allCases)
    func `is sent to a subscriber when it is live, counting each user once`(format: LiveFormat) throws {
        try withServer(interval: .seconds(3600)) { server in
            try HTTPClient(port: server.port).send("1")
            var lives: [any LiveClient] = []
            for (user, online) in [("alice", 1), ("bob", 2), ("alice", 2), ("", 3), ("", 4)] {
                let name = user.isEmpty ? "" : "user=\(user)&"
                let live = try format.subscribe(port: server.port, query: name + "since=0")
                #expect(try live.frame().room?.rev == 1)
                #expect(try live.message().text == "1")
                #expect(try live.frame().liveRev == 1)
                let notice = try String(decoding: live.next(), as: UTF8.self)
                #expect(notice == #"{"type":"presence","room":"lobby","online":\#(online)}"#)
                lives.append(live)
            }
            try HTTPClient(port: server.port).send("2")
            for live in lives { #expect(try live.message().text == "2") }
        }
    }

    @Test func `is sent to the whole room when it changes, on every loop and kind of connection`() throws {
        try withServer(interval: .milliseconds(100)) { server in
            func expect(_ online: Int, _ lives: [any LiveClient]) throws {
                for live in lives { while try live.frame().online != online {} }
            }
            let stream = try EventStreamClient(port: server.port)
            let watchers: [any LiveClient] =
                try (0..<8).map { try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?user=w\($0)") }
                + [stream]
            try expect(9, watchers)
            let many = try WebSocketClient.forRooms(port: server.port, as: "alice")
            try many.ask(for: "lobby")
            try expect(10, watchers + [many])
            let own = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?user=bob")
            try expect(11, watchers + [many, own])
            try many.send(#"{"type":"unsubscribe","room":"lobby"}"#)
            try expect(10, watchers + [own])
            own.http.reset()
            try expect(9, watchers)
            #expect(try many.isQuiet())
        }
    }

    @Test func `has no id as an event`() throws {
        try withServer(interval: .seconds(3600)) { server in
            let stream = try EventStreamClient(port: server.port)
            try stream.greeting()
            #expect(
                try stream.block() == [
                    "event: presence", #"data: {"type":"presence","room":"lobby","online":1}"#,
                ])
        }
    }

    @Test func `can be read over HTTP, with the users' names`() throws {
        try withServer(interval: .seconds(3600)) { server in
            let client = try HTTPClient(port: server.port)
            let path = "/v1/rooms/lobby/presence"
            #expect(try client.get(path).text == #"{"room":"lobby","online":0,"users":[]}"#)
            let alice = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?user=alice")
            let nobody = try WebSocketClient(port: server.port)
            let many = try WebSocketClient.forRooms(port: server.port, as: "Bob")
            for socket in [alice, nobody] { try socket.greeting() }
            try many.join("lobby")
            #expect(try client.get(path).text == #"{"room":"lobby","online":3,"users":["Bob","alice"]}"#)
            #expect(try client.request(.post, path).status == .methodNotAllowed)
            #expect(try client.get("/v1/rooms/a%20b/presence").status == .badRequest)
        }
    }

    @Test func `is not sent if presence is off`() throws {
        try ServerTests.withServer { server in
            let client = try HTTPClient(port: server.port)
            let response = try client.get("/v1/rooms/lobby/presence")
            #expect(response.status == .notImplemented)
            #expect(try response.problem.code == "not_available")
            let socket = try WebSocketClient(port: server.port)
            try socket.greeting()
            #expect(try socket.isQuiet())
        }
    }
}
