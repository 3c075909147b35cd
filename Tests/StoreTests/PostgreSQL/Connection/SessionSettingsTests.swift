import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A session in PostgreSQL", .partOfPostgreSQL)
struct SessionSettingsTests {
    private let server: TestPostgres
    private let database: String

    init() throws {
        server = try TestPostgres.shared()
        database = try server.createDatabase()
    }

    private func connect(_ configure: (inout PostgresConnection.Settings) -> Void = { _ in }) throws
        -> PostgresConnection
    {
        var settings = PostgresConnection.Settings(url: server.url(of: database))
        configure(&settings)
        return try PostgresConnection(settings)
    }

    private func value(of setting: String, _ connection: PostgresConnection) throws -> String {
        try connection.run(connection.statement("SELECT current_setting('\(setting)')")).text(0, 0)
    }

    @Test(arguments: [true, false])
    func `has the settings that the program relies on, whatever the defaults are`(changes: Bool) throws {
        for (setting, wrong) in [
            ("default_transaction_isolation", "serializable"), ("default_transaction_deferrable", "on"),
            ("synchronous_commit", "off"), ("statement_timeout", "1h"), ("lock_timeout", "1h"),
            ("idle_session_timeout", "1h"), ("idle_in_transaction_session_timeout", "1h"),
            ("client_connection_check_interval", "0"), ("client_encoding", "LATIN1"),
        ] {
            try server.query("ALTER DATABASE \(database) SET \(setting) = '\(wrong)'")
        }
        let connection = try connect { if changes { $0.changes = PostgresConnection.Settings.ChangeBounds() } }
        for (setting, expected) in [
            ("default_transaction_isolation", "read committed"), ("default_transaction_deferrable", "off"),
            ("synchronous_commit", "on"), ("statement_timeout", "0"), ("lock_timeout", changes ? "500ms" : "0"),
            ("idle_session_timeout", changes ? "5s" : "0"),
            ("idle_in_transaction_session_timeout", changes ? "2s" : "10s"),
            ("client_connection_check_interval", "1s"), ("client_encoding", "UTF8"),
        ] {
            #expect(try value(of: setting, connection) == expected, "\(setting)")
        }
    }

    @Test(arguments: [("off", "on"), ("local", "on"), ("remote_write", "on"), ("remote_apply", "remote_apply")])
    func `waits for the disk and the standby at least`(role: String, expected: String) throws {
        try server.query("ALTER DATABASE \(database) SET synchronous_commit = '\(role)'")
        #expect(try value(of: "synchronous_commit", connect()) == expected)
    }

    @Test(arguments: ["other", "", "other, public", "\"$user\""])
    func `finds the tables by their schema, whatever the search path is`(path: String) throws {
        let before = try TestLog(postgres: server.url(of: database))
        try before.send(.init(text: "first"))
        try server.query("CREATE SCHEMA other", in: database)
        // A table of another program, which would hide the server's.
        try server.query("CREATE TABLE other.rooms (id BIGINT)", in: database)
        try server.query("ALTER DATABASE \(database) SET search_path = \(path.isEmpty ? "''" : path)")
        try server.terminateConnections(to: database)
        let after = try TestLog(postgres: server.url(of: database))
        // Neither a node that has made new connections nor one that is new uses other tables.
        #expect(try after.send(.init(text: "second")).seq == 2)
        try waitUntil { (try? before.send(.init(text: "third", id: "c")))?.seq == 3 }
        #expect(try server.query("SELECT to_regclass('other.messages')", in: database) == [[nil]])
        before.close()
        after.close()
    }

    @Test func `looks up no table of the session itself`() throws {
        let log = try TestLog(postgres: server.url(of: database))
        log.close()
        let connection = try connect()
        try connection.execute("CREATE TEMPORARY TABLE rooms (id BIGINT)")
        #expect(
            try connection.run(connection.statement("SELECT ('rooms'::regclass = 'public.rooms'::regclass)::int"))
                .integer(0, 0) == 1)
    }

    @Test func `is refused if two schemas have the tables and the search path names neither`() throws {
        for schema in ["a", "b"] {
            try server.query("CREATE SCHEMA \(schema)", in: database)
            for table in ["meta", "messages", "rooms", "server"] {
                try server.query("CREATE TABLE \(schema).\(table) (id BIGINT)", in: database)
            }
        }
        let error = #expect(throws: PostgresError.self) { try connect() }
        #expect(error?.description.contains("the schemas a, b each have tables of Backscroll") == true)
        try server.query("ALTER DATABASE \(database) SET search_path = b")
        #expect(try value(of: "search_path", connect()) == "b, pg_temp")
    }

    @Test func `begins in the first schema of the search path if there are no tables yet`() throws {
        try server.query("CREATE SCHEMA postgres", in: database)
        let log = try TestLog(postgres: server.url(of: database))
        try log.send(.init(text: "first"))
        log.close()
        #expect(try server.query("SELECT count(*) FROM postgres.messages", in: database) == [["1"]])
    }

    @Test(arguments: ["LATIN1", "SQL_ASCII"])
    func `is refused in a database that cannot hold all characters`(name: String) throws {
        let database = "encoding_\(name.lowercased())"
        try server.query("CREATE DATABASE \(database) TEMPLATE template0 ENCODING '\(name)'")
        defer { _ = try? server.query("DROP DATABASE \(database)") }
        let error = #expect(throws: StoreError.self) { try TestLog(postgres: server.url(of: database)) }
        #expect(error?.description.contains("its encoding is \(name)") == true)
    }
}
