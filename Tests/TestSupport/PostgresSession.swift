import CPostgreSQL

/// A connection to PostgreSQL that stays open, for locks that a test holds.
public final class PostgresSession {
    private let connection: OpaquePointer?

    /// Connects to a database, given by its URL.
    public init(_ url: String) {
        connection = PQconnectdb(url)
    }

    deinit {
        PQfinish(connection)
    }

    /// Runs statements.
    public func execute(_ statements: String) throws {
        let result = PQexec(connection, statements)
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw CommandFailed(description: "\(statements): \(String(cString: PQerrorMessage(connection)))")
        }
    }
}
