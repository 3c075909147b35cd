import HTTP
import HTTPTypes
import Testing

@Suite("A subscription since a revision")
struct SinceTests {
    private func withMessages(_ count: Int, _ body: (LiveServer, _ epoch: String) throws -> Void) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for index in 0..<count { try client.send("\(index + 1)") }
            try body(server, client.read("/v1/rooms/lobby", as: ReceivedRoom.self).epoch)
        }
    }

    @Test(arguments: LiveFormat.allCases)
    func `gets the messages after it, then live, then new messages`(format: LiveFormat) throws {
        try withMessages(5) { server, epoch in
            for query in ["since=2", "since=\(epoch):2", "since=2&epoch=\(epoch)", "since=\(epoch):2&epoch=\(epoch)"] {
                let live = try format.subscribe(port: server.port, query: query)
                let room = try live.frame().room
                #expect(room == ReceivedRoom(room: "lobby", head: 5, rev: 5, epoch: epoch))
                for rev in 3...5 as ClosedRange<Int64> { #expect(try live.message().rev == rev) }
                #expect(try live.frame().liveRev == 5)
            }
            let live = try format.subscribe(port: server.port, query: "since=5")
            #expect(try live.greeting().rev == 5)
            try HTTPClient(port: server.port).send("6")
            #expect(try live.message().rev == 6)
        }
    }

    @Test(arguments: LiveFormat.allCases)
    func `0 gets the whole history, whatever its size`(format: LiveFormat) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            // Several slices of the log.
            let text = String(repeating: "x", count: 10_000)
            for _ in 1...40 { try client.send(text) }
            let live = try format.subscribe(port: server.port, query: "since=0")
            #expect(try live.frame().room?.rev == 40)
            for rev in 1...40 as ClosedRange<Int64> { #expect(try live.message().rev == rev) }
            #expect(try live.frame().liveRev == 40)
            try client.send("41")
            #expect(try live.message().rev == 41)
        }
    }

    @Test(
        arguments: ["since=4", "since=other:1", "since=1&epoch=other", "epoch=other", "since=99999999999999999999"],
        LiveFormat.allCases)
    func `of another history, or after the latest, gets 410`(query: String, format: LiveFormat) throws {
        try withMessages(3) { server, _ in
            let client = try HTTPClient(port: server.port)
            let response = try client.get("/v1/rooms/lobby/live?\(query)", fields: format.fields)
            #expect(response.status == .gone)
            #expect(try response.problem.code == "cursor_unknown")
            #expect(response.keepAlive)
            #expect(try client.get("/v1/rooms/unused/live?since=1", fields: format.fields).status == .gone)
        }
    }

    @Test(
        arguments: [
            ("since=x", "since"), ("since=", "since"), ("since=-1", "since"), ("since=1&epoch=%20", "epoch"),
            ("since=1&since=1", "since"),
        ], LiveFormat.allCases)
    func `that is invalid is refused`(query: (String, String), format: LiveFormat) throws {
        try withMessages(0) { server, _ in
            let client = try HTTPClient(port: server.port)
            let response = try client.get("/v1/rooms/lobby/live?\(query.0)", fields: format.fields)
            #expect(response.status == .badRequest)
            #expect(try response.problem.field == query.1)
        }
    }
}

extension LiveFormat {
    /// The headers of a request with this position.
    var fields: [HTTPField] {
        switch self {
        case .webSocket: HandshakeTests.fields
        case .deflatedWebSocket:
            HandshakeTests.fields + [HTTPField(name: .secWebSocketExtensions, value: "permessage-deflate")]
        case .serverSentEvents: [HTTPField(name: .accept, value: "text/event-stream")]
        }
    }
}
