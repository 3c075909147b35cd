import HTTP
import HTTPTypes
import Server
import Testing

@Suite("Another epoch")
struct NewEpochTests {
    private func withMessage(_ body: (LiveServer, HTTPClient, _ epoch: String) throws -> Void) throws {
        try withServer {
            $0.faults = true
        } _: { server in
            let client = try HTTPClient(port: server.port)
            try client.send("x")
            try body(server, client, client.read("/v1/rooms/lobby", as: ReceivedRoom.self).epoch)
        }
    }

    @Test func `is seen by each request that asks for it, always the same, and by no other request`() throws {
        try withMessage { _, client, epoch in
            let other = epoch + "fault"
            for _ in 1...2 {
                let room: ReceivedRoom = try client.read("/v1/rooms/lobby?fault=new-epoch")
                let page: ReceivedPage = try client.read("/v1/rooms/lobby/messages?fault=new-epoch")
                let changes: ReceivedChanges = try client.read("/v1/rooms/lobby/changes?fault=new-epoch")
                #expect([room.epoch, page.epoch, changes.epoch] == [other, other, other])
                let asEver: ReceivedRoom = try client.read("/v1/rooms/lobby")
                #expect(asEver.epoch == epoch)
            }
        }
    }

    @Test(arguments: LiveFormat.allCases)
    func `makes cursors of the true epoch unknown, and its own valid`(format: LiveFormat) throws {
        try withMessage { server, client, epoch in
            for query in ["since=\(epoch):0", "since=0&epoch=\(epoch)", "epoch=\(epoch)"] {
                let response = try client.get(
                    "/v1/rooms/lobby/live?\(query)&fault=new-epoch", fields: format.fields)
                #expect(response.status == .gone)
                #expect(try response.problem.code == "cursor_unknown")
            }
            #expect(try client.get("/v1/rooms/lobby/changes?since=\(epoch):0&fault=new-epoch").status == .gone)
            #expect(try client.get("/v1/rooms/lobby/changes?since=\(epoch)fault:0&fault=new-epoch").status == .ok)
            #expect(try client.get("/v1/rooms/lobby/changes?since=\(epoch)fault:0").status == .gone)

            let live = try format.subscribe(port: server.port, query: "since=\(epoch)fault:0&fault=new-epoch")
            #expect(try live.frame().room?.epoch == epoch + "fault")
            #expect(try live.message().rev == 1)
        }
    }

    @Test func `is in the ids of events, which an EventSource resumes from`() throws {
        try withMessage { server, client, epoch in
            let target = "/v1/rooms/lobby/live?since=0&fault=new-epoch"
            let stream = try EventStreamClient(port: server.port, target)
            #expect(try stream.event().id == "\(epoch)fault:0")
            let id = try #require(try stream.event().id)
            #expect(id == "\(epoch)fault:1")
            try client.send("y")
            #expect(try stream.event().id == "\(epoch)fault:1")
            #expect(try stream.event().id == "\(epoch)fault:2")
            let again = try EventStreamClient(port: server.port, target, lines: ["Last-Event-ID: \(id)"])
            #expect(try again.frames(2).map { $0.message?.rev } == [nil, 2])
        }
    }

    @Test func `is in the list of a user's rooms, whose cursors are valid with the same fault`() throws {
        try withMessage { _, client, epoch in
            try client.send("y", to: "other")
            let first = try client.get("/v1/rooms?user=alice&limit=1&fault=new-epoch")
            #expect(first.text.contains(#""epoch":"\#(epoch)fault""#))
            #expect(!first.text.contains(#""\#(epoch)""#) && !first.text.contains("\(epoch):"))
            let link = try #require(first["Link"])
            let next = try #require(link.split(separator: ">").first?.dropFirst())
            #expect(next.contains("cursor=\(epoch)fault:"))
            let second = try client.get("\(next)&user=alice&fault=new-epoch")
            #expect(second.status == .ok && second.text.contains(#""room":"lobby""#))
            #expect(try client.get("\(next)&user=alice").status != .ok)
        }
    }

    @Test func `applies to all rooms of a socket`() throws {
        try withMessage { server, client, epoch in
            let live = try WebSocketClient(port: server.port, "/v1/live?fault=new-epoch")
            try live.ask(for: "lobby", since: #""\#(epoch):0""#)
            #expect(try live.frame().errorCode == "cursor_unknown")
            try live.ask(for: "lobby", since: #""\#(epoch)fault:0""#)
            #expect(try live.frame().room?.epoch == epoch + "fault")
        }
    }
}
