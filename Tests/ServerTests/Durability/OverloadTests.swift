import HTTP
import HTTPTypes
import Server
import Testing

@Suite("When more is sent than can be stored")
struct OverloadTests {
    @Test func `sends beyond the queue are refused at once, and the rest is stored`() throws {
        try withServer {
            $0.sendQueue = 2
            // Longer than the test keeps the database locked, even on a busy machine.
            $0.busyTimeout = 120_000
        } _: { server in
            let database = try Database(of: server.configuration)
            let watching = try HTTPClient(port: server.port)
            try database.lock()
            let senders = try (0..<12).map { number in
                let sender = try HTTPClient(port: server.port)
                try sender.write(HTTPClient.bytes(sending: HTTPClient.draft("x", id: "\(number)")))
                // Two answers show that the server has read what was sent before.
                for _ in 0..<2 { _ = try watching.get("/healthz") }
                return sender
            }
            // The last one is refused while nothing can be stored yet.
            let last = try senders[11].response()
            #expect(last.status == .serviceUnavailable)
            #expect(last["Retry-After"] == "1")
            #expect(try last.problem.code == "overloaded")
            #expect(last.keepAlive)
            try database.unlock()
            let answers = try senders.dropLast().map { try $0.response().status }
            let stored = answers.count { $0 == .created }
            // Two fit into the queue, and a third one if the writer has taken the first before the others came.
            #expect(stored >= 2 && answers.allSatisfy { $0 == .created || $0 == .serviceUnavailable })
            #expect(try watching.read("/v1/rooms/lobby", as: ReceivedRoom.self).head == Int64(stored))
            // The refused client retries, as the answer says.
            #expect(try senders[11].send("x", id: "11").seq == Int64(stored) + 1)
        }
    }
}
