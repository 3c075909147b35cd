import HTTP
import HTTPTypes
import Server
import Testing
import Transport

@Suite("A slow socket for many rooms")
struct SlowRoomsTests {
    /// Small buffers everywhere, so that a client that does not read falls behind at once.
    private func withRooms(
        _ rooms: [String], messages: Int, _ body: (LiveServer, HTTPClient) throws -> Void
    ) throws {
        try withServer {
            $0.feedBytes = 8 * 1024
            $0.transport.sendBuffer = 16 * 1024
        } _: { server in
            let client = try HTTPClient(port: server.port)
            try body(server, client)
        }
    }

    private func send(_ count: Int, to rooms: [String], _ client: HTTPClient) throws {
        let draft = HTTPClient.draft(String(repeating: "x", count: 4000))
        for _ in 1...count {
            try client.write(rooms.flatMap { HTTPClient.bytes(sending: draft, to: $0) })
            for _ in rooms { #expect(try client.response().status == .created) }
        }
    }

    /// Reads all messages of all rooms, each room's in order.
    ///
    /// - Returns: The rooms in the order of the messages.
    private func read(_ count: Int, of rooms: [String], _ socket: WebSocketClient) throws -> [String] {
        var revs = Dictionary(uniqueKeysWithValues: rooms.map { ($0, 0 as Int64) })
        var order: [String] = []
        while order.count < count * rooms.count {
            guard let message = try socket.frame().message else { continue }
            guard let rev = revs[message.room], message.rev == rev + 1 else {
                throw Unexpected("message \(message.rev) of \(message.room)")
            }
            revs[message.room] = message.rev
            order.append(message.room)
        }
        return order
    }

    @Test(arguments: [false, true])
    func `loses nothing, and its rooms continue together`(replayed: Bool) throws {
        let rooms = (1...5).map { "room\($0)" }
        let count = 150
        try withRooms(rooms, messages: count) { server, client in
            let socket = try WebSocketClient.forRooms(port: server.port, receiveBuffer: 4096)
            if replayed { try send(count, to: rooms, client) }
            for room in rooms { try socket.ask(for: room, since: "0") }
            if !replayed {
                // All rooms are live before the first message, and then fall behind.
                for _ in rooms { try socket.greeting() }
                try send(count, to: rooms, client)
            }
            let order = try read(count, of: rooms, socket)
            // When the first room is complete, the others have had their turns as well.
            let end = try #require(rooms.compactMap { order.lastIndex(of: $0) }.min())
            for room in rooms { #expect(order[...end].count { $0 == room } > count / 2) }
            try client.send("live", to: rooms[0])
            while try socket.frame().message?.text != "live" {}
        }
    }

    @Test func `that is behind in one room gets another's messages at once`() throws {
        try withRooms(["long", "short"], messages: 0) { server, client in
            try send(500, to: ["long"], client)
            let socket = try WebSocketClient.forRooms(port: server.port, receiveBuffer: 4096)
            try socket.join("short")
            try socket.ask(for: "long", since: "0")
            #expect(try socket.frame().room?.room == "long")
            try client.send("overtakes", to: "short")
            var before = 0
            while let message = try socket.frame().message, message.room == "long" { before += 1 }
            #expect(before < 250)
        }
    }
}
