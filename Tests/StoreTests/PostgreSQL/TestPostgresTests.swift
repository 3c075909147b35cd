import Glibc
import TestSupport
import Testing

@testable import Store

@Suite("PostgreSQL for tests", .partOfPostgreSQL)
struct TestPostgresTests {
    @Test func `has a database for each test, which may begin as a copy of another`() throws {
        let server = try TestPostgres.shared()
        let first = try server.createDatabase()
        try server.query("CREATE TABLE words AS SELECT 'hello' AS word, NULL::text AS nothing", in: first)
        let copy = try server.createDatabase(from: first)
        #expect(try server.query("SELECT * FROM words", in: copy) == [["hello", nil]])
        let other = try server.createDatabase()
        #expect(throws: CommandFailed.self) { try server.query("SELECT * FROM words", in: other) }
    }

    @Test func `keeps what was committed when it stops in the middle, and is gone when it is released`() throws {
        func useServer() throws -> String {
            let server = try TestPostgres(isOnTCP: true)
            let database = try server.createDatabase()
            try server.query("CREATE TABLE words AS SELECT 'hello' AS word", in: database)
            server.stop(.immediate)
            #expect(throws: CommandFailed.self) { try server.query("SELECT 1") }
            try server.start()
            #expect(try server.query("SELECT * FROM words", in: database) == [["hello"]])
            #expect(try run("psql", server.tcpURL(of: database), "-tAc", "SELECT word FROM words") == "hello\n")
            return server.directory
        }
        let directory = try useServer()
        // The process that removes it may not have finished yet.
        while access(directory, F_OK) == 0 { poll(nil, 0, 10) }
    }

    @Test func `ends the connections of one purpose`() throws {
        let server = try TestPostgres.shared()
        let database = try server.createDatabase()
        let connection = try PostgresConnection(
            PostgresConnection.Settings(url: server.url(of: database), purpose: "listener"))
        #expect(try server.backends(of: database, purpose: "listener").count == 1)
        // The others answer while its backend is stopped.
        let rows = try server.withStoppedBackends(of: database, purpose: "listener") {
            try server.query("SELECT 1", in: database)
        }
        #expect(rows == [["1"]])
        #expect(try server.terminateConnections(to: database, purpose: "writer") == 0)
        #expect(connection.isAlive)
        #expect(try server.terminateConnections(to: database, purpose: "listener") == 1)
        #expect(try server.backends(of: database).isEmpty)
        // Not only after a statement has failed.
        #expect(!connection.isAlive)
    }
}
