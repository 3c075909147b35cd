import Wire

/// A reader's prepared statements on SQLite.
///
/// Confined to the reader's connection.
final class SQLiteReaderStatements {
    /// The statements that both stores have.
    let shared: ReaderStatements
    let inbox: InboxStatements
    private let begin: PreparedStatement
    private let commit: PreparedStatement
    private let rollback: PreparedStatement
    private let selectTime: PreparedStatement
    private let selectRev: PreparedStatement

    init(_ connection: SQLiteConnection) throws {
        let db = Connection.sqlite(connection)
        shared = try ReaderStatements(db)
        inbox = try InboxStatements(db)
        begin = try PreparedStatement("BEGIN DEFERRED", db)
        commit = try PreparedStatement("COMMIT", db)
        rollback = try PreparedStatement("ROLLBACK", db)
        selectTime = try PreparedStatement("SELECT created_at FROM messages WHERE id = ?", db)
        selectRev = try PreparedStatement("SELECT rev FROM messages WHERE id = ?", db)
    }

    /// Runs `body` in a read transaction: all reads see one snapshot.
    ///
    /// Preparing these statements anew for each transaction is a considerable part of the cost of a page
    /// (`scripts/compare --scenarios F`).
    func inTransaction(_ body: () throws -> Void) throws {
        try begin.run()
        // Nothing was written, so what was read is valid even if the COMMIT fails. After an error SQLite may have ended
        // the transaction already.
        defer { do { try commit.run() } catch { try? rollback.run() } }
        try body()
    }

    /// Returns the time when a message was stored, in milliseconds since 1970.
    func createdAt(room: Int64, seq: Int64) throws -> Int64? {
        try selectTime.bind(RowKey(room: room, seq).rawValue, at: 1)
        return try selectTime.firstRow { $0.integer(0) }
    }

    /// Returns the room's revision at which a message was sent.
    func rev(room: Int64, seq: Int64) throws -> Int64? {
        try selectRev.bind(RowKey(room: room, seq).rawValue, at: 1)
        return try selectRev.firstRow { $0.integer(0) }
    }
}
