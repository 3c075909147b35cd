import HTTP
import HTTPTypes
import Server
import Testing

@Suite("After a restart")
struct RestartTests {
    @Test func `every acknowledged message is there, with the same bytes and epoch`() throws {
        try withServer { server in
            let before = try HTTPClient(port: server.port)
            let sent = try (1...50).map {
                try before.post(HTTPClient.draft("\($0)", id: "\($0)"), to: "room\($0 % 3)").body
            }
            let rooms = try (0..<3).map { try before.get("/v1/rooms/room\($0)").body }
            let pages = try (0..<3).map { try before.get("/v1/rooms/room\($0)/messages").body }
            try server.restart()
            let after = try HTTPClient(port: server.port)
            #expect(try (0..<3).map { try after.get("/v1/rooms/room\($0)").body } == rooms)
            #expect(try (0..<3).map { try after.get("/v1/rooms/room\($0)/messages").body } == pages)
            for (index, body) in sent.enumerated() {
                let number = index + 1
                let target = "/v1/rooms/room\(number % 3)/messages/by-client-id/\(number)?user=alice"
                #expect(try after.get(target).body == body)
            }
        }
    }

    @Test func `a room continues where it was, with times that never decrease`() throws {
        try withServer { server in
            let last = try HTTPClient(port: server.port).send("before")
            try server.restart()
            let next = try HTTPClient(port: server.port).send("after")
            #expect(next.seq == 2 && next.rev == 2 && next.createdAt >= last.createdAt)
        }
    }

    @Test(arguments: LiveFormat.allCases)
    func `a subscriber resumes from its last position`(format: LiveFormat) throws {
        try withServer { server in
            let before = try format.subscribe(port: server.port)
            let epoch = try before.greeting().epoch
            let client = try HTTPClient(port: server.port)
            for index in 1...3 { try client.send("\(index)") }
            #expect(try before.message().rev == 1)
            try server.restart()
            try HTTPClient(port: server.port).send("4")
            let after = try format.subscribe(port: server.port, query: "since=\(epoch):1")
            #expect(try after.frame().room?.epoch == epoch)
            #expect(try (0..<3).map { _ in try after.message().text } == ["2", "3", "4"])
            #expect(try after.frame().liveRev == 4)
        }
    }

    @Test func `a repeated send is recognized, and a used id stays used`() throws {
        try withServer { server in
            let before = try HTTPClient(port: server.port)
            let sent = try before.post(HTTPClient.draft("x", id: "a1"))
            try server.restart()
            let after = try HTTPClient(port: server.port)
            let again = try after.post(HTTPClient.draft("x", id: "a1"))
            #expect(again.status == .ok)
            #expect(again.body == sent.body)
            #expect(try after.post(HTTPClient.draft("y", id: "a1")).status == 422)
            #expect(try after.read("/v1/rooms/lobby", as: ReceivedRoom.self).head == 1)
        }
    }

    @Test func `with another database, the epoch differs and old cursors are gone`() throws {
        try withServer { server in
            let epoch = try HTTPClient(port: server.port).read("/v1/rooms/lobby", as: ReceivedRoom.self).epoch
            server.stop()
            let other = try server.anotherDatabase()
            try server.start { $0.database = other }
            let client = try HTTPClient(port: server.port)
            #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).epoch != epoch)
            #expect(try client.get("/v1/rooms/lobby/changes?since=\(epoch):0").status == .gone)
        }
    }
}
