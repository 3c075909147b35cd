import Chat
import Wire

/// The statements by which SQLite's writer stores messages, prepared once.
///
/// Confined to the writer's connection.
final class WriterStatements {
    let db: SQLiteConnection
    let activity: ActivityStatements
    let search: SearchIndex
    private let messages: MessageInsertion
    private let addTotals: SQLiteStatement
    private let insertRow: SQLiteStatement
    private let deleteRows: SQLiteStatement

    init(_ db: SQLiteConnection, _ configuration: StoreConfiguration = StoreConfiguration()) throws {
        self.db = db
        search = SearchIndex(db, configuration)
        activity = try ActivityStatements(db)
        messages = try MessageInsertion(db)
        addTotals = try db.prepare("UPDATE rooms SET bytes = bytes + ?, active_at = ? WHERE id = ?")
        insertRow = try db.prepare("INSERT INTO journal (id, messages) VALUES (?, ?)")
        deleteRows = try db.prepare("DELETE FROM journal WHERE id >= ? AND id < ?")
    }

    /// Creates a room.
    ///
    /// - Returns: Its number; `nil` if the maximum number of rooms is reached.
    func insertRoom(_ id: RoomID, at time: Timestamp) throws -> Int64? {
        // A row whose number is too large is ignored.
        try db.first("INSERT OR IGNORE INTO rooms (name, created_at) VALUES ($1, $2) RETURNING id", id, time) {
            $0.integer(0)
        }
    }

    /// Files messages.
    ///
    /// - Throws: `SQLiteError`; `SQLITE_CONSTRAINT` if a `seq` or a sender's client message id is taken. Some
    ///   messages may have been filed then, so the transaction must be rolled back.
    func insert(_ new: [RecentMessage]) throws {
        try messages.insert(new)
        try addTotals(of: new)
        try activity.filed(new)
        search.filed(new)
    }

    /// Adds messages to the totals of their rooms, with one update for each run of messages of the same room.
    private func addTotals(of messages: [RecentMessage]) throws {
        var rest = messages[...]
        while var last = rest.first {
            var bytes = 0
            while let next = rest.first, next.roomNumber == last.roomNumber {
                bytes += next.body.count
                last = next
                rest.removeFirst()
            }
            try addTotals.bind(Int64(bytes), at: 1)
            try addTotals.bind(last.createdAt.milliseconds, at: 2)
            try addTotals.bind(last.roomNumber, at: 3)
            try addTotals.run()
        }
    }

    /// Adds a row to the journal.
    func insertJournalRow(_ id: Int64, _ messages: [UInt8]) throws {
        try insertRow.bind(id, at: 1)
        try insertRow.run(with: messages, at: 2)
    }

    /// Deletes the journal's rows from `first` up to, but not including, `end`.
    func deleteJournalRows(from first: Int64, before end: Int64) throws {
        try deleteRows.bind(first, at: 1)
        try deleteRows.bind(end, at: 2)
        try deleteRows.run()
    }
}
