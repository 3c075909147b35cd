import HTTP
import HTTPTypes
import Server
import Testing

@Suite("The list of who has read a room")
struct ReadsTests {
    private struct Received: Decodable {
        struct Read: Decodable, Equatable {
            var user: String
            var seq: Int64
            var at: String?
        }

        var reads: [Read]
        var hasMore: Bool
    }

    private func reads(_ client: HTTPClient, _ query: String = "") throws -> Received {
        try client.read("/v1/rooms/lobby/reads\(query)", as: Received.self)
    }

    @Test func `has users with their marks and times, in parts, also for callers without a name`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for index in 1...5 { try client.send("\(index)") }
            for (user, seq) in [("carol", 2), ("bob", 4)] as [(String, Int64)] {
                _ = try client.read(to: seq, as: user)
            }
            let all = try reads(client)
            #expect(all.reads.map(\.user) == ["bob", "carol"] && all.reads.map(\.seq) == [4, 2] && !all.hasMore)
            #expect(all.reads.allSatisfy { $0.at?.hasSuffix("Z") == true })
            #expect(try reads(client, "?from=3").reads.map(\.user) == ["bob"])
            let part = try reads(client, "?limit=1&user=alice")
            #expect(part.reads.map(\.user) == ["bob"] && part.hasMore)
            #expect(try reads(client, "?after=bob").reads.map(\.user) == ["carol"])
            let unused = try client.get("/v1/rooms/unused/reads")
            #expect(unused.text == #"{"reads":[],"has_more":false}"#)
        }
    }

    @Test func `refuses malformed parameters, and a private room's to others`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            for (query, code) in [
                ("from=x", "invalid_field"), ("from=-1", "invalid_field"), ("limit=0", "invalid_limit"),
                ("limit=1001", "invalid_limit"), ("after=", "invalid_user"),
            ] {
                let response = try client.get("/v1/rooms/lobby/reads?\(query)")
                #expect(response.status == .badRequest)
                #expect(try response.problem.code == code, "\(query)")
            }
            let settings = Array(#"{"visibility":"private"}"#.utf8)
            #expect(try client.request(.put, "/v1/rooms/lobby?user=alice", body: settings).status == .ok)
            #expect(try client.get("/v1/rooms/lobby/reads?user=bob").problem.code == "room_not_found")
            #expect(try client.get("/v1/rooms/lobby/reads?user=alice").status == .ok)
        }
    }

    @Test func `is refused if receipts are off, and read notices then go to the user's own devices only`() throws {
        try withServer {
            $0.threads = 2
            $0.readReceipts = false
            $0.readNoticeInterval = .milliseconds(50)
        } _: { server in
            let client = try HTTPClient(port: server.port)
            for index in 1...2 { try client.send("\(index)") }
            let refusal = try client.get("/v1/rooms/lobby/reads?user=bob")
            #expect(refusal.status == .forbidden)
            #expect(try refusal.problem.code == "receipts_off")
            let live = "/v1/rooms/lobby/live?user="
            let own = try (0..<4).map { _ in try WebSocketClient(port: server.port, live + "bob") }
            let others = try (0..<4).map { _ in try WebSocketClient(port: server.port, live + "carol") }
            let nobody = try WebSocketClient(port: server.port)
            for socket in own + others + [nobody] { try socket.greeting() }
            #expect(try client.read(to: 1, as: "bob").read == 1)
            for socket in own {
                guard case .read("lobby", user: "bob", seq: 1) = try socket.frame().content else {
                    throw Unexpected("another frame")
                }
            }
            // A notice to the others would come before this message.
            try client.send("3")
            for socket in others + [nobody] { #expect(try socket.message().text == "3") }
        }
    }
}
