import HTTP
import HTTPTypes
import Server
import Store
import TestSupport
import Testing

@Suite("After a restore from a backup")
struct RestoredBackupTests {
    @Test(.onSQLite(.backup))
    func `the epoch differs, and cursors from before are refused`() throws {
        try withServer { server in
            let before = try HTTPClient(port: server.port)
            for number in 1...3 { try before.send("\(number)", id: "id\(number)") }
            let copy = server.path + "/copy.db"
            let contents = try Backup(of: server.configuration.database, to: copy).run()
            #expect(contents.rooms == 1 && contents.messages == 3)
            try before.send("4")
            let old = try before.read("/v1/rooms/lobby", as: ReceivedRoom.self)
            #expect(old.head == 4)
            server.stop()
            try run("mv", copy, server.configuration.database)
            try server.start()
            let after = try HTTPClient(port: server.port)
            let room = try after.read("/v1/rooms/lobby", as: ReceivedRoom.self)
            #expect(room.head == 3 && room.epoch != old.epoch)
            // Another message takes the place of the lost one.
            try after.send("another")
            let answer = try after.get("/v1/rooms/lobby/changes?since=\(old.epoch):2")
            #expect(answer.status == .gone)
            #expect(try answer.problem.code == "cursor_unknown")
            let live = try after.get(
                "/v1/rooms/lobby/live?since=\(old.epoch):2", fields: [HTTPField("Accept", "text/event-stream")])
            #expect(live.status == .gone)
            let changes = try after.read("/v1/rooms/lobby/changes?since=\(room.epoch):3", as: ReceivedChanges.self)
            #expect(changes.messages.map(\.text) == ["another"])
            let repeated = HTTPClient.draft("2", id: "id2")
            #expect(try after.post(repeated).status == .ok)
        }
    }
}
