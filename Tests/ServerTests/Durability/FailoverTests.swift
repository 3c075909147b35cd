import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing

@Suite("A failover of the database", .partOfPostgreSQL)
struct FailoverTests {
    @Test func `makes a server not ready until it has started again, and cursors of the old epoch unknown`() throws {
        let postgres = try TestPostgres.shared()
        let database = try postgres.createDatabase()
        let reports = Recorder<Void>()
        try withServer {
            $0.database = postgres.url(of: database)
            $0.onOtherHistory = { reports.record(()) }
        } _: { server in
            let client = try HTTPClient(port: server.port)
            try client.send("x")
            let before: ReceivedRoom = try client.read("/v1/rooms/lobby")
            // As after a failover: the database is on another timeline, and all connections are new.
            try postgres.query("UPDATE meta SET value = '1/00000001' WHERE key = 'timeline'", in: database)
            try postgres.terminateConnections(to: database)
            try reports.wait(for: 1)
            #expect(try client.get("/readyz").status == .serviceUnavailable)
            #expect(try client.get("/v1/rooms/lobby/messages").status == .serviceUnavailable)
            try server.restart()
            let again = try HTTPClient(port: server.port)
            let after: ReceivedRoom = try again.read("/v1/rooms/lobby")
            #expect(after.epoch != before.epoch && after.head == before.head)
            #expect(try again.get("/v1/rooms/lobby/changes?since=\(before.epoch):1").status == .gone)
            #expect(try again.get("/v1/rooms/lobby/changes?since=\(after.epoch):1").status == .ok)
            #expect(try again.get("/readyz").status == .ok)
            #expect(reports.events.count == 1)
        }
    }
}
