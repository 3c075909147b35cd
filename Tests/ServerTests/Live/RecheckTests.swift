import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import Transport
import WebSocket

@Suite("A subscriber who may no longer read the room")
struct RecheckTests {
    /// The kind of connection of the subscription.
    enum Carrier: CaseIterable, Sendable {
        case room, rooms, events
    }

    private func subscribe(
        _ carrier: Carrier, to room: String, as user: String, since: Int? = nil, _ server: LiveServer
    ) throws -> any LiveClient {
        let target = "/v1/rooms/\(room)/live?user=\(user)" + (since.map { "&since=\($0)" } ?? "")
        switch carrier {
        case .room: return try WebSocketClient(port: server.port, target, receiveBuffer: 4096)
        case .events: return try EventStreamClient(port: server.port, target, receiveBuffer: 4096)
        case .rooms:
            let socket = try WebSocketClient.forRooms(port: server.port, as: user, receiveBuffer: 4096)
            try socket.ask(for: room, since: since.map(String.init))
            return socket
        }
    }

    /// Expects the end of the subscription next, and returns its reason.
    private func end(_ client: any LiveClient, _ carrier: Carrier) throws -> String? {
        guard carrier == .room, let socket = client as? WebSocketClient else { return try client.frame().errorCode }
        let event = try socket.event()
        guard case .close(let code, _) = event else { throw Unexpected("\(event)") }
        return code == .notMember ? "not_a_member" : "\(code?.rawValue ?? 0)"
    }

    private func put(_ path: String, _ body: String = "{}", by client: HTTPClient) throws {
        let response = try client.request(.put, "/v1/rooms/\(path)?user=alice", body: Array(body.utf8))
        guard response.status == .created || response.status == .ok else { throw Unexpected(response) }
    }

    private func remove(_ user: String, from room: String, _ client: HTTPClient) throws {
        let response = try client.request(.delete, "/v1/rooms/\(room)/members/\(user)?user=alice")
        guard response.status == .noContent else { throw Unexpected(response) }
    }

    /// Waits until the server has read and handled everything sent before.
    private func settle(_ client: HTTPClient) throws {
        for _ in 0..<3 { _ = try client.get("/healthz") }
    }

