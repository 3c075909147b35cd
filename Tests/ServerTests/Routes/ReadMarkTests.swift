import HTTP
import HTTPTypes
import Testing

@Suite("A read mark")
struct ReadMarkTests {
    @Test func `moves forward, and returns the room as its user sees it`() throws {
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

    @Test func `in an unused room stays at 0`() throws {
        try withServer { server in
            let room = try HTTPClient(port: server.port).read(to: 7, as: "bob")
            #expect(room.head == 0 && room.read == 0 && room.unread == 0 && room.firstUnread == nil)
        }
    }

    @Test func `needs a name, a seq and JSON`() throws {
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

    @Test func `is a place for pages, for callers with a name`() throws {
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
                for place in ["read", "unread"] {
                    let response = try client.get("/v1/rooms/lobby/messages?\(name)=\(place)")
                    #expect(response.status == .unauthorized)
                    #expect(try response.problem.code == "unauthenticated")
                }
            }
        }
    }

    @Test func `opens a screen at the first unread message in one request, with the number of unread ones`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            func page(_ query: String, as user: String = "bob") throws -> ReceivedPage {
                try client.read("/v1/rooms/lobby/messages?user=\(user)&\(query)")
            }
            let empty = try page("around=unread")
            #expect(empty.seqs == [] && empty.read == 0 && empty.unread == 0 && empty.firstUnread == nil)
            // 1 and 2 are alice's, 3 to 6 bob's, 7 to 9 alice's; 7 is deleted.
            for (sender, count) in [("alice", 2), ("bob", 4), ("alice", 3)] {
                for index in 0..<count { try client.send("\(index)", as: sender) }
            }
            #expect(try client.request(.delete, "/v1/rooms/lobby/messages/7?user=alice").status == .ok)
            _ = try client.read(to: 2, as: "bob")
            let opened = try page("around=unread&limit=3")
            #expect(opened.seqs == [7, 8, 9] && opened.head == 9)
            #expect(opened.read == 2 && opened.unread == 2 && opened.firstUnread == 8)
            #expect(try page("before=unread&limit=2").seqs == [6, 7])
            #expect(try page("after=unread").seqs == [9])
            let atMark = try page("around=read&limit=1")
            #expect(atMark.seqs == [2] && atMark.read == 2 && atMark.unread == 2 && atMark.firstUnread == 8)
            _ = try client.read(to: 9, as: "bob")
            let caughtUp = try page("around=unread&limit=1")
            #expect(caughtUp.seqs == [9] && caughtUp.read == 9)
            #expect(caughtUp.unread == 0 && caughtUp.firstUnread == nil)
            // Other pages do not contain it.
            for query in ["", "around=9", "before=last", "after=first"] {
                let page = try page(query)
                #expect(page.read == nil && page.unread == nil && page.firstUnread == nil)
            }
        }
    }
}
