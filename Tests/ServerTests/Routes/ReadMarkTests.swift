import HTTP
import HTTPTypes
import Testing

@Suite("A read mark")
struct ReadMarkTests {
    @Test("moves forward, and is answered with the room as its user sees it")
    func moves() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for index in 1...5 { try client.send("\(index)", as: index == 4 ? "bob" : "alice") }
            let first = try client.read(to: 2, as: "bob")
            #expect(first.head == 5 && first.rev == 5)
            #expect(first.read == 2 && first.unread == 2 && first.firstUnread == 3)
            #expect(try client.read(to: 1, as: "bob") == first)
            #expect(try client.get("/v1/rooms/lobby?user=bob").text == client.get("/v1/rooms/lobby?user=bob").text)
            let last = try client.read(to: 99, as: "bob")
            #expect(last.read == 5 && last.unread == 0 && last.firstUnread == nil)
            let other = try client.read("/v1/rooms/lobby?user=carol", as: ReceivedRoom.self)
            #expect(other.read == 0 && other.unread == 5 && other.firstUnread == 1)
            let nobody = try client.read("/v1/rooms/lobby", as: ReceivedRoom.self)
            #expect(nobody.head == 5 && nobody.read == nil && nobody.unread == nil && nobody.firstUnread == nil)
            try server.restart()
            #expect(try HTTPClient(port: server.port).read("/v1/rooms/lobby?user=bob", as: ReceivedRoom.self) == last)
        }
    }

    @Test("in a room that nobody has used stays at 0")
    func unused() throws {
        try withServer { server in
            let room = try HTTPClient(port: server.port).read(to: 7, as: "bob")
            #expect(room.head == 0 && room.read == 0 && room.unread == 0 && room.firstUnread == nil)
        }
    }

    @Test("needs a name, a seq and JSON")
    func refusals() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for (body, user, status, code) in [
                (#"{"seq":1}"#, "", 401, "unauthenticated"), (#"{"seq":-1}"#, "?user=bob", 400, "invalid_field"),
                ("{}", "?user=bob", 400, "invalid_field"), ("", "?user=bob", 400, "invalid_json"),
            ] {
                let response = try client.request(.put, "/v1/rooms/lobby/read\(user)", body: Array(body.utf8))
                #expect(response.status.code == status)
                #expect(try response.problem.code == code)
            }
            let text = try client.request(
                .put, "/v1/rooms/lobby/read?user=bob", fields: [HTTPField("Content-Type", "text/plain")],
                body: Array(#"{"seq":1}"#.utf8))
            #expect(text.status == .unsupportedMediaType)
            #expect(try client.get("/v1/rooms/lobby/read?user=bob").status == .methodNotAllowed)
        }
    }

    @Test("is a place of pages, for who has a name")
    func places() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for index in 1...7 { try client.send("\(index)") }
            _ = try client.read(to: 4, as: "bob")
            func seqs(_ query: String) throws -> [Int64] {
                try client.read("/v1/rooms/lobby/messages?user=bob&\(query)", as: ReceivedPage.self).seqs
            }
            #expect(try seqs("around=read&limit=3") == [3, 4, 5])
            #expect(try seqs("before=read") == [1, 2, 3])
            #expect(try seqs("after=read") == [5, 6, 7])
            for name in ["around", "before", "after"] {
                let response = try client.get("/v1/rooms/lobby/messages?\(name)=read")
                #expect(response.status == .unauthorized)
            }
        }
    }
}
