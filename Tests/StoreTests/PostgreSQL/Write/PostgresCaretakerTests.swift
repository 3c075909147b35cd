import TestSupport
import Testing

@testable import Store

@Suite("The node that cares for a database", .partOfPostgreSQL)
struct PostgresCaretakerTests {
    @Test func `deletes events of access after an hour`() throws {
        let server = try TestPostgres.shared()
        let database = try server.createDatabase()
        let log = try TestLog(postgres: server.url(of: database))
        log.close()
        let now = "(extract(epoch FROM now()) * 1000)::bigint"
        try server.query(
            """
            INSERT INTO events (id, node, revocation, payload, at) VALUES
                (1, 'other', 0, 'left bob lobby', \(now) - 3610000), (2, 'other', 0, 'left bob lobby', \(now) - 3500000)
            """, in: database)
        let again = try TestLog(postgres: server.url(of: database))
        defer { again.close() }
        try waitUntil { (try? server.query("SELECT id FROM events", in: database).map { $0[0] }) == ["2"] }
    }
}
