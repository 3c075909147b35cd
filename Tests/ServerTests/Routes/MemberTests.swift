import HTTP
import HTTPTypes
import Server
import Testing
import WebSocket

@Suite("A room's members")
struct MemberTests {
    private static let room = "/v1/rooms/lobby"

    private func put(_ target: String, _ body: String = "", as user: String, _ client: HTTPClient) throws -> Response {
        try client.request(.put, "\(Self.room)\(target)?user=\(user)", body: Array(body.utf8))
    }

    @Test func `are bound by the manners that owners have set`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            func send(as user: String) throws -> Response {
                try client.request(.post, "\(Self.room)/messages?user=\(user)", body: Array(#"{"text":"x"}"#.utf8))
            }
            let manners = #""posting":"owners","avatar":"https://x/a.png","data":{"a":1}"#
            let made = try put("", "{\(manners)}", as: "alice", client)
            #expect(made.text.hasSuffix(#","visibility":"open",\#(manners),"role":"owner"}"#))
            #expect(try client.get("/v1/rooms?user=alice").text.contains(manners))
            #expect(try send(as: "alice").status == .created)
            let restricted = try send(as: "bob")
            #expect(try restricted.status == .forbidden && restricted.problem.code == "posting_restricted")

            #expect(try put("", #"{"posting":"members","slow_seconds":3600}"#, as: "alice", client).status == .ok)
            #expect(try send(as: "bob").status == .created)
            let slow = try send(as: "bob")
            #expect(try slow.status == .tooManyRequests && slow.problem.code == "slow_mode")
            let wait = try #require(slow["Retry-After"].flatMap { Int($0) })
            #expect((3500...3600).contains(wait))
            #expect(try send(as: "alice").status == .created)
        }
    }

