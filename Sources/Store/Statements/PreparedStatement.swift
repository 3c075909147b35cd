import CSQLite

/// A statement of SQLite or PostgreSQL that is bound and stepped.
///
/// Arguments and columns are not boxed, which would cost more than SQLite itself on small rows (`backscroll-tools bench store`).
///
/// Confined to its connection's queue or thread, like the ``Connection`` that it comes from.
struct PreparedStatement {
    // SQLite's statement, which lives as long as `owner`; nil with PostgreSQL.
    private let handle: OpaquePointer?
    private let owner: SQLiteStatement?
    private let postgres: PostgresStatement?

    /// Prepares a statement for the life of the connection. PostgreSQL checks it when it first runs.
    ///
    /// - Parameters:
    ///   - sql: A statement in SQLite's SQL, which ``PostgresStatement/translated(_:)`` translates.
    ///   - isLong: True if the statement may have many rows of which few are usually taken. With PostgreSQL it must run
    ///     in a transaction, and rows are then fetched some at a time.
    init(_ sql: String, isLong: Bool = false, _ db: Connection) throws {
        switch db {
        case .sqlite(let db):
            let statement = try SQLiteStatement(sql, db)
            (owner, handle, postgres) = (statement, statement.handle, nil)
        case .postgres(let connection):
            (owner, handle, postgres) = (nil, nil, PostgresStatement(sql, isLong: isLong, connection))
        }
    }

    // MARK: Parameters, numbered from 1

    func bind(_ value: Int64, at index: Int32) throws {
        guard let handle else {
            return postgres!.bind(PostgresParameters.bytes(of: value), as: .integer, at: index)
        }
        try check(sqlite3_bind_int64(handle, index, value))
    }