    @Test(arguments: Carrier.allCases, [#"{"visibility":"private"}"#, "{}"])
    func `gets nothing sent after the removal was acknowledged, on any loop, even before the check is done`(
        carrier: Carrier, settings: String
    ) throws {
        try withHeldReads {
            $0.threads = 2
        } _: { server, client, reads in
            try put("plans", settings, by: client)
            try put("plans/members/bob", by: client)
            let clients = try (0..<6).map { _ in try subscribe(carrier, to: "plans", as: "bob", server) }
            for client in clients { try client.greeting() }
            try client.send("heard", to: "plans")
            for client in clients { #expect(try client.message().text == "heard") }
            try reads.hold(server)
            try remove("bob", from: "plans", client)
            for _ in 0..<3 { try client.send("unheard", to: "plans") }
            reads.open()
            for client in clients { #expect(try end(client, carrier) == "not_a_member") }
        }
    }

    @Test(arguments: Carrier.allCases)
    func `does not affect permitted ones: messages sent during the check arrive in order after it`(carrier: Carrier)
        throws
    {
        try withHeldReads { server, client, reads in
            try put("plans", by: client)
            try put("plans/members/bob", by: client)
            let member = try subscribe(carrier, to: "plans", as: "bob", server)
            let stranger = try subscribe(carrier, to: "plans", as: "carol", server)
            for client in [member, stranger] { try client.greeting() }
            try reads.hold(server)
            let owner = try HTTPClient(port: server.port)
            try owner.write(
                HTTPClient.bytes(
                    .put, "/v1/rooms/plans?user=alice", body: Array(#"{"visibility":"private"}"#.utf8)))
            try settle(client)
            // Submissions of one loop are committed in order, so when this one is done, the earlier one is.
            try remove("nobody", from: "plans", client)
            for text in ["1", "2"] { try client.send(text, to: "plans") }
            reads.open()
            for text in ["1", "2"] { #expect(try member.message().text == text) }
            #expect(try end(stranger, carrier) == "not_a_member")
            #expect(try owner.response().status == .ok)
            try client.send("3", to: "plans")
            #expect(try member.message().text == "3")
        }
    }

    @Test(arguments: Carrier.allCases)
    func `is told so in the middle of a replay, too`(carrier: Carrier) throws {
        try withHeldReads {
            $0.transport.sendBuffer = 16 * 1024
        } _: { server, client, reads in
            try put("plans", #"{"visibility":"private"}"#, by: client)
            try put("plans/members/bob", by: client)
            // Six bytes each as JSON, so that one message exceeds a slice of the log and the kernel's buffer.
            let text = "x" + String(repeating: #"\u0001"#, count: 16 * 1024 - 1)
            for _ in 0..<3 { try client.send(text, to: "plans") }
            let subscriber = try subscribe(carrier, to: "plans", as: "bob", since: 0, server)
            #expect(try subscriber.frame().room?.rev == 3)
            try reads.hold(server)
            #expect(try subscriber.message().rev == 1)
            try reads.wait(for: 1, client)
            try remove("bob", from: "plans", client)
            reads.open()
            #expect(try end(subscriber, carrier) == "not_a_member")
        }
    }

    @Test(arguments: Carrier.allCases)
    func `gets the true error if the check fails while it is about to start`(carrier: Carrier) throws {
        try withHeldReads {
            $0.readQueue = 1
        } _: { server, client, reads in
            try client.send("0")
            try put("lobby/members/bob", by: client)
            let many = try WebSocketClient.forRooms(port: server.port, as: "bob")
            let one = try HTTPClient(port: server.port)
            try reads.hold(server)
            if carrier == .rooms {
                try many.ask(for: "lobby")
            } else {
                let fields = carrier == .room ? HandshakeTests.fields : [HTTPField("Accept", "text/event-stream")]
                try one.write(HTTPClient.bytes(.get, "/v1/rooms/lobby/live?user=bob", fields: fields))
            }
            try reads.wait(for: 1, client)
            try remove("bob", from: "lobby", client)
            try settle(client)
            reads.open()
            if carrier == .rooms {
                guard case .error("overloaded", room: "lobby") = try many.frame().content else {
                    throw Unexpected("another frame")
                }
            } else {
                let response = try one.response()
                #expect(response.status == .serviceUnavailable)
                #expect(try response.problem.code == "overloaded")
            }
        }
    }

    @Test(arguments: [true, false])
    func `and is added again learns that the room it named has ended before it gets the room as its own`(
        wasMember: Bool
    ) throws {
        try withHeldReads {
            $0.readQueue = 2
        } _: { server, client, reads in
            for text in ["1", "2"] { try client.send(text) }
            if wasMember { try put("lobby/members/bob", by: client) }
            let socket = try WebSocketClient.forRooms(port: server.port, as: "bob")
            let owner = try HTTPClient(port: server.port)
            try reads.hold(server)
            try socket.ask(for: "lobby", since: "0")
            try socket.send(#"{"type":"subscribe","rooms":"mine"}"#)
            try reads.wait(for: 2, client)
            // The check finds the queue full, so the subscription ends.
            if wasMember {
                try remove("bob", from: "lobby", client)
            } else {
                try owner.write(
                    HTTPClient.bytes(
                        .put, "/v1/rooms/lobby?user=alice", body: Array(#"{"visibility":"private"}"#.utf8)))
                try settle(client)
                try remove("nobody", from: "lobby", client)
            }
            try settle(client)
            let again = try HTTPClient(port: server.port)
            try again.write(
                HTTPClient.bytes(.put, "/v1/rooms/lobby/members/bob?user=alice", body: Array("{}".utf8)))
            try settle(client)
            try remove("nobody", from: "lobby", client)
            reads.open()
            guard case .error("overloaded", room: "lobby") = try socket.frame().content else {
                throw Unexpected("another frame")
            }
            #expect(try socket.greeting().head == 2)
            try client.send("3")
            #expect(try socket.message().text == "3")
        }
    }
}
