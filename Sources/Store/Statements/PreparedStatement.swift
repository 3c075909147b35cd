import GRDB
import GRDBSQLite

/// A statement that is bound and stepped without GRDB's values in between: for the few that run for every message.
///
/// GRDB makes and finalizes it; this only spares the boxing of arguments and columns, which costs more than SQLite
/// itself on such small rows.
///
/// Confined to its connection's queue, like the `Database` that it comes from.
struct PreparedStatement {
    private let statement: Statement
    // SQLite's statement, which lives as long as `statement` does.
    private let handle: OpaquePointer

    /// Prepares a statement for the life of the connection.
    init(_ sql: String, _ db: Database) throws {
        statement = try db.makeStatement(sql: sql)
        handle = statement.sqliteStatement
    }

    // MARK: Parameters, numbered from 1

    /// Binds an integer.
    func bind(_ value: Int64, at index: Int32) throws {
        try check(sqlite3_bind_int64(handle, index, value))
    }

    /// Binds text, which is not empty, or NULL.
    func bind(_ value: String?, at index: Int32) throws {
        guard var value else { return try check(sqlite3_bind_null(handle, index)) }
        let status = value.withUTF8 { bytes in
            // SQLite reads as many bytes as it is told, and copies them before it returns.
            bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_bind_text(handle, index, $0.baseAddress, Int32($0.count), Self.copied)
            }
        }
        try check(status)
    }

    /// Binds bytes, of which there is one at least.
    func bind(_ value: [UInt8], at index: Int32) throws {
        let status = value.withUnsafeBytes { bytes in
            // SQLite reads as many bytes as it is told, and copies them before it returns.
            sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), Self.copied)
        }
        try check(status)
    }

    /// Binds text without copying it.
    ///
    /// - Parameter value: UTF-8, which is not empty, or `nil` for NULL. It must stay where it is until the statement is
    ///   bound anew, or not run any more.
    func bind(borrowedText value: UnsafeRawBufferPointer?, at index: Int32) throws {
        guard let value else { return try check(sqlite3_bind_null(handle, index)) }
        let start = value.baseAddress?.assumingMemoryBound(to: CChar.self)
        try check(sqlite3_bind_text(handle, index, start, Int32(value.count), nil))
    }

    /// Binds bytes without copying them, as ``bind(borrowedText:at:)`` binds text.
    func bind(borrowed value: UnsafeRawBufferPointer, at index: Int32) throws {
        try check(sqlite3_bind_blob(handle, index, value.baseAddress, Int32(value.count), nil))
    }

    /// Runs a statement that gives no rows, with bytes at a parameter, of which there is one at least. They are not copied,
    /// and the parameter is NULL afterwards.
    func run(with value: [UInt8], at index: Int32) throws {
        try value.withUnsafeBytes { bytes in
            // Unbound before the bytes may go.
            defer { sqlite3_bind_null(handle, index) }
            try bind(borrowed: bytes, at: index)
            try run()
        }
    }

    // SQLITE_TRANSIENT, a cast of -1 to a function pointer, which Swift does not import.
    private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    /// Without this check a value that could not be bound would leave the one of the message before in its place.
    private func check(_ status: Int32) throws {
        guard status == SQLITE_OK else { throw failure(status) }
    }

    private func failure(_ status: Int32) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: status),
            message: String(cString: sqlite3_errmsg(sqlite3_db_handle(handle))))
    }

    // MARK: Rows

    /// Runs a statement that gives no rows.
    func run() throws {
        defer { sqlite3_reset(handle) }
        let status = sqlite3_step(handle)
        guard status == SQLITE_DONE else { throw failure(status) }
    }

    /// Runs a statement that gives one row at most.
    func firstRow<R>(_ row: (borrowing Row) throws -> R) throws -> R? {
        try withRows { rows in
            rows.hasRow ? try row(rows.row) : nil
        }
    }

    /// Runs a statement, handing over each row.
    func forEachRow(_ row: (borrowing Row) throws -> Void) throws {
        try withRows { rows in
            while rows.hasRow {
                try row(rows.row)
                try rows.next()
            }
        }
    }

    /// Runs a statement whose rows are taken one at a time. It stands at the first one.
    func withRows<R>(_ body: (inout Rows) throws -> R) throws -> R {
        defer { sqlite3_reset(handle) }
        var rows = Rows(statement: self)
        try rows.next()
        return try body(&rows)
    }

    /// The rows of a running statement: the one at hand, and a way to the next.
    struct Rows: ~Copyable {
        private let statement: PreparedStatement
        /// True if there is a row at hand. Once there is none, there will be none.
        private(set) var hasRow = true
        /// The row at hand.
        let row: Row

        fileprivate init(statement: PreparedStatement) {
            self.statement = statement
            row = Row(handle: statement.handle)
        }

        /// Goes on to the next row.
        mutating func next() throws {
            // A step beyond the end would start over.
            guard hasRow else { return }
            let status = sqlite3_step(statement.handle)
            hasRow = status == SQLITE_ROW
            guard hasRow || status == SQLITE_DONE else { throw statement.failure(status) }
        }
    }

    /// The row at which a statement stands. It cannot outlive the closure that it is handed to.
    struct Row: ~Copyable {
        fileprivate let handle: OpaquePointer

        /// A column's integer.
        func integer(_ column: Int32) -> Int64 {
            sqlite3_column_int64(handle, column)
        }

        /// A column's text.
        func text(_ column: Int32) -> String {
            withBytes(column) { bytes in
                // The pointer is used only inside the closure, while the span's owner is there.
                bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
            }
        }

        /// Returns whether a column has no value.
        func isNull(_ column: Int32) -> Bool {
            sqlite3_column_type(handle, column) == SQLITE_NULL
        }

        /// Hands over a column's bytes, which are gone when `body` returns.
        func withBytes<R>(_ column: Int32, _ body: (Span<UInt8>) throws -> R) rethrows -> R {
            // The column's value stays where it is until the statement is stepped or reset, which `body` cannot do; and
            // it has as many bytes as SQLite says.
            let start = sqlite3_column_blob(handle, column)?.assumingMemoryBound(to: UInt8.self)
            let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
            return try body(bytes.span)
        }

        /// Appends a column's bytes to `output`.
        func append(_ column: Int32, to output: inout [UInt8]) {
            withBytes(column) { bytes in
                // The pointer is used only inside the closure, while the span's owner is there.
                bytes.withUnsafeBufferPointer { output.append(contentsOf: $0) }
            }
        }

        /// A column's bytes.
        func bytes(_ column: Int32) -> [UInt8] {
            var bytes: [UInt8] = []
            append(column, to: &bytes)
            return bytes
        }
    }
}
