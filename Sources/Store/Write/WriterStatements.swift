import Chat
import GRDB
import Wire

/// The writer's statements, prepared once.
///
/// Confined to the writer's connection.
final class WriterStatements {
    let changes: ChangeStatements
    private let db: Database
    let marks: ReadMarkStatements
    let members: MemberStatements
    let expiry: ExpiryStatements
    let jobs: JobStatements
    let bans: BanChangeStatements
    let erasures: ErasureStatements
    let totals: TotalStatements
    let lookup: LookupStatements
    let activity: ActivityStatements
    private let begin: PreparedStatement
    private let commit: PreparedStatement
    private let rollback: PreparedStatement
    private let insertRoomRow: PreparedStatement
    private let messages: MessageInsertion
    private let insertJournalRow: PreparedStatement
    private let deleteJournalRows: PreparedStatement

    init(_ db: Database) throws {
        self.db = db
        begin = try PreparedStatement("BEGIN IMMEDIATE", db)
        commit = try PreparedStatement("COMMIT", db)
        rollback = try PreparedStatement("ROLLBACK", db)
        marks = try ReadMarkStatements(db)
        members = try MemberStatements(db)
        expiry = try ExpiryStatements(db)
        jobs = try JobStatements(db)
        bans = try BanChangeStatements(db)
        erasures = try ErasureStatements(db)
        totals = try TotalStatements(db)
        lookup = try LookupStatements(db)
        activity = try ActivityStatements(db, lookup)
        changes = try ChangeStatements(db)
        insertRoomRow = try PreparedStatement("INSERT OR IGNORE INTO rooms (name, created_at) VALUES (?, ?)", db)
        messages = try MessageInsertion(db)
        insertJournalRow = try PreparedStatement("INSERT INTO journal (id, messages) VALUES (?, ?)", db)
        deleteJournalRows = try PreparedStatement("DELETE FROM journal WHERE id >= ? AND id < ?", db)
    }

    /// Runs `body` in a transaction, which is rolled back if it throws.
    ///
    /// GRDB's own transactions parse their SQL each time.
    func transaction(_ body: () throws -> Void) throws {
        try begin.run()
        do {
            try body()
            try commit.run()
        } catch {
            // After an I/O error or on a full disk, SQLite may have rolled back already. If the rollback fails, later
            // transactions fail to begin and report that.
            if db.isInsideTransaction { try? rollback.run() }
            throw error
        }
    }

    /// Returns a room's filed state; `nil` if it does not exist.
    func room(_ id: RoomID) throws -> RoomTable.Room? {
        guard let row = try lookup.row(of: id) else { return nil }
        let (head, rev, latest) = try lookup.progress(of: row.number)
        var room = RoomTable.Room(
            number: row.number, head: head, rev: rev, latest: Timestamp(milliseconds: latest),
            isPrivate: row.isPrivate)
        if row.isDeleted { room.markDeleted() }
        return room
    }

    /// Creates a room.
    ///
    /// - Returns: `nil` if the maximum number of rooms is reached.
    func insertRoom(_ id: RoomID, at time: Timestamp) throws -> RoomTable.Room? {
        try insertRoomRow.bind(id.string, at: 1)
        try insertRoomRow.bind(time.milliseconds, at: 2)
        try insertRoomRow.run()
        guard db.changesCount == 1 else { return nil }
        return RoomTable.Room(number: db.lastInsertedRowID, head: 0, rev: 0, latest: .earliest)
    }

    /// Files messages.
    ///
    /// - Throws: `DatabaseError`; `SQLITE_CONSTRAINT` if a `seq` or a sender's client message id is taken. Some messages
    ///   may have been filed then, so the transaction must be rolled back.
    func insert(_ new: [RecentMessage]) throws {
        try messages.insert(new)
        try totals.filed(new)
        try activity.filed(new)
    }

    /// Adds a row to the journal.
    func insertJournalRow(_ id: Int64, _ messages: [UInt8]) throws {
        try insertJournalRow.bind(id, at: 1)
        try insertJournalRow.run(with: messages, at: 2)
    }

    /// Deletes the journal's rows from `first` up to, but not including, `end`.
    func deleteJournalRows(from first: Int64, before end: Int64) throws {
        try deleteJournalRows.bind(first, at: 1)
        try deleteJournalRows.bind(end, at: 2)
        try deleteJournalRows.run()
    }
}
