import Wire

/// A reader's prepared statements on SQLite.
///
/// Confined to the reader's connection.
final class SQLiteReaderStatements {
    /// The statements that both stores have.
    let shared: ReaderStatements<SQLiteConnection>
    private let begin: SQLiteStatement
    private let commit: SQLiteStatement
    private let rollback: SQLiteStatement

    init(_ db: SQLiteConnection) throws {
        shared = try ReaderStatements(db)
        begin = try db.prepare("BEGIN DEFERRED")
        commit = try db.prepare("COMMIT")
        rollback = try db.prepare("ROLLBACK")
    }

    /// Runs `body` in a read transaction: all reads see one snapshot.
    func inTransaction(_ body: () throws -> Void) throws {
        try begin.run()
        // Nothing was written, so what was read is valid even if the COMMIT fails. After an error SQLite may have ended
        // the transaction already.
        defer { do { try commit.run() } catch { try? rollback.run() } }
        try body()
    }
}

extension SQLiteConnection {
    /// Returns the time when a message was stored, in milliseconds since 1970.
    func createdAt(room: Int64, seq: Int64) throws -> Int64? {
        try first("SELECT created_at FROM messages WHERE id = $1", RowKey(room: room, seq)) { $0.integer(0) }
    }
}
