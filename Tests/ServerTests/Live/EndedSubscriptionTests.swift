import HTTP
import HTTPTypes
import Testing
import WebSocket
import Wire

@testable import Server

@Suite("The end of a user's subscriptions to a room")
struct EndedSubscriptionTests {
    /// Makes alice a member of carol's lobby, and removes her again.
    private func addAndRemove(_ client: HTTPClient) throws {
        let member = "/v1/rooms/lobby/members/alice?user=carol"
        #expect(try client.request(.put, member, body: Array("{}".utf8)).status == .created)
        #expect(try client.request(.delete, member).status == .noContent)
    }

    @Test func `reaches every loop and kind of connection, and affects no other users or rooms`() throws {
        try withServer {
            $0.threads = 4
        } _: { server in
            let client = try HTTPClient(port: server.port)
            try client.send("0", as: "carol")
            let live = "/v1/rooms/lobby/live?user="
            // Enough sockets for every loop to have some.
            let sockets = try (0..<12).map { _ in try WebSocketClient(port: server.port, live + "alice") }
            let many = try (0..<12).map { _ in try WebSocketClient.forRooms(port: server.port, as: "alice") }
            let stream = try EventStreamClient(port: server.port, live + "alice")
            let others = try ["bob", "%C3%84lice"].map { try WebSocketClient(port: server.port, live + $0) }
            let nobody = try WebSocketClient(port: server.port)
            for socket in sockets + others + [nobody] { try socket.greeting() }
            try stream.greeting()
            for socket in many { try socket.join("lobby", "other") }

            try addAndRemove(client)
            for socket in many {
                guard case .error("not_a_member", room: "lobby") = try socket.frame().content else {
                    throw Unexpected("another frame")
                }
            }
            for socket in sockets { #expect(try socket.closeCode() == .notMember) }
            let event = try stream.event()
            #expect(event.type == "error" && event.id == nil && event.data.contains(#""code":"not_a_member""#))
            #expect(try stream.block() == nil)

            try client.send("1")
            try client.send("2", to: "other")
            for socket in others + [nobody] { #expect(try socket.message().text == "1") }
            for socket in many { #expect(try socket.message().text == "2") }
            // The room is open, so she can subscribe again.
            try many[0].join("lobby")
        }
    }

    @Test func `also reaches subscriptions that are about to start, before or after the answer`() throws {
        try withServer {
            $0.threads = 2
        } _: { server in
            let owner = try HTTPClient(port: server.port)
            try owner.send("0", as: "carol")
            for round in 0..<200 {
                let client = try HTTPClient(port: server.port)
                try client.write(
                    HTTPClient.bytes(.get, "/v1/rooms/lobby/live?user=alice", fields: HandshakeTests.fields))
                if round % 2 == 0 { _ = try HTTPClient(port: server.port).get("/healthz") }
                for _ in 0..<2 { try addAndRemove(owner) }
                let response = try client.response()
                if response.status == .forbidden {
                    #expect(try response.problem.code == "not_a_member")
                } else {
                    #expect(response.status == .switchingProtocols)
                }
            }
        }
    }
}
