/// A connection to the database, for statements that SQLite and PostgreSQL both execute.
///
/// The two schemas have the same tables, with the same meaning: see `Migrations` and ``PostgresSchema``. Statements
/// must know these differences:
///
/// - With PostgreSQL there is no journal. Every commit files its messages.
/// - With PostgreSQL a room's row has its `head` and `rev`, and the lock of the row orders the commits of all nodes.
/// - With PostgreSQL the activity of a room is in the room's row, and not in those of its members.
///
/// Confined to the connection's queue or thread.
enum Connection {
    /// SQLite, on its queue.
    case sqlite(SQLiteConnection)
    /// PostgreSQL, on its thread.
    case postgres(PostgresConnection)

    /// True if the database is PostgreSQL.
    var isPostgres: Bool {
        if case .postgres = self { true } else { false }
    }

    var isInTransaction: Bool {
        switch self {
        case .sqlite(let db): db.isInTransaction
        case .postgres(let connection): connection.isInTransaction
        }
    }

    /// Returns the SQL for this database, where the two differ.
    func sql(sqlite: String, postgres: String) -> String {
        isPostgres ? postgres : sqlite
    }
}
