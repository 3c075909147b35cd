import Server
import TestSupport
import Testing
import WebSocket

@Suite("A node that has missed changes of access", .partOfPostgreSQL)
struct MissedEventsTests {
    private func expectEnd(_ socket: WebSocketClient, afterError: Bool = true) throws {
        if afterError { #expect(try socket.frame().errorCode == "unavailable") }
        guard case .close(.tryAgainLater, _) = try socket.event() else { throw Unexpected("another end") }
    }

    @Test func `ends all sockets and event streams, whose clients reconnect to the rooms that they may read`() throws {
        let postgres = try TestPostgres.shared()
        let database = try postgres.createDatabase()
        try withServer {
            $0.database = postgres.url(of: database)
            $0.threads = 2
        } _: { server in
            try HTTPClient(port: server.port).send("1")
            let mine = try (0..<4).map { _ in
                let socket = try WebSocketClient.forRooms(port: server.port, as: "bob")
                try socket.send(#"{"type":"subscribe","rooms":"mine"}"#)
                #expect(try socket.isQuiet())
                return socket
            }
            let named = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?user=carol")
            let unnamed = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live")
            let events = try EventStreamClient(port: server.port, "/v1/rooms/lobby/live?user=carol")
            let rooms = try WebSocketClient.forRooms(port: server.port)
            try rooms.join("lobby")
            for client in [named, unnamed, events] as [any LiveClient] { try client.greeting() }
            // Another node has made Bob a member, and its event was deleted before this node has read it.
            try postgres.query(
                #"INSERT INTO members (room, "user", owner) SELECT id, 'bob', 0 FROM rooms"#, in: database)
            try postgres.query("UPDATE server SET events = events + 1", in: database)
            for socket in mine { try expectEnd(socket) }
            try expectEnd(named)
            try expectEnd(unnamed, afterError: false)
            #expect(try events.frame().errorCode == "unavailable")
            #expect(try rooms.frame().errorCode == "unavailable")
            let again = try WebSocketClient.forRooms(port: server.port, as: "bob")
            try again.send(#"{"type":"subscribe","rooms":"mine"}"#)
            #expect(try again.greeting().room == "lobby")
        }
    }
}
