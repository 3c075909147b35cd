import TestSupport
import Testing

@testable import Store

@Suite("A connection to PostgreSQL", .partOfPostgreSQL)
struct PlannerSettingsTests {
    private func value(of setting: String, _ connection: PostgresConnection) throws -> String {
        try connection.run(connection.statement("SELECT current_setting('\(setting)')")).text(0, 0)
    }

    @Test func `does not compile plans, whatever the database's settings are`() throws {
        let server = try TestPostgres.shared()
        let database = try server.createDatabase()
        try server.query("ALTER DATABASE \(database) SET jit = on")
        let connection = try PostgresConnection(PostgresConnection.Settings(url: server.url(of: database)))
        #expect(try value(of: "jit", connection) == "off")
    }

    @Test(arguments: [true, false])
    func `plans the statements of writers and readers once, and finds rows by their indexes`(isWriter: Bool) throws {
        let server = try TestPostgres.shared()
        let log = try TestLog(postgres: server.url(of: server.createDatabase()))
        defer { log.close() }
        let connection = try PostgresConnector(
            PostgresConnection.Settings(url: log.path), purpose: isWriter ? .writer : .reader,
            countedBy: DatabaseConnections()
        ).connect()
        for (setting, expected) in [
            ("plan_cache_mode", "force_generic_plan"), ("enable_seqscan", "off"), ("enable_bitmapscan", "off"),
        ] {
            #expect(try value(of: setting, connection) == expected)
        }
    }

    @Test func `makes PostgreSQL end the work of a client that is gone or stopped`() throws {
        let server = try TestPostgres.shared()
        let url = server.url(of: try server.createDatabase())
        let node = try PostgresConnection(PostgresConnection.Settings(url: url))
        #expect(try value(of: "client_connection_check_interval", node) == "1s")
        #expect(try value(of: "idle_in_transaction_session_timeout", node) == "10s")
        let command = try PostgresConnection(
            PostgresConnection.Settings(url: url, answerTime: PostgresConnection.Settings.commandAnswerTime))
        #expect(try value(of: "idle_in_transaction_session_timeout", command) == "1h")
    }

    @Test func `sets no start-up parameter that a pooler refuses`() throws {
        let server = try TestPostgres.shared()
        let connection = try PostgresConnection(
            PostgresConnection.Settings(url: server.url(of: try server.createDatabase())))
        // Settings that came with the start-up message, and not from files or statements.
        let names = try connection.run(
            connection.statement("SELECT string_agg(name, ' ' ORDER BY name) FROM pg_settings WHERE source = 'client'"))
        #expect(names.text(0, 0) == "application_name client_encoding")
    }
}
