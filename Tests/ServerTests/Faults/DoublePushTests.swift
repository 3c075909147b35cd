import HTTP
import HTTPTypes
import Server
import Testing

@Suite("A message that is pushed twice")
struct DoublePushTests {
    private func request(
        _ method: HTTPRequest.Method, _ path: String = "", _ body: String = "", by client: HTTPClient
    ) throws -> Response {
        try client.request(
            method, "/v1/rooms/lobby/messages\(path)?user=alice",
            fields: [HTTPField("Backscroll-Fault", "double-push")],
            body: Array(body.utf8))
    }

    @Test(arguments: [1, 2])
    func `arrives twice at all subscribers, and is stored once`(threads: Int) throws {
        try withServer {
            $0.faults = true
            $0.threads = threads
        } _: { server in
            let client = try HTTPClient(port: server.port)
            // Enough subscribers for every loop to have some.
            var subscribers: [any LiveClient] = []
            for _ in 0..<4 {
                subscribers += try LiveFormat.allCases.map { try $0.subscribe(port: server.port) }
            }
            for subscriber in subscribers { try subscriber.greeting() }
            let text = String(repeating: "lorem ", count: 40)
            for round in 0..<50 as Range<Int64> {
                let response = try request(.post, "", HTTPClient.draft(text), by: client)
                #expect(response.status == .created)
                try client.send("next")
                for subscriber in subscribers {
                    let revs = try (0..<3).map { _ in try subscriber.message().rev }
                    #expect(revs == [2 * round + 1, 2 * round + 1, 2 * round + 2])
                }
            }
            #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).rev == 100)
        }
    }

    @Test func `can be a change; a change that pushes nothing is not repeated`() throws {
        try withServer {
            $0.faults = true
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let live = try WebSocketClient(port: server.port)
            try live.greeting()
            let draft = HTTPClient.draft("x", id: "a")
            #expect(try request(.post, "", draft, by: client).status == .created)
            #expect(try request(.post, "", draft, by: client).status == .ok)
            #expect(try request(.post, "", HTTPClient.draft("y", id: "a"), by: client).status.code == 422)
            #expect(try request(.patch, "/1", #"{"text":"z"}"#, by: client).status == .ok)
            #expect(try request(.put, "/1/reactions/like", by: client).status == .ok)
            #expect(try request(.put, "/1/reactions/like", by: client).status == .ok)
            #expect(try request(.delete, "/1", by: client).status == .ok)
            try client.send("last")
            #expect(try (0..<9).map { _ in try live.message().rev } == [1, 1, 2, 2, 3, 3, 4, 4, 5])
        }
    }

    @Test func `is repeated only to subscribers that have received it`() throws {
        try withServer {
            $0.faults = true
        } _: { server in
            let client = try HTTPClient(port: server.port)
            #expect(try request(.post, "", HTTPClient.draft("x"), by: client).status == .created)
            let live = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?since=0")
            #expect(try live.frames(3).map { $0.message?.rev } == [nil, 1, nil])
            try client.send("y")
            #expect(try live.message().rev == 2)
        }
    }
}