    /// Binds text that is not empty, or NULL.
    func bind(_ value: String?, at index: Int32) throws {
        guard let handle else { return postgres!.bind(value.map { Array($0.utf8) }, as: .text, at: index) }
        guard var value else { return try check(sqlite3_bind_null(handle, index)) }
        let status = value.withUTF8 { bytes in
            // SQLite reads exactly the given number of bytes, and copies them before it returns.
            bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_bind_text(handle, index, $0.baseAddress, Int32($0.count), Self.copied)
            }
        }
        try check(status)
    }

    /// Binds at least one byte.
    func bind(_ value: [UInt8], at index: Int32) throws {
        guard let handle else { return postgres!.bind(value, as: .bytes, at: index) }
        let status = value.withUnsafeBytes { bytes in
            // SQLite reads exactly the given number of bytes, and copies them before it returns.
            sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), Self.copied)
        }
        try check(status)
    }

    func bindNull(at index: Int32) throws {
        guard let handle else { return postgres!.bind(nil, as: .inferred, at: index) }
        try check(sqlite3_bind_null(handle, index))
    }

    /// Binds an array of texts. Only with PostgreSQL.
    func bind(_ values: [String], at index: Int32) throws {
        postgres!.bind(PostgresParameters.bytes(of: values), as: .textArray, at: index)
    }

    /// Binds text without copying it. Only with SQLite.
    ///
    /// - Parameter value: UTF-8 text that is not empty, or `nil` for NULL. It must stay at its address until the
    ///   parameter is bound again, or until the statement's last run.
    func bind(borrowedText value: UnsafeRawBufferPointer?, at index: Int32) throws {
        guard let value else { return try check(sqlite3_bind_null(handle, index)) }
        let start = value.baseAddress?.assumingMemoryBound(to: CChar.self)
        try check(sqlite3_bind_text(handle, index, start, Int32(value.count), nil))
    }

    /// Binds bytes without copying them, only with SQLite, under the rules of ``bind(borrowedText:at:)``.
    func bind(borrowed value: UnsafeRawBufferPointer, at index: Int32) throws {
        try check(sqlite3_bind_blob(handle, index, value.baseAddress, Int32(value.count), nil))
    }

    /// Runs a statement without rows, with at least one byte at a parameter. The bytes are not copied, and the
    /// parameter is NULL afterwards. Only with SQLite.
    func run(with value: [UInt8], at index: Int32) throws {
        try value.withUnsafeBytes { bytes in
            // The parameter is cleared before the bytes can be freed.
            defer { sqlite3_bind_null(handle, index) }
            try bind(borrowed: bytes, at: index)
            try run()
        }
    }

    // SQLITE_TRANSIENT, a cast of -1 to a function pointer, which Swift does not import.
    private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    /// Throws SQLite's error, if any. After an unchecked failure to bind, the statement would use the value of its
    /// previous run.
    private func check(_ status: Int32) throws {
        guard status == SQLITE_OK else { throw failure(status) }
    }

    private func failure(_ status: Int32) -> SQLiteError {
        SQLiteError(status, of: sqlite3_db_handle(handle))
    }

    // MARK: Rows

    /// Runs a statement that returns no rows.
    func run() throws {
        guard let handle else {
            try postgres!.run()
            return
        }
        defer { sqlite3_reset(handle) }
        let status = sqlite3_step(handle)
        guard status == SQLITE_DONE else { throw failure(status) }
    }

    /// Runs a statement that returns no rows.
    ///
    /// - Returns: The number of rows that it inserted, changed or deleted.
    func runCounting() throws -> Int {
        guard let handle else { return try postgres!.run().affectedRows }
        let db = sqlite3_db_handle(handle)
        // The difference is 0 for a statement that changes nothing. `sqlite3_changes` keeps its value after statements
        // that are not an INSERT, UPDATE or DELETE.
        let before = sqlite3_total_changes(db)
        try run()
        return Int(sqlite3_total_changes(db) &- before)
    }

    /// Runs a statement that returns no rows. PostgreSQL runs it with the connection's next statement, which then may
    /// throw its error.
    func runSoon() throws {
        if handle == nil { try postgres!.send() } else { try run() }
    }

    /// Sends the statement ahead: it will be read with these parameters in this read transaction. PostgreSQL runs it
    /// with the connection's next statement, so that there is no wait for it alone. Does nothing with SQLite.
    func runAhead() throws {
        if handle == nil { try postgres!.sendAhead() }
    }

    /// Runs a statement that returns at most one row.
    func firstRow<R>(_ row: (borrowing Row) throws -> R) throws -> R? {
        try withRows { rows in
            rows.hasRow ? try row(rows.row) : nil
        }
    }

    /// Runs a statement, and passes `row` each row.
    func forEachRow(_ row: (borrowing Row) throws -> Void) throws {
        try withRows { rows in
            while rows.hasRow {
                try row(rows.row)
                try rows.next()
            }
        }
    }

    /// Runs a statement, and returns what `row` makes of each row.
    func allRows<R>(_ row: (borrowing Row) throws -> R) throws -> [R] {
        var all: [R] = []
        try forEachRow { all.append(try row($0)) }
        return all
    }

    /// Runs a statement whose rows are taken one at a time, starting at the first.
    func withRows<R>(_ body: (inout Rows) throws -> R) throws -> R {
        guard let handle else {
            var rows = Rows(statement: self, result: try postgres!.firstRows())
            defer { postgres!.endRows() }
            return try body(&rows)
        }
        defer { sqlite3_reset(handle) }
        var rows = Rows(statement: self)
        try rows.next()
        return try body(&rows)
    }

    /// The rows of a running statement: the current row, and a way to the next.
    struct Rows: ~Copyable {
        private let statement: PreparedStatement
        /// True if there is a current row. Once false, it stays false.
        private(set) var hasRow = true
        private(set) var row: Row

        fileprivate init(statement: PreparedStatement) {
            self.statement = statement
            row = Row(handle: statement.handle)
        }

        fileprivate init(statement: PreparedStatement, result: PostgresResult) {
            self.statement = statement
            row = Row(handle: nil, result: result)
            hasRow = result.count > 0
        }

        /// Moves to the next row.
        mutating func next() throws {
            // A step past the end would restart the statement.
            guard hasRow else { return }
            guard let handle = statement.handle else { return try nextOfPostgres() }
            let status = sqlite3_step(handle)
            hasRow = status == SQLITE_ROW
            guard hasRow || status == SQLITE_DONE else { throw statement.failure(status) }
        }

        private mutating func nextOfPostgres() throws {
            row.index += 1
            guard row.index == row.result!.count else { return }
            if let more = try statement.postgres!.rows(after: row.result!) {
                row = Row(handle: nil, result: more)
            } else {
                hasRow = false
            }
        }
    }

    /// The current row of a statement. It cannot escape the closure that receives it.
    struct Row: ~Copyable {
        // SQLite's statement; nil with PostgreSQL.
        fileprivate let handle: OpaquePointer?
        // PostgreSQL's rows, and the index of this one.
        fileprivate var result: PostgresResult?
        fileprivate var index = 0

        fileprivate init(handle: OpaquePointer?, result: PostgresResult? = nil) {
            self.handle = handle
            self.result = result
        }

        /// Returns a column's integer. A boolean is 0 or 1, and NULL is 0.
        func integer(_ column: Int32) -> Int64 {
            guard let handle else { return result!.integer(index, Int(column)) }
            return sqlite3_column_int64(handle, column)
        }

        func text(_ column: Int32) -> String {
            withBytes(column) { bytes in
                // The pointer is used only inside the closure, while the span's owner is alive.
                bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
            }
        }

        func isNull(_ column: Int32) -> Bool {
            guard let handle else { return result!.isNull(index, Int(column)) }
            return sqlite3_column_type(handle, column) == SQLITE_NULL
        }

        /// Passes `body` a column's bytes, which are valid until it returns.
        func withBytes<R>(_ column: Int32, _ body: (Span<UInt8>) throws -> R) rethrows -> R {
            guard let handle else { return try result!.withBytes(index, Int(column), body) }
            // The column's value stays at its address until the statement is stepped or reset, which `body` cannot do.
            // SQLite gives its exact number of bytes.
            let start = sqlite3_column_blob(handle, column)?.assumingMemoryBound(to: UInt8.self)
            let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
            return try body(bytes.span)
        }

        func append(_ column: Int32, to output: inout [UInt8]) {
            withBytes(column) { bytes in
                // The pointer is used only inside the closure, while the span's owner is alive.
                bytes.withUnsafeBufferPointer { output.append(contentsOf: $0) }
            }
        }

        func bytes(_ column: Int32) -> [UInt8] {
            var bytes: [UInt8] = []
            append(column, to: &bytes)
            return bytes
        }
    }
}
