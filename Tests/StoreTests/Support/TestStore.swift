import Synchronization
import TestSupport

@testable import Store

/// The database that tests of the log's contract run on: SQLite, or PostgreSQL with `BACKSCROLL_TEST_STORE=postgres`.
enum TestStore {
    /// True if the tests run on PostgreSQL.
    static let isPostgres = TestPostgres.isTestedStore

    /// Returns the arguments of a test that differ in the journal. PostgreSQL has none, so there the test runs with the first.
    static func journals<Argument>(_ arguments: Argument...) -> [Argument] {
        isPostgres ? Array(arguments.prefix(1)) : arguments
    }

    private static let databases = Mutex<[String: String]>([:])

    /// Returns the URL of the database that stands for the file at `path`, and creates it if there is none.
    static func url(of path: String) throws -> String {
        try TestPostgres.contract().url(of: database(of: path))
    }

    /// Returns the name of the database that stands for the file at `path`, and creates it if there is none.
    static func database(of path: String) throws -> String {
        try databases.withLock { databases in
            if let known = databases[path] { return known }
            let name = try TestPostgres.contract().createDatabase { url in
                try PostgresSchema.migrate(PostgresConnection(PostgresConnection.Settings(url: url)))
            }
            databases[path] = name
            return name
        }
    }

    /// Returns the location of the database that stands for the file at `path`.
    static func location(of path: String) throws -> DatabaseLocation {
        isPostgres ? .postgres(try url(of: path)) : .file(path)
    }

    /// Copies the database that stands for the file at `path`, as it is at one moment, to that which stands for `copy`.
    static func copy(_ path: String, to copy: String) throws {
        let database = try TestPostgres.contract().copyDatabase(database(of: path))
        databases.withLock { $0[copy] = database }
    }
}
