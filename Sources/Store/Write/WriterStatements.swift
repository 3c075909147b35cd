import Chat
import GRDB
import Wire

/// The writer's statements, prepared once.
///
/// Confined to the writer's connection.
final class WriterStatements {
    /// Those that change messages.
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

    /// Makes one transaction of what `body` does, or nothing of it when it throws.
    ///
    /// GRDB's own transactions parse their SQL each time: some 29,000 instructions a commit.
    func transaction(_ body: () throws -> Void) throws {
        try begin.run()
        do {
            try body()
            try commit.run()
        } catch {
            // When the disk is full, or broken, SQLite has done that already. If it cannot be done, no transaction begins
            // after this one, and each says why.
            if db.isInsideTransaction { try? rollback.run() }
            throw error
        }
    }

    /// Where a room is; `nil` when nobody has used it.
    func room(_ id: RoomID) throws -> RoomTable.Room? {
        guard let row = try lookup.row(of: id) else { return nil }
        let (head, rev, latest) = try lookup.progress(of: row.number)
        var room = RoomTable.Room(
            number: row.number, head: head, rev: rev, latest: Timestamp(milliseconds: latest),
            isPrivate: row.isPrivate)
        if row.isDeleted { room.markDeleted() }
        return room
    }

    /// Makes a room at a time.
    ///
    /// - Returns: `nil` when there are as many rooms as there may be.
    func insertRoom(_ id: RoomID, at time: Timestamp) throws -> RoomTable.Room? {
        try insertRoomRow.bind(id.string, at: 1)
        try insertRoomRow.bind(time.milliseconds, at: 2)
        try insertRoomRow.run()
        guard db.changesCount == 1 else { return nil }
        return RoomTable.Room(number: db.lastInsertedRowID, head: 0, rev: 0, latest: .earliest)
    }

    /// Puts messages in their places.
    ///
    /// - Throws: `DatabaseError` `SQLITE_CONSTRAINT` when a place or a sender's client message id is taken. Some of the
    ///   messages may be in their places then: the transaction must be given up.
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

    /// Takes the rows from `first` on and before `end` out of the journal.
    func deleteJournalRows(from first: Int64, before end: Int64) throws {
        try deleteJournalRows.bind(first, at: 1)
        try deleteJournalRows.bind(end, at: 2)
        try deleteJournalRows.run()
    }
}
