import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import WebSocket

// Rooms with messages of the same millisecond are sorted by id; later rooms have lower ids here.
@Suite("A socket for the rooms of its user")
struct OwnRoomsSocketTests {
    private static let subscribe = #"{"type":"subscribe","rooms":"mine"}"#
    private static let unsubscribe = #"{"type":"unsubscribe","rooms":"mine"}"#

    /// Opens sockets that subscribe to their user's rooms, enough for each of two loops to have some.
    private func sockets(_ server: LiveServer, of user: String, count: Int = 8) throws -> [WebSocketClient] {
        try (0..<count).map { _ in
            let socket = try WebSocketClient.forRooms(port: server.port, as: user)
            try socket.send(Self.subscribe)
            // From then on, membership changes are reported to it.
            #expect(try socket.isQuiet())
            return socket
        }
    }

    private func withRooms(
        threads: Int = 1, _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: (LiveServer, HTTPClient) throws -> Void
    ) throws {
        try withServer {
            $0.threads = threads
            configure(&$0)
        } _: { server in
            try body(server, HTTPClient(port: server.port))
        }
    }

    private func put(_ path: String, _ body: String = "", as user: String, _ client: HTTPClient) throws {
        let response = try client.request(.put, "/v1/rooms/\(path)?user=\(user)", body: Array(body.utf8))
        guard response.status == .created || response.status == .ok else { throw Unexpected(response) }
    }

    private func remove(_ user: String, from room: String, as actor: String, _ client: HTTPClient) throws {
        let response = try client.request(.delete, "/v1/rooms/\(room)/members/\(user)?user=\(actor)")
        guard response.status == .noContent else { throw Unexpected(response) }
    }

