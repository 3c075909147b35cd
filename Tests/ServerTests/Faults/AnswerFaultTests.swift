import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing

@Suite("Faulty requests and answers")
struct AnswerFaultTests {
    /// A delay that no test waits for, in milliseconds.
    private static let never = 60_000

    private func messages(_ fault: String) -> String {
        "/v1/rooms/lobby/messages?user=alice&fault=\(fault)"
    }

    private func send(_ text: String, id: String? = nil, _ fault: String, by client: HTTPClient) throws -> Response {
        try client.request(.post, messages(fault), body: Array(HTTPClient.draft(text, id: id).utf8))
    }

    private func head(_ server: LiveServer) throws -> Int64 {
        try HTTPClient(port: server.port).read("/v1/rooms/lobby", as: ReceivedRoom.self).head
    }

    @Test(arguments: [429, 500, 503])
    func `are refused before anything is done, also for sockets`(status: Int) throws {
        try withServer {
            $0.faults = true
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let refused = try send("x", "status=\(status)", by: client)
            #expect(refused.status.code == status)
            #expect(refused["Retry-After"] == (status == 500 ? nil : "1"))
            #expect(try refused.problem.status == status)
            #expect(try head(server) == 0)
            // The connection stays open, and a retry succeeds.
            try client.send("x")
            for format in LiveFormat.allCases {
                let error = #expect(throws: Unexpected.self) {
                    try format.subscribe(port: server.port, query: "fault=status=\(status)")
                }
                #expect(error?.description.contains("\(status)") == true)
            }
        }
    }

    @Test func `are delayed before anything is done`() throws {
        try withServer {
            $0.faults = true
        } _: { server in
            let client = try HTTPClient(port: server.port)
            #expect(try send("1", "delay=1", by: client).status == .created)
            #expect(try client.get("/v1/rooms/lobby?fault=delay=1,status").status == .serviceUnavailable)
            try client.write(
                HTTPClient.bytes(.post, messages("delay=\(Self.never)"), body: Array(HTTPClient.draft("2").utf8)))
            let live = try LiveFormat.webSocket.subscribe(port: server.port, query: "fault=delay=1&since=0")
            #expect(try live.frame().room?.head == 1)
            #expect(!client.socket.waitForBytes(milliseconds: 0))
        }
    }

    @Test(arguments: [1, 2])
    func `are answered late, after the change was made and pushed`(threads: Int) throws {
        try withServer {
            $0.faults = true
            $0.threads = threads
        } _: { server in
            let live = try WebSocketClient(port: server.port)
            try live.greeting()
            let client = try HTTPClient(port: server.port)
            try client.write(
                HTTPClient.bytes(.post, messages("late-answer=\(Self.never)"), body: Array(HTTPClient.draft("1").utf8))
            )
            #expect(try live.message().text == "1")
            #expect(!client.socket.waitForBytes(milliseconds: 0))

            let other = try HTTPClient(port: server.port)
            let stored = try send("2", "late-answer=1", by: other)
            #expect(stored.status == .created && stored["Location"] == "/v1/rooms/lobby/messages/2")
            #expect(try decode(stored.body, as: ReceivedMessage.self) == live.message())
            // Requests after it on the connection are answered after it.
            try other.write(
                HTTPClient.bytes(.get, "/v1/rooms/lobby/messages/7?fault=late-answer=1") + HTTPClient.bytes(.get, "/"))
            #expect(try other.response().status == .notFound)
            #expect(try other.response().status == .ok)
        }
    }

    @Test func `are carried out without an answer; a repeated send is answered`() throws {
        try withServer {
            $0.faults = true
        } _: { server in
            let live = try WebSocketClient(port: server.port)
            try live.greeting()
            let first = try HTTPClient(port: server.port)
            try first.write(
                HTTPClient.bytes(.post, messages("lost-answer"), body: Array(HTTPClient.draft("x", id: "a").utf8)))
            #expect(try first.endsSilently())
            let pushed = try live.message()
            let again = try send("x", id: "a", "lost-answer", by: HTTPClient(port: server.port))
            #expect(again.status == .ok)
            #expect(try decode(again.body, as: ReceivedMessage.self) == pushed)
            // The change is made, and so is its repetition.
            for _ in 1...2 {
                let client = try HTTPClient(port: server.port)
                try client.write(HTTPClient.bytes(.delete, "/v1/rooms/lobby/messages/1?user=alice&fault=lost-answer"))
                #expect(try client.endsSilently())
            }
            #expect(try live.message().deleted == true)
            let reader = try HTTPClient(port: server.port)
            try reader.write(HTTPClient.bytes(.get, "/v1/rooms/lobby/messages?fault=lost-answer"))
            #expect(try reader.endsSilently())
        }
    }

    @Test func `can be limited to the first requests`() throws {
        try withServer {
            $0.faults = true
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let statuses = try (1...4).map { _ in try send("x", id: "a", "status=503:2", by: client).status.code }
            #expect(statuses == [503, 503, 201, 200])
            let every = try (1...4).map { _ in try client.get("/v1/rooms/lobby?fault=status=429/2").status.code }
            #expect(every == [200, 429, 200, 429])
            // The number of lost answers is exact, including those of repeated sends.
            for _ in 1...2 {
                let other = try HTTPClient(port: server.port)
                try other.write(
                    HTTPClient.bytes(.post, messages("lost-answer:2"), body: Array(HTTPClient.draft("y", id: "b").utf8))
                )
                #expect(try other.endsSilently())
            }
            #expect(try send("y", id: "b", "lost-answer:2", by: client).status == .ok)
            let lost = try HTTPClient(port: server.port)
            #expect(try lost.get("/v1/rooms/lobby/messages?fault=lost-answer/2").status == .ok)
            try lost.write(HTTPClient.bytes(.get, "/v1/rooms/lobby/messages?fault=lost-answer/2"))
            #expect(try lost.endsSilently())
        }
    }

    @Test func `are served as usual if the fault does not concern them`() throws {
        try withServer {
            $0.faults = true
        } _: { server in
            let client = try HTTPClient(port: server.port)
            #expect(try send("x", "drop-frame,cut-live,new-epoch", by: client).status == .created)
            #expect(try client.get(messages("double-push,torn-frame")).status == .ok)
            let live = try LiveFormat.webSocket.subscribe(
                port: server.port, query: "fault=late-answer=60000,lost-answer,double-push")
            try live.greeting()
        }
    }

    @Test func `that name an unknown fault are refused, and nothing is done`() throws {
        try withServer {
            $0.faults = true
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let problem = try send("x", "late-anser", by: client).problem
            #expect(problem.status == 400 && problem.code == "invalid_fault" && problem.field == "fault")
            #expect(problem.detail.contains("late-answer=MS"))
            let response = try client.request(
                .post, "/v1/rooms/lobby/messages?user=alice", fields: [HTTPField("Backscroll-Fault", "delay=60001")],
                body: Array(HTTPClient.draft("x").utf8))
            #expect(try response.problem.field == "Backscroll-Fault" && response.problem.limit == 60_000)
            #expect(try head(server) == 0)
        }
    }
}
