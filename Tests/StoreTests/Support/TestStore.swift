import Foundation
import Synchronization
import Testing

@testable import Store

/// The database that tests of the log's contract run on: SQLite, or PostgreSQL with `BACKSCROLL_TEST_STORE=postgres`.
enum TestStore {
    /// True if the tests run on PostgreSQL.
    static let isPostgres = ProcessInfo.processInfo.environment["BACKSCROLL_TEST_STORE"] == "postgres"

    private static let databases = Mutex<[String: String]>([:])

    /// Returns the database that stands for the file at `path`, and creates it if there is none.
    static func url(of path: String) throws -> String {
        try databases.withLock { databases in
            if let known = databases[path] { return known }
            let name = "t\(databases.count)_\(ProcessInfo.processInfo.processIdentifier)"
            let server = "postgres:///%@?host=/tmp/pgme&user=postgres"
            let connection = try PostgresConnection(
                PostgresConnection.Settings(url: server.replacingOccurrences(of: "%@", with: "postgres")))
            try connection.execute("CREATE DATABASE \(name)")
            let url = server.replacingOccurrences(of: "%@", with: name)
            databases[path] = url
            return url
        }
    }
}
