import CSQLite

/// A connection to an SQLite database.
///
/// It is closed once it and its statements are released. Not Sendable: its user is the thread that is in
/// ``SQLiteDatabase/use(_:)``.
final class SQLiteConnection {
    /// SQLite's connection, valid as long as this object.
    let handle: OpaquePointer

    /// Opens a database. SQLite reads nothing of it before the first statement.
    ///
    /// - Parameters:
    ///   - path: The file, which is created if it does not exist; `nil` for a database in memory.
    ///   - isReadOnly: True to change nothing. The file must exist.
    ///   - busyTimeout: Maximum time in milliseconds that a statement waits for another connection's lock.
    fileprivate init(path: String?, isReadOnly: Bool, busyTimeout: Int32) throws(SQLiteError) {
        // SQLite's own mutex is not needed, since one thread at a time uses a connection.
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var opened: OpaquePointer?
        let status = sqlite3_open_v2(path ?? ":memory:", &opened, access | SQLITE_OPEN_NOMUTEX, nil)
        guard status == SQLITE_OK, let opened else {
            let error = SQLiteError(status, of: opened)
            // Most failures leave a connection that must be closed.
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, busyTimeout)
        _ = backscroll_sqlite_refuse_quoted_strings(handle)
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    /// Throws the error of a call that has not returned `SQLITE_OK`.
    func check(_ status: Int32) throws(SQLiteError) {
        guard status == SQLITE_OK else { throw SQLiteError(status, of: handle) }
    }

    // MARK: Statements that run once

    /// Runs one or more statements, whose rows are ignored.
    func execute(_ sql: String) throws(SQLiteError) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    /// Runs a statement with a text as its parameter.
    func execute(_ sql: String, _ text: String) throws {
        let statement = try PreparedStatement(sql, .sqlite(self))
        try statement.bind(text, at: 1)
        try statement.run()
    }

    /// Returns what `row` makes of the first row of a statement; `nil` if there is none.
    func first<R>(_ sql: String, _ row: (borrowing PreparedStatement.Row) throws -> R) throws -> R? {
        try PreparedStatement(sql, .sqlite(self)).firstRow(row)
    }

    /// Returns what `row` makes of each row of a statement.
    func all<R>(_ sql: String, _ row: (borrowing PreparedStatement.Row) throws -> R) throws -> [R] {
        try PreparedStatement(sql, .sqlite(self)).allRows(row)
    }

    // MARK: Transactions

    /// True from `BEGIN` until the transaction is committed or rolled back.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// The kinds of transactions (SQLite, "Transactions", section 2.2).
    enum Transaction: String {
        /// One that takes no lock before its first statement.
        case deferred = "DEFERRED"
        /// One that may write at once.
        case immediate = "IMMEDIATE"
    }

    /// Runs `body` in a transaction, which is rolled back if it throws.
    func transaction<R>(_ kind: Transaction, _ body: (SQLiteConnection) throws -> R) throws -> R {
        try execute("BEGIN \(kind.rawValue) TRANSACTION")
        do {
            let result = try body(self)
            try execute("COMMIT TRANSACTION")
            return result
        } catch {
            // SQLite has rolled it back after some errors.
            if isInTransaction { try? execute("ROLLBACK TRANSACTION") }
            throw error
        }
    }

    /// Copies pages of the write-ahead log into the database.
    ///
    /// - Parameter mode: `SQLITE_CHECKPOINT_PASSIVE` or another of SQLite's modes.
    func checkpoint(_ mode: Int32) throws(SQLiteError) {
        try check(sqlite3_wal_checkpoint_v2(handle, "main", mode, nil, nil))
    }
}

/// An open SQLite database, which one thread at a time uses.
// Sendable because the connection and whether it is closed are only accessed with the lock held.
final class SQLiteDatabase: @unchecked Sendable {
    private let monitor = Monitor()
    private var connection: SQLiteConnection?

    /// Opens a database, see ``SQLiteConnection``.
    init(path: String?, isReadOnly: Bool = false, busyTimeout: Int = 0) throws(SQLiteError) {
        connection = try SQLiteConnection(
            path: path, isReadOnly: isReadOnly, busyTimeout: Int32(clamping: busyTimeout))
    }

    /// Runs `body` with the connection, which must not be used afterwards. Other threads wait meanwhile. Not to be
    /// called after ``close()``.
    func use<R>(_ body: (SQLiteConnection) throws -> R) rethrows -> R {
        try monitor.locked { try body(connection!) }
    }

    /// Runs `body` in a transaction, see ``SQLiteConnection/transaction(_:_:)``.
    func transaction<R>(_ kind: SQLiteConnection.Transaction, _ body: (SQLiteConnection) throws -> R) throws -> R {
        try use { try $0.transaction(kind, body) }
    }

    /// Closes the database once its statements are released.
    func close() {
        monitor.locked { connection = nil }
    }
}

/// A statement of SQLite, which keeps its connection open.
final class SQLiteStatement {
    /// SQLite's statement, valid as long as this object.
    let handle: OpaquePointer
    private let connection: SQLiteConnection

    /// Prepares the first statement of a text.
    init(_ sql: String, _ connection: SQLiteConnection) throws(SQLiteError) {
        var prepared: OpaquePointer?
        try connection.check(sqlite3_prepare_v3(connection.handle, sql, -1, 0, &prepared, nil))
        guard let prepared else { throw SQLiteError(SQLITE_MISUSE, "there is no statement") }
        handle = prepared
        self.connection = connection
    }

    deinit {
        sqlite3_finalize(handle)
    }
}
