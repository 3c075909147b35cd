import CSQLite

/// A prepared statement of SQLite.
///
/// It may outlive its connection, which SQLite then closes together with the last statement.
final class SQLiteStatement: SQLStatement {
    /// SQLite's statement, valid as long as this object.
    let handle: OpaquePointer
    private(set) var hasRow = false

    /// Prepares the first statement of a text.
    init(_ sql: String, _ connection: SQLiteConnection) throws(SQLiteError) {
        var prepared: OpaquePointer?
        try connection.check(sqlite3_prepare_v3(connection.handle, sql, -1, 0, &prepared, nil))
        guard let prepared else { throw SQLiteError(SQLITE_MISUSE, "there is no statement") }
        handle = prepared
        // SQLite numbers named parameters in the order of their first occurrence.
        for index in 1..<sqlite3_bind_parameter_count(handle) + 1 {
            guard let name = sqlite3_bind_parameter_name(handle, index).map({ String(cString: $0) }) else { continue }
            precondition(name.first != "$" || name == "$\(index)", "parameter \(name) is number \(index) in: \(sql)")
        }
    }

    deinit {
        sqlite3_finalize(handle)
    }

    // MARK: Parameters

    func bind(_ value: Int64, at index: Int32) throws {
        try check(sqlite3_bind_int64(handle, index, value))
    }

    func bind(_ value: String?, at index: Int32) throws {
        guard var value else { return try bindNull(at: index) }
        let status = value.withUTF8 { bytes in
            // SQLite reads exactly the given number of bytes, and copies them before it returns.
            bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_bind_text(handle, index, $0.baseAddress, Int32($0.count), Self.copied)
            }
        }
        try check(status)
    }

    func bind(_ value: [UInt8], at index: Int32) throws {
        let status = value.withUnsafeBytes { bytes in
            // SQLite reads exactly the given number of bytes, and copies them before it returns.
            sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), Self.copied)
        }
        try check(status)
    }

    func bindNull(at index: Int32) throws {
        try check(sqlite3_bind_null(handle, index))
    }

    /// Binds text without copying it.
    ///
    /// - Parameter value: UTF-8 text that is not empty, or `nil` for NULL. It must stay at its address until the
    ///   parameter is bound again, or until the statement's last run.
    func bind(borrowedText value: UnsafeRawBufferPointer?, at index: Int32) throws {
        guard let value else { return try bindNull(at: index) }
        let start = value.baseAddress?.assumingMemoryBound(to: CChar.self)
        try check(sqlite3_bind_text(handle, index, start, Int32(value.count), nil))
    }

    /// Binds bytes without copying them, under the rules of ``bind(borrowedText:at:)``.
    func bind(borrowed value: UnsafeRawBufferPointer, at index: Int32) throws {
        try check(sqlite3_bind_blob(handle, index, value.baseAddress, Int32(value.count), nil))
    }

    /// Runs a statement without rows, with at least one byte at a parameter. The bytes are not copied, and the
    /// parameter is NULL afterwards.
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

    // MARK: Running

    func run() throws {
        defer { sqlite3_reset(handle) }
        let status = sqlite3_step(handle)
        guard status == SQLITE_DONE else { throw failure(status) }
    }

    func runCounting() throws -> Int {
        let db = sqlite3_db_handle(handle)
        // The difference is 0 for a statement that changes nothing. `sqlite3_changes` keeps its value after statements
        // that are not an INSERT, UPDATE or DELETE.
        let before = sqlite3_total_changes(db)
        try run()
        return Int(sqlite3_total_changes(db) &- before)
    }

    func runSoon() throws { try run() }

    // MARK: Rows

    func start() throws {
        hasRow = true
        try next()
    }

    func next() throws {
        // A step past the end would restart the statement.
        guard hasRow else { return }
        let status = sqlite3_step(handle)
        hasRow = status == SQLITE_ROW
        guard hasRow || status == SQLITE_DONE else { throw failure(status) }
    }

    func end() {
        sqlite3_reset(handle)
    }

    func integer(_ column: Int32) -> Int64 {
        sqlite3_column_int64(handle, column)
    }

    func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    func withBytes<R>(_ column: Int32, _ body: (Span<UInt8>) throws -> R) rethrows -> R {
        // The column's value stays at its address until the statement is stepped or reset, which `body` must not do.
        // SQLite gives its exact number of bytes.
        let start = sqlite3_column_blob(handle, column)?.assumingMemoryBound(to: UInt8.self)
        let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
        return try body(bytes.span)
    }
}
