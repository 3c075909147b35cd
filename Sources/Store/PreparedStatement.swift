import GRDB
import GRDBSQLite

/// A statement that is bound and stepped without GRDB's values in between: for the few that run for every message.
///
/// GRDB makes, caches and finalizes it; this only spares the boxing of arguments and columns, which costs more than
/// SQLite itself on such small rows.
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

    /// Binds an integer to the parameter with this number, from 1.
    func bind(_ value: Int64, at index: Int32) {
        sqlite3_bind_int64(handle, index, value)
    }

    /// Binds NULL.
    func bindNull(at index: Int32) {
        sqlite3_bind_null(handle, index)
    }

    /// Binds text, which SQLite copies.
    func bind(_ value: String, at index: Int32) {
        var value = value
        value.withUTF8 { bytes in
            // SQLite reads as many bytes as it is told, and copies them before it returns.
            _ = bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_bind_text(handle, index, $0.baseAddress, Int32($0.count), PreparedStatement.copied)
            }
        }
    }

    /// Binds bytes, which SQLite copies.
    func bind(_ value: [UInt8], at index: Int32) {
        value.withUnsafeBytes { bytes in
            // SQLite reads as many bytes as it is told, and copies them before it returns.
            _ = sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), PreparedStatement.copied)
        }
    }

    // SQLITE_TRANSIENT, a cast of -1 to a function pointer, which Swift does not import.
    private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    /// Runs a statement that gives no rows.
    func run() throws {
        defer { sqlite3_reset(handle) }
        let status = sqlite3_step(handle)
        guard status == SQLITE_DONE else { throw failure(status) }
    }

    /// Runs a statement, handing over each row until `row` answers `false`.
    func forEachRow(_ row: (borrowing Row) throws -> Bool) throws {
        defer { sqlite3_reset(handle) }
        while true {
            let status = sqlite3_step(handle)
            if status == SQLITE_DONE { return }
            guard status == SQLITE_ROW else { throw failure(status) }
            if try !row(Row(handle: handle)) { return }
        }
    }

    /// Runs a statement whose rows are taken one at a time.
    func withRows(_ body: (inout Rows) throws -> Void) throws {
        defer { sqlite3_reset(handle) }
        var rows = Rows(statement: self)
        try rows.next()
        try body(&rows)
    }

    /// The rows of a running statement: the one at hand, and a way to the next.
    struct Rows: ~Copyable {
        fileprivate let statement: PreparedStatement
        /// Whether there is a row at hand.
        private(set) var hasRow = false
        /// The row at hand.
        let row: Row

        fileprivate init(statement: PreparedStatement) {
            self.statement = statement
            row = Row(handle: statement.handle)
        }

        /// Goes on to the next row; there is none after the last.
        mutating func next() throws {
            let status = sqlite3_step(statement.handle)
            switch status {
            case SQLITE_ROW: hasRow = true
            case SQLITE_DONE: hasRow = false
            default: throw statement.failure(status)
            }
        }
    }

    /// Runs a statement that gives one row at most.
    func firstRow<R>(_ row: (borrowing Row) throws -> R) throws -> R? {
        var result: R?
        try forEachRow {
            result = try row($0)
            return false
        }
        return result
    }

    private func failure(_ status: Int32) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: status),
            message: String(cString: sqlite3_errmsg(sqlite3_db_handle(handle))))
    }

    /// The row at which a statement stands. It cannot outlive the closure that it is handed to.
    struct Row: ~Copyable {
        fileprivate let handle: OpaquePointer

        /// A column's integer.
        func integer(_ column: Int32) -> Int64 {
            sqlite3_column_int64(handle, column)
        }

        /// Appends a column's bytes to `output`.
        func append(_ column: Int32, to output: inout [UInt8]) {
            let count = Int(sqlite3_column_bytes(handle, column))
            guard count > 0, let bytes = sqlite3_column_blob(handle, column) else { return }
            // The column's value stays until the statement is stepped again, which this call is over by then.
            output.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        }

        /// A column's bytes.
        func bytes(_ column: Int32) -> [UInt8] {
            var bytes: [UInt8] = []
            append(column, to: &bytes)
            return bytes
        }

        /// How many bytes a column has.
        func count(_ column: Int32) -> Int {
            Int(sqlite3_column_bytes(handle, column))
        }
    }
}
