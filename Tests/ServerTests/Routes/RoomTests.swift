import HTTP
import HTTPTypes
import Testing

@Suite("A room")
struct RoomTests {
    @Test func `shows its head and revision, and is empty if never used`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let unused = try client.read("/v1/rooms/lobby", as: ReceivedRoom.self)
            #expect(unused.room == "lobby" && unused.head == 0 && unused.rev == 0 && !unused.epoch.isEmpty)
            try client.send("1")
            try client.send("2")
            let response = try client.get("/v1/rooms/lobby")
            #expect(response.text.hasPrefix(#"{"room":"lobby","head":2,"rev":2,"epoch":"\#(unused.epoch)""#))
            #expect(try client.read("/v1/rooms/other", as: ReceivedRoom.self).head == 0)
        }
    }

    @Test(arguments: ["a", "9", "A.b_c~d-e", "%6Cobby"])
    func `may have any id of the grammar, escaped or not`(id: String) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let name = id == "%6Cobby" ? "lobby" : id
            #expect(try client.send("x", to: id).room == name)
            #expect(try client.read("/v1/rooms/\(name)", as: ReceivedRoom.self).head == 1)
        }
    }

    @Test(arguments: [".a", "-a", "_a", "~a", "a%20b", "a%2Fb", "a+b", "a%00b", "%C3%A9", "a:b", "a%FF"])
    func `cannot have any other id`(id: String) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for path in ["", "/messages", "/changes", "/live", "/messages/1", "/messages/by-client-id/a"] {
                let response = try client.get("/v1/rooms/\(id)\(path)?user=a")
                #expect(response.status == .badRequest)
            }
            #expect(try client.post(#"{"text":"x"}"#, to: id).status == .badRequest)
        }
    }

    @Test func `with an invalid id is refused with a code and the field`() throws {
        try withServer { server in
            let problem = try HTTPClient(port: server.port).get("/v1/rooms/a%20b").problem
            #expect(problem.code == "invalid_room" && problem.field == "room" && problem.limit == 128)
        }
    }
}