    @Test func `are added, read, listed and removed over HTTP`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let made = try put("", #"{"visibility":"private","title":"Us"}"#, as: "alice", client)
            #expect(made.status == .created)
            #expect(
                made.text.hasSuffix(
                    #","read":0,"unread":0,"unread_mentions":0,"visibility":"private","title":"Us","role":"owner"}"#))
            #expect(try put("", "{}", as: "alice", client).status == .ok)

            let added = try put("/members/bob", #"{"role":"owner"}"#, as: "alice", client)
            #expect(added.status == .created && added.text == #"{"user":"bob","role":"owner"}"#)
            #expect(try put("/members/bob", #"{"role":"member"}"#, as: "alice", client).status == .ok)
            #expect(try client.get("\(Self.room)/members/bob?user=bob").text == #"{"user":"bob","role":"member"}"#)
            let list = try client.get("\(Self.room)/members?user=bob&limit=1").text
            #expect(list == #"{"members":[{"user":"alice","role":"owner"}],"has_more":true}"#)
            let rest = try client.get("\(Self.room)/members?user=bob&after=alice").text
            #expect(rest == #"{"members":[{"user":"bob","role":"member"}],"has_more":false}"#)

            #expect(try client.get("\(Self.room)/members/carol?user=bob").problem.code == "member_not_found")
            #expect(try put("/members/carol", as: "bob", client).status == .forbidden)
            let last = try client.request(.delete, "\(Self.room)/members/alice?user=alice")
            #expect(try last.status == .conflict && last.problem.code == "last_owner")
            #expect(try client.request(.delete, "\(Self.room)/members/bob?user=bob").status == .noContent)
            #expect(try client.get("\(Self.room)/members?user=bob").status == .notFound)
        }
    }

    @Test func `are the only ones who see a private room; for others it does not exist`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1", id: "a")
            #expect(try put("", #"{"visibility":"private"}"#, as: "alice", client).status == .ok)
            let targets = [
                "", "/messages", "/messages/1", "/messages/by-client-id/a", "/changes", "/presence", "/members",
                "/members/alice", "/live",
            ]
            for target in targets {
                let fields = target == "/live" ? HandshakeTests.fields : []
                let response = try client.get("\(Self.room)\(target)?user=bob", fields: fields)
                // Presence is off on this server.
                if target == "/presence" { continue }
                #expect(response.status == .notFound, "\(target)")
                #expect(try response.problem.code == "room_not_found")
            }
            #expect(try client.post(#"{"text":"x"}"#, as: "bob").problem.code == "room_not_found")
            let read = try client.request(.put, "\(Self.room)/read?user=bob", body: Array(#"{"seq":1}"#.utf8))
            #expect(try read.problem.code == "room_not_found")
            #expect(try put("", "{}", as: "bob", client).problem.code == "room_not_found")
            let many = try WebSocketClient.forRooms(port: server.port, as: "bob")
            try many.ask(for: "lobby")
            #expect(try many.frame().errorCode == "room_not_found")
            #expect(try client.send("2").seq == 2)
        }
    }

    @Test func `get nothing of a private room after their removal, on every loop and kind of connection`() throws {
        try withServer {
            $0.threads = 4
        } _: { server in
            let client = try HTTPClient(port: server.port)
            _ = try put("", #"{"visibility":"private"}"#, as: "alice", client)
            _ = try put("/members/bob", as: "alice", client)
            let live = "\(Self.room)/live?user="
            let sockets = try (0..<8).map { _ in try WebSocketClient(port: server.port, live + "bob") }
            let many = try (0..<8).map { _ in try WebSocketClient.forRooms(port: server.port, as: "bob") }
            let owner = try WebSocketClient(port: server.port, live + "alice")
            for socket in sockets + [owner] { try socket.greeting() }
            for socket in many { try socket.join("lobby") }
            #expect(try client.request(.delete, "\(Self.room)/members/bob?user=alice").status == .noContent)
            for socket in sockets { #expect(try socket.closeCode() == .notMember) }
            for socket in many { #expect(try socket.frame().errorCode == "not_a_member") }
            try client.send("1")
            #expect(try owner.message().text == "1")
        }
    }

    @Test func `are refused if removed while they subscribe, or told so just after`() throws {
        try withServer {
            $0.threads = 2
        } _: { server in
            let client = try HTTPClient(port: server.port)
            _ = try put("", #"{"visibility":"private"}"#, as: "alice", client)
            for _ in 0..<50 {
                _ = try put("/members/bob", as: "alice", client)
                let bob = try HTTPClient(port: server.port)
                try bob.write(HTTPClient.bytes(.get, "\(Self.room)/live?user=bob", fields: HandshakeTests.fields))
                #expect(try client.request(.delete, "\(Self.room)/members/bob?user=alice").status == .noContent)
                let response = try bob.response()
                if response.status == .switchingProtocols {
                    #expect(try WebSocketClient(upgraded: bob).closeCode() == .notMember)
                } else {
                    #expect([403, 404].contains(response.status.code))
                }
            }
        }
    }

    @Test func `are told of a removal while they subscribe on a socket for many rooms, before or after the start`()
        throws
    {
        try withServer {
            $0.threads = 2
        } _: { server in
            let client = try HTTPClient(port: server.port)
            _ = try put("", #"{"visibility":"private"}"#, as: "alice", client)
            let bob = try WebSocketClient.forRooms(port: server.port, as: "bob")
            for _ in 0..<50 {
                _ = try put("/members/bob", as: "alice", client)
                for room in ["other", "lobby"] { try bob.ask(for: room) }
                #expect(try client.request(.delete, "\(Self.room)/members/bob?user=alice").status == .noContent)
                var code: String?
                while code == nil { code = try bob.frame().errorCode }
                #expect(["not_a_member", "room_not_found"].contains(code))
                try bob.send(#"{"type":"unsubscribe","room":"other"}"#)
            }
        }
    }

    @Test func `stay subscribed when a room becomes private, and nobody else does`() throws {
        try withServer {
            $0.threads = 2
        } _: { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            _ = try put("/members/bob", as: "bob", client)
            let live = "\(Self.room)/live"
            let members = try ["alice", "bob"].map { try WebSocketClient(port: server.port, live + "?user=\($0)") }
            let others = try ["?user=carol", ""].map { try WebSocketClient(port: server.port, live + $0) }
            for socket in members + others { try socket.greeting() }
            _ = try put("", #"{"visibility":"private"}"#, as: "alice", client)
            for socket in others { #expect(try socket.closeCode() == .notMember) }
            try client.send("2", as: "bob")
            for socket in members { #expect(try socket.message().text == "2") }
        }
    }

    @Test func `need valid names, roles and rooms`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for (target, body, status, code) in [
                ("?x=", "{}", 401, "unauthenticated"), ("?user=a", "", 400, "invalid_json"),
                ("?user=a", #"{"visibility":"secret"}"#, 400, "invalid_field"),
                ("?user=a", #"{"title":7}"#, 400, "invalid_field"),
                ("?user=a", #"{"title":"\#(String(repeating: "x", count: 257))"}"#, 422, "too_long"),
                ("/members/a?user=a", #"{"role":"king"}"#, 400, "invalid_field"),
                ("/members/a%20b?user=a", "", 400, "invalid_user"),
                ("/members/a?user=a", "", 404, "room_not_found"),
            ] {
                let response = try client.request(.put, Self.room + target, body: Array(body.utf8))
                #expect(response.status.code == status, "\(target) \(body)")
                #expect(try response.problem.code == code)
            }
            #expect(try client.get("\(Self.room)/members?limit=1001").problem.limit == 1000)
        }
    }

    @Test func `cannot exist in open mode in rooms that only admins create`() throws {
        try withServer {
            $0.roomsByAdminsOnly = true
        } _: { server in
            let client = try HTTPClient(port: server.port)
            #expect(try client.post(#"{"text":"x"}"#).problem.code == "room_not_found")
            #expect(try put("", "{}", as: "alice", client).problem.code == "room_not_found")
            for target in ["", "/messages", "/changes", "/members"] {
                #expect(try client.get(Self.room + target).problem.code == "room_not_found")
            }
        }
    }
}
