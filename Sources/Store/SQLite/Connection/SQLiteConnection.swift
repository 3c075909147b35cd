import CSQLite

/// A connection to an SQLite database.
///
/// It is closed once it is released. Not Sendable: its user is the thread that is in
/// ``SQLiteDatabase/use(_:)``.
final class SQLiteConnection: SQLDatabase {
    /// SQLite's connection, valid as long as this object.
    let handle: OpaquePointer
    /// The statements by their texts.
    private var statements: [String: SQLiteStatement] = [:]

    /// Opens a database. SQLite reads nothing of it before the first statement.
    ///
    /// - Parameters:
    ///   - path: The file, which is created if it does not exist; `nil` for a database in memory.
    ///   - isReadOnly: True to change nothing. The file must exist.
    ///   - busyTimeout: Maximum time in milliseconds that a statement waits for another connection's lock.
    fileprivate init(path: String?, isReadOnly: Bool, busyTimeout: Int32) throws(SQLiteError) {
        try SQLiteSettings.apply()
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
        statements = [:]
        sqlite3_close_v2(handle)
    }

    /// Throws the error of a call that has not returned `SQLITE_OK`.
    func check(_ status: Int32) throws(SQLiteError) {
        guard status == SQLITE_OK else { throw SQLiteError(status, of: handle) }
    }

    // MARK: Statements

    func prepare(_ sql: String, isLong: Bool) throws -> SQLiteStatement {
        if let statement = statements[sql] { return statement }
        let statement = try SQLiteStatement(sql, self)
        statements[sql] = statement
        return statement
    }

    /// Runs one or more statements without parameters, whose rows are ignored.
    func execute(_ sql: String) throws(SQLiteError) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    // MARK: Transactions

    /// True from `BEGIN` until the transaction is committed or rolled back.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// The kinds of transactions (SQLite, "Transactions", section 2.2).
    enum Transaction: String {
        /// One that takes no lock before its first statement.
        case deferred = "BEGIN DEFERRED"
        /// One that may write at once.
        case immediate = "BEGIN IMMEDIATE"
    }

    /// Runs `body` in a transaction, which is rolled back if it throws.
    func transaction<R>(_ kind: Transaction, _ body: (SQLiteConnection) throws -> R) throws -> R {
        try run(kind.rawValue)
        do {
            let result = try body(self)
            try run("COMMIT")
            return result
        } catch {
            // After an I/O error or on a full disk, SQLite may have rolled back already. If the rollback fails, later
            // transactions fail to begin and report that.
            if isInTransaction { try? run("ROLLBACK") }
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
