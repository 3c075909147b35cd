import Synchronization
import TestSupport

/// The database that tests of the log's contract run on: SQLite, or PostgreSQL with `BACKSCROLL_TEST_STORE=postgres`.
enum TestStore {
    /// True if the tests run on PostgreSQL.
    static let isPostgres = TestPostgres.isTestedStore

    private static let databases = Mutex<[String: String]>([:])

    /// Returns the database that stands for the file at `path`, and creates it if there is none.
    static func url(of path: String) throws -> String {
        try databases.withLock { databases in
            if let known = databases[path] { return known }
            let server = try TestPostgres.shared()
            let url = server.url(of: try server.createDatabase())
            databases[path] = url
            return url
        }
    }
}