    @Test func `subscribes to the existing ones, latest activity first`() throws {
        try withRooms { server, client in
            for room in ["c", "b", "a", "a", "other"] {
                try client.send("x", to: room, as: room == "other" ? "bob" : "alice")
            }
            let socket = try WebSocketClient.forRooms(port: server.port, as: "alice")
            // A room that the client has named itself stays as it is.
            try socket.ask(for: "b", since: "0")
            #expect(try socket.frame().room?.room == "b")
            #expect(try socket.message().room == "b")
            #expect(try socket.frame().liveRev == 1)
            try socket.send(Self.subscribe)
            #expect(try socket.greeting().head == 2)
            #expect(try socket.greeting().room == "c")
            try socket.send(Self.subscribe)
            #expect(try socket.frame().errorCode == "already_subscribed")
            for room in ["a", "b", "c"] {
                try client.send("y", to: room, as: "bob")
                #expect(try socket.message().room == room)
            }
            #expect(try client.get("/metrics").text.contains("\nbackscroll_subscribers 3\n"))

            try socket.send(Self.unsubscribe)
            #expect(try socket.isQuiet())
            for room in ["new", "c", "a", "b"] { try client.send("z", to: room) }
            #expect(try socket.message().room == "b")
            try socket.send(Self.unsubscribe)
            #expect(try socket.frame().errorCode == "not_subscribed")
            try socket.send(Self.subscribe)
            for room in ["a", "c", "new"] { #expect(try socket.greeting().room == room) }
            socket.http.close()
            try WebSocketClient.forRooms(port: server.port).join("last")
        }
    }

    @Test(arguments: [1, 2])
    func `gets rooms that the user creates by sending, starting with that message`(threads: Int) throws {
        try withRooms(threads: threads) { server, client in
            let sockets = try sockets(server, of: "alice")
            let other = try self.sockets(server, of: "bob", count: 1)[0]
            for (index, room) in ["a", "b", "c"].enumerated() {
                // A new connection each time, which may be on another loop.
                let sender = try HTTPClient(port: server.port)
                try sender.send("first", to: room)
                try sender.send("second", to: room)
                for socket in sockets {
                    #expect(try socket.frame().room?.room == room)
                    var messages: [ReceivedMessage] = []
                    var hasCaughtUp = false
                    while messages.count < 2 || !hasCaughtUp {
                        let frame = try socket.frame()
                        if let message = frame.message { messages.append(message) } else { hasCaughtUp = true }
                    }
                    #expect(messages.map(\.rev) == [1, 2] && messages[index % 2].room == room)
                }
            }
            #expect(try other.isQuiet())
        }
    }

    @Test(arguments: [1, 2])
    func `gets rooms that others add the user to without a gap, and loses them on removal`(threads: Int) throws {
        try withRooms(threads: threads) { server, client in
            try client.send("before", to: "open")
            try put("plans", #"{"visibility":"private"}"#, as: "alice", client)
            let sockets = try sockets(server, of: "bob")
            for _ in 1...3 {
                for room in ["open", "plans"] {
                    try put("\(room)/members/bob", as: "alice", client)
                    let sent = try client.send("hello", to: room)
                    for socket in sockets {
                        #expect(try socket.frame().room?.room == room)
                        let frames = try socket.frames(2)
                        #expect(frames.compactMap(\.message) == [sent] && frames.contains { $0.liveRev != nil })
                    }
                    try remove("bob", from: room, as: room == "open" ? "bob" : "alice", client)
                    for socket in sockets {
                        guard case .error("not_a_member", room: room) = try socket.frame().content else {
                            throw Unexpected("another frame")
                        }
                    }
                    try client.send("unheard", to: room)
                }
            }
            for socket in sockets { #expect(try socket.isQuiet()) }
        }
    }

    @Test func `leaves a room when the user leaves it, also one that the client named, and may rejoin an open one`()
        throws
    {
        try withRooms { server, client in
            try client.send("1", to: "open")
            let socket = try WebSocketClient.forRooms(port: server.port, as: "bob")
            try socket.join("open")
            try socket.send(Self.subscribe)
            try put("open/members/bob", as: "bob", client)
            try remove("bob", from: "open", as: "bob", client)
            #expect(try socket.frame().errorCode == "not_a_member")
            try client.send("2", to: "open")
            try socket.join("open")
            try client.send("3", to: "open")
            #expect(try socket.message().text == "3")
        }
    }

    @Test func `leaves a room when the client unsubscribes, until it subscribes again`() throws {
        try withRooms { server, client in
            for room in ["b", "a"] { try client.send("x", to: room) }
            let socket = try WebSocketClient.forRooms(port: server.port, as: "alice")
            try socket.send(Self.subscribe)
            for room in ["a", "b"] { #expect(try socket.greeting().room == room) }
            try socket.send(#"{"type":"unsubscribe","room":"a"}"#)
            #expect(try socket.isQuiet())
            try put("a/members/bob", as: "alice", client)
            for room in ["a", "b"] { try client.send("y", to: room) }
            #expect(try socket.message().room == "b")
            try socket.ask(for: "a", since: "1")
            #expect(try socket.frame().room?.room == "a")
            #expect(try socket.message().seq == 2)
            #expect(try socket.frame().liveRev == 2)
            // From then on the client has named the room itself.
            try socket.send(Self.unsubscribe)
            #expect(try socket.isQuiet())
            for room in ["b", "a"] { try client.send("z", to: room) }
            #expect(try socket.message().room == "a")
        }
    }

    @Test func `subscribes to the latest rooms up to the maximum, and reports once that there are more`() throws {
        try withRooms {
            $0.webSocket.subscriptions = 3
        } _: { server, client in
            for room in ["d", "c", "b", "a"] { try client.send("x", to: room) }
            let socket = try WebSocketClient.forRooms(port: server.port, as: "alice")
            try socket.join("d")
            try socket.send(Self.subscribe)
            var greeted: [String] = []
            var errors: [String] = []
            for frame in try socket.frames(5) {
                if let room = frame.room { greeted.append(room.room) }
                if let code = frame.errorCode { errors.append(code) }
            }
            #expect(greeted == ["a", "b"] && errors == ["too_many_subscriptions"])
            for room in ["e", "f"] {
                try client.send("x", to: room)
                guard case .error("too_many_subscriptions", room: room) = try socket.frame().content else {
                    throw Unexpected("another frame")
                }
            }
            // When one is removed, there is room for another.
            try socket.send(#"{"type":"unsubscribe","room":"a"}"#)
            #expect(try socket.isQuiet())
            try client.send("x", to: "g")
            #expect(try socket.frame().room?.room == "g")
            #expect(try socket.message().room == "g")
            #expect(try socket.frame().liveRev == 1)
            try client.send("x", to: "h")
            #expect(try socket.frame().errorCode == "too_many_subscriptions")
        }
    }

    @Test func `counts as one subscription, and checks the client's epoch`() throws {
        try withRooms {
            $0.limits.userSubscriptions = RateLimit("1/h:2")
        } _: { server, client in
            for room in ["c", "b", "a"] { try client.send("x", to: room) }
            let epoch = try client.read("/v1/rooms/a", as: ReceivedRoom.self).epoch
            let socket = try WebSocketClient.forRooms(port: server.port, as: "alice")
            try socket.send(#"{"type":"subscribe","rooms":"mine","epoch":"other"}"#)
            #expect(try socket.frame().errorCode == "cursor_unknown")
            try socket.send(#"{"type":"subscribe","rooms":"mine","epoch":"\#(epoch)"}"#)
            for room in ["a", "b", "c"] { #expect(try socket.greeting().room == room) }
            try client.send("x", to: "A")
            _ = try socket.frames(3)
            try socket.send(Self.unsubscribe)
            for _ in 1...2 { try socket.send(Self.subscribe) }
            for room in ["A", "a", "b", "c"] {
                var frame = try socket.frame()
                // The second request is refused at once, while the list for the first is read.
                if frame.errorCode == "already_subscribed" { frame = try socket.frame() }
                #expect(frame.room?.room == room)
                let next = try socket.frame()
                if next.errorCode != nil { #expect(try socket.frame().liveRev != nil) }
            }
            try socket.send(Self.unsubscribe)
            try socket.send(Self.subscribe)
            while try socket.frame().errorCode != "rate_limited" {}
        }
    }

    @Test func `subscribes to the rooms that the token allows, and adapts to a new token`() async throws {
        let alice = try TestToken.of("alice")
        let red = try TestToken.of("alice", #""rooms":["red","pink"]"#)
        let blue = try TestToken.of("alice", #""rooms":["blue","pink"]"#)
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            func make(_ rooms: String...) throws {
                for room in rooms {
                    let made = try client.request(
                        .put, "/v1/rooms/\(room)", fields: [.bearer(alice)], body: Array("{}".utf8))
                    #expect(made.status == .created)
                }
            }
            try make("red", "blue")
            let socket = try WebSocketClient(port: server.port, "/v1/live", fields: [.bearer(red)])
            try socket.send(Self.subscribe)
            #expect(try socket.greeting().room == "red")
            try make("black", "pink")
            #expect(try socket.greeting().room == "pink")
            try socket.send(#"{"type":"token","token":"\#(blue)"}"#)
            guard case .error("room_not_allowed", room: "red") = try socket.frame().content else {
                throw Unexpected("another frame")
            }
            #expect(try socket.greeting().room == "blue")
            try socket.send(#"{"type":"token","token":"\#(alice)"}"#)
            #expect(try Set([socket.greeting().room, socket.greeting().room]) == ["black", "red"])
            #expect(try socket.isQuiet())
        }
    }

    @Test func `stays out of a room after an unsubscription until it is named again, whatever tokens come`()
        async throws
    {
        let wide = try TestToken.of("alice")
        let narrow = try TestToken.of("alice", #""rooms":["a"]"#)
        try await withTokenServer { server in
            let client = try HTTPClient(port: server.port)
            for room in ["a", "b", "c"] {
                let target = "/v1/rooms/\(room)"
                #expect(
                    try client.request(.put, target, fields: [.bearer(wide)], body: Array("{}".utf8)).status == .created
                )
            }
            let socket = try WebSocketClient(port: server.port, "/v1/live", fields: [.bearer(wide)])
            func renew(_ token: String, losing rooms: Set<String> = [], gaining others: Set<String> = []) throws {
                try socket.send(#"{"type":"token","token":"\#(token)"}"#)
                var lost: Set<String> = []
                for _ in rooms {
                    guard case .error("room_not_allowed", let room?) = try socket.frame().content else {
                        throw Unexpected("another frame")
                    }
                    lost.insert(room)
                }
                #expect(lost == rooms)
                #expect(try Set(others.map { _ in try socket.greeting().room }) == others)
            }
            try socket.send(Self.subscribe)
            #expect(try Set((0..<3).map { _ in try socket.greeting().room }) == ["a", "b", "c"])
            try socket.send(#"{"type":"unsubscribe","room":"b"}"#)
            try renew(narrow, losing: ["c"])
            try renew(wide, gaining: ["c"])
            // Reads of one socket are in order, so this follows the list.
            try socket.join("b")
            try renew(narrow, losing: ["b", "c"])
            try renew(wide, gaining: ["b", "c"])
            #expect(try socket.isQuiet())
        }
    }

    @Test func `reports each list that could not be read, also with the next token`() async throws {
        let alice = try TestToken.of("alice")
        let red = try TestToken.of("alice", #""rooms":["red"]"#)
        let blue = try TestToken.of("alice", #""rooms":["blue"]"#)
        var reads: HeldReads!
        try await withTokenServer {
            reads = HeldReads(of: &$0)
            $0.readQueue = 1
        } _: { server in
            defer { reads.open() }
            let client = try HTTPClient(port: server.port)
            for room in ["red", "blue"] {
                let target = "/v1/rooms/\(room)"
                #expect(
                    try client.request(.put, target, fields: [.bearer(alice)], body: Array("{}".utf8)).status
                        == .created)
            }
            let socket = try WebSocketClient(port: server.port, "/v1/live", fields: [.bearer(red)])
            try socket.send(Self.subscribe)
            #expect(try socket.greeting().room == "red")
            try reads.hold(server, as: alice)
            let other = try HTTPClient(port: server.port)
            try other.write(HTTPClient.bytes(.get, "/v1/rooms/red", fields: [.bearer(alice)]))
            try reads.wait(for: 1, client)
            // In one turn of the loop, so that the second list waits for the first.
            try socket.http.write(
                [blue, alice].flatMap { token in
                    WebSocketClient.frame(.text, Array(#"{"type":"token","token":"\#(token)"}"#.utf8))
                })
            for code in ["room_not_allowed", "overloaded"] { #expect(try socket.frame().errorCode == code) }
            for _ in 0..<3 { _ = try client.get("/healthz") }
            try socket.send(.ping, [7])
            #expect(try socket.frame().errorCode == "overloaded")
            #expect(try socket.event() == .pong([7]))
            reads.open()
            #expect(try other.response().status == .ok)
            // The client may subscribe again.
            for frame in [Self.unsubscribe, Self.subscribe] { try socket.send(frame) }
            #expect(try Set([socket.greeting().room, socket.greeting().room]) == ["red", "blue"])
        }
    }

    @Test func `counts in presence and gets read notices`() throws {
        try withRooms(threads: 2) {
            $0.presence = true
            $0.presenceInterval = .milliseconds(50)
            $0.readNoticeInterval = .milliseconds(50)
        } _: { server, client in
            let socket = try sockets(server, of: "alice", count: 1)[0]
            try client.send("1", to: "den")
            while try socket.frame().online != 1 {}
            let bob = try WebSocketClient(port: server.port, "/v1/rooms/den/live?user=bob")
            while try socket.frame().online != 2 {}
            _ = try client.read(to: 1, in: "den", as: "bob")
            while true {
                if case .read(room: "den", user: "bob", seq: 1) = try socket.frame().content { break }
            }
            socket.http.close()
            while try bob.frame().online != 1 {}
        }
    }

    @Test(arguments: [1, 2])
    func `follows the user's memberships exactly, however quickly they change`(threads: Int) throws {
        try withRooms(threads: threads) { server, client in
            let rooms = (0..<4).map { "room\($0)" }
            for room in rooms { try client.send("1", to: room) }
            for room in rooms[2...] { try put(room, #"{"visibility":"private"}"#, as: "alice", client) }
            let port = server.port
            let joining: @Sendable (Int) throws -> Void = { index in
                let client = try HTTPClient(port: port)
                for round in 0..<40 {
                    let path = "/v1/rooms/room\(index)/members/bob?user=alice"
                    _ = try client.request(round % 2 == 0 ? .put : .delete, path)
                }
                // Two of them stay members.
                if index % 2 == 0 { _ = try client.request(.put, "/v1/rooms/room\(index)/members/bob?user=alice") }
            }
            var sockets: [WebSocketClient] = []
            try concurrently((0..<4).map { index in { try joining(index) } }) {
                // Some subscribe before, some meanwhile.
                for _ in 0..<8 {
                    let socket = try WebSocketClient.forRooms(port: port, as: "bob")
                    try socket.send(Self.subscribe)
                    sockets.append(socket)
                }
            }
            for room in rooms { try client.send("last", to: room) }
            try client.send("end", to: "bobs", as: "bob")
            for socket in sockets {
                var subscribed: Set<String> = []
                var heard: Set<String> = []
                while !(heard.isSuperset(of: ["room0", "room2", "bobs"])) {
                    let frame = try socket.frame()
                    switch frame.content {
                    case .subscribed(let room): #expect(subscribed.insert(room.room).inserted)
                    case .error("not_a_member", let room?): #expect(subscribed.remove(room) != nil)
                    case .message(let message):
                        #expect(subscribed.contains(message.room))
                        if message.text != "1" { heard.insert(message.room) }
                    case .live: break
                    default: throw Unexpected("a frame of type \(frame.type)")
                    }
                }
                #expect(subscribed == ["room0", "room2", "bobs"] && heard == ["room0", "room2", "bobs"])
            }
        }
    }
}
