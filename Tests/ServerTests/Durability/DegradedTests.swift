import HTTP
import HTTPTypes
import TestSupport
import Testing

@Suite("A server with a room whose part of the database is damaged")
struct DegradedTests {
    @Test(.onSQLite(.files))
    func `refuses changes of that room only, stays ready, and says how many rooms there are`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("fine", id: "1")
            let database = try Database(of: server.configuration)
            try database.execute(
                """
                CREATE TRIGGER damage BEFORE INSERT ON messages WHEN new.sender = 'mallory'
                BEGIN SELECT raise(ABORT, 'damaged'); END
                """)
            let sent = HTTPClient.bytes(
                sending: HTTPClient.draft("lost?", id: "1"), to: "attic", as: "mallory")
            try client.write(sent)
            #expect(try client.response().status == .created)
            try client.write(HTTPClient.bytes(.delete, "/v1/rooms/attic/messages/1?user=mallory"))
            let refused = try client.response()
            #expect(refused.status == .serviceUnavailable && refused["Retry-After"] == "60")
            #expect(try refused.problem.code == "room_unavailable")
            let readiness = try client.get("/readyz")
            #expect(readiness.status == .ok && readiness.text == #"{"status":"degraded","rooms":1}"#)
            #expect(try client.get("/metrics").text.contains("backscroll_rooms_set_aside 1\n"))
            // Acknowledged messages exist, and other rooms are unaffected.
            #expect(try client.read("/v1/rooms/attic/messages", as: ReceivedPage.self).seqs == [1])
            #expect(try client.send("fine", id: "2").seq == 2)
        }
    }
}
