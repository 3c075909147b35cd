import Chat

/// The connection of one reading thread, and what it reuses between transactions.
///
/// Confined to its thread.
struct ReaderConnection {
    /// The database to read.
    enum Source: Sendable {
        /// A connection to SQLite, which the thread closes in the end.
        case sqlite(SQLiteDatabase)
        /// The database in PostgreSQL. The thread connects when it needs to.
        case postgres(PostgresConnector)
    }

    /// The compression of frames.
    let deflater = PushDeflater()
    private let source: Source
    // Prepared on first use, because that may fail and succeed later.
    private var statements: ReaderStatements?
    private var connector: PostgresConnector.Use?
    /// The reason why the last attempt to connect to PostgreSQL has failed; `nil` if it has succeeded.
    private(set) var failure: String?

    init(_ source: Source) {
        self.source = source
        if case .postgres(let connector) = source { self.connector = connector.use() }
    }

    /// True if the database is PostgreSQL.
    var isPostgres: Bool { connector != nil }

    /// Runs `body` with the connection's statements.
    mutating func use<R>(_ body: (ReaderStatements) throws -> R) throws -> R {
        guard case .sqlite(let database) = source else { return try useOfPostgres(body) }
        return try database.use { db in
            let prepared = try statements ?? ReaderStatements(.sqlite(db))
            statements = prepared
            return try body(prepared)
        }
    }

    private mutating func useOfPostgres<R>(_ body: (ReaderStatements) throws -> R) throws -> R {
        let (connection, isNew): (PostgresConnection, Bool)
        do {
            (connection, isNew) = try connector!.connection()
            failure = nil
        } catch {
            failure = "\(error)"
            throw error
        }
        let prepared =
            try isNew ? ReaderStatements(.postgres(connection)) : statements ?? ReaderStatements(.postgres(connection))
        statements = prepared
        return try body(prepared)
    }

    /// Closes the connection.
    mutating func close() {
        statements = nil
        connector = nil
        if case .sqlite(let database) = source { database.close() }
    }
}
