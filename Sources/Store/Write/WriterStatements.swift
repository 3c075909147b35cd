import Chat
import Wire

/// The writer's statements, prepared once.
///
/// Confined to the writer's connection.
final class WriterStatements {
    let changes: ChangeStatements
    private let db: Connection
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
    private let messages: Insertion
    /// `nil` with PostgreSQL.
    private let journal: Journal?
    /// `nil` with SQLite, where a room's progress follows from its messages.
    private let updateProgress: PreparedStatement?
    /// The log of changes of access; `nil` with SQLite, which has one node.
    let events: AccessEventStatements?
    /// `nil` with SQLite, which has one writer.
    private let reserveRooms: PreparedStatement?
    private let lockRooms: PreparedStatement?
    private let selectTransaction: PostgresConnection.Statement?
    /// The number of the current transaction, once a statement has returned it, see ``UnknownCommit/transaction``.
    var transactionNumber: String?
    private let selectServer: PreparedStatement?

    private enum Insertion {
        case many(MessageInsertion)
        case one(PreparedStatement)
    }

    private struct Journal {
        let insert: PreparedStatement
        let delete: PreparedStatement
    }

    init(_ db: Connection) throws {
        self.db = db
        begin = try PreparedStatement(db.sql(sqlite: "BEGIN IMMEDIATE", postgres: "BEGIN"), db)
        commit = try PreparedStatement("COMMIT", db)
        rollback = try PreparedStatement("ROLLBACK", db)
        marks = try ReadMarkStatements(db)
        members = try MemberStatements(db)
        expiry = try ExpiryStatements(db)
        jobs = try JobStatements(db)
        bans = try BanChangeStatements(db)
        erasures = try ErasureStatements(db)
        totals = try TotalStatements(db)
        lookup = try LookupStatements(db, locksRooms: true)
        activity = try ActivityStatements(db, lookup)
        changes = try ChangeStatements(db)
        // SQLite ignores a row whose number is too large. PostgreSQL ignores a room that another node has just created.
        insertRoomRow = try PreparedStatement(
            db.sql(
                sqlite: "INSERT OR IGNORE INTO rooms (name, created_at) VALUES (?, ?) RETURNING id",
                postgres: "INSERT INTO rooms (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING id"), db)
        switch db {
        case .sqlite(let sqlite):
            messages = .many(try MessageInsertion(sqlite))
            journal = Journal(
                insert: try PreparedStatement("INSERT INTO journal (id, messages) VALUES (?, ?)", db),
                delete: try PreparedStatement("DELETE FROM journal WHERE id >= ? AND id < ?", db))
            updateProgress = nil
            events = nil
            reserveRooms = nil
            lockRooms = nil
            selectTransaction = nil
            selectServer = nil
        case .postgres(let postgres):
            // Only a transaction that changes or locks something has a number.
            selectTransaction = postgres.statement("SELECT pg_current_xact_id_if_assigned()::text")
            messages = .one(
                try PreparedStatement(
                    """
                    INSERT INTO messages (id, rev, created_at, sender, client_message_id, body)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """, db))
            journal = nil
            updateProgress = try PreparedStatement("UPDATE rooms SET head = ?, rev = ? WHERE id = ?", db)
            events = try AccessEventStatements(db)
            // Each locks in a fixed order, so that two transactions do not wait for each other. The first locks the
            // names of rooms that do not exist, which have no rows to lock, in the order of their hashes. The second
            // locks the other rooms in the order of their numbers.
            reserveRooms = try PreparedStatement(
                """
                SELECT pg_advisory_xact_lock(key) FROM (
                    SELECT DISTINCT hashtextextended(name, 0) AS key FROM unnest(CAST(? AS text[])) AS name
                    WHERE NOT EXISTS (SELECT 1 FROM rooms WHERE rooms.name = name.name) ORDER BY key OFFSET 0
                ) AS missing
                """, db)
            lockRooms = try PreparedStatement("SELECT 1 FROM rooms WHERE name = ANY(?) ORDER BY id FOR UPDATE", db)
            selectServer = try PreparedStatement(
                "SELECT events, (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM server", db)
        }
    }

    /// Returns the number of changes of access in the database, and its time; `nil` with SQLite.
    func server() throws -> (events: Int64, time: Timestamp)? {
        try selectServer?.firstRow { ($0.integer(0), Timestamp(milliseconds: $0.integer(1))) }
    }

    /// Runs `body` in a transaction, which is rolled back if it throws.
    ///
    ///
    /// - Parameter rooms: The rooms that the transaction may change. PostgreSQL locks them first.
    /// - Throws: ``UnknownCommit`` if the connection was lost in the commit.
    func transaction(locking rooms: [RoomID] = [], _ body: () throws -> Void) throws {
        try begin.runSoon()
        transactionNumber = nil
        let number = PostgresConnection.Answer()
        do {
            if let reserveRooms, let lockRooms, !rooms.isEmpty {
                try reserveRooms.bind(rooms.map(\.string), at: 1)
                try reserveRooms.runSoon()
                try lockRooms.bind(rooms.map(\.string), at: 1)
                try lockRooms.runSoon()
                if let selectTransaction, case .postgres(let postgres) = db {
                    try postgres.send(selectTransaction, for: number)
                }
            }
            try body()
            let transaction = transactionNumber ?? number.result.flatMap { $0.isNull(0, 0) ? nil : $0.text(0, 0) }
            do {
                try commit.run()
            } catch let error as PostgresError where error.kind == .connection {
                throw UnknownCommit(cause: error, transaction: transaction)
            }
        } catch {
            // After an I/O error or on a full disk, SQLite may have rolled back already. If the rollback fails, later
            // transactions fail to begin and report that.
            if db.isInTransaction { try? rollback.run() }
            throw error
        }
    }

    /// Returns a room's filed state; `nil` if it does not exist.
    func room(_ id: RoomID) throws -> RoomTable.Room? {
        guard let row = try lookup.row(of: id) else { return nil }
        let (head, rev, latest) = try lookup.progress(of: row)
        return RoomTable.Room(
            number: row.number,
            RoomFacts(
                head: head, rev: rev, latest: Timestamp(milliseconds: latest), isPrivate: row.isPrivate,
                isDeleted: row.isDeleted))
    }

    /// Creates a room.
    ///
    /// - Returns: `nil` if the maximum number of rooms is reached.
    func insertRoom(_ id: RoomID, at time: Timestamp) throws -> RoomTable.Room? {
        try insertRoomRow.bind(id.string, at: 1)
        try insertRoomRow.bind(time.milliseconds, at: 2)
        guard let number = try insertRoomRow.firstRow({ $0.integer(0) }) else {
            if db.isPostgres { throw PostgresError.madeElsewhere }
            return nil
        }
        return RoomTable.Room(number: number, RoomFacts())
    }

    /// Files messages.
    ///
    /// - Throws: `SQLiteError`; `SQLITE_CONSTRAINT` if a `seq` or a sender's client message id is taken. Some
    ///   messages may have been filed then, so the transaction must be rolled back.
    func insert(_ new: [RecentMessage]) throws {
        switch messages {
        case .many(let insertion): try insertion.insert(new)
        case .one(let statement): for message in new { try insert(message, by: statement) }
        }
        try totals.filed(new)
        try activity.filed(new)
    }

    private func insert(_ message: RecentMessage, by statement: PreparedStatement) throws {
        try statement.bind(RowKey(room: message.roomNumber, message.seq).rawValue, at: 1)
        try statement.bind(message.rev, at: 2)
        try statement.bind(message.createdAt.milliseconds, at: 3)
        try statement.bind(message.sender.string, at: 4)
        try statement.bind(message.clientMessageID, at: 5)
        try statement.bind(message.body, at: 6)
        try statement.run()
    }

    /// True if the rows of rooms have their progress.
    var storesProgress: Bool { updateProgress != nil }

    /// Stores the progress of a room that the transaction has changed. Does nothing with SQLite.
    func store(_ room: RoomTable.Room) throws {
        guard let updateProgress else { return }
        try updateProgress.bind(room.head, at: 1)
        try updateProgress.bind(room.rev, at: 2)
        try updateProgress.bind(room.number, at: 3)
        try updateProgress.run()
    }

    /// Adds a row to the journal. Only with SQLite.
    func insertJournalRow(_ id: Int64, _ messages: [UInt8]) throws {
        try journal!.insert.bind(id, at: 1)
        try journal!.insert.run(with: messages, at: 2)
    }

    /// Deletes the journal's rows, only with SQLite, from `first` up to, but not including, `end`.
    func deleteJournalRows(from first: Int64, before end: Int64) throws {
        try journal!.delete.bind(first, at: 1)
        try journal!.delete.bind(end, at: 2)
        try journal!.delete.run()
    }
}

/// The loss of the connection during a commit. It is unknown if the commit is durable.
struct UnknownCommit: Error {
    let cause: PostgresError
    /// The number of the transaction in PostgreSQL, which can tell later what became of it; `nil` if it is not known.
    var transaction: String?
    /// The submissions that may have been stored; `nil` for all.
    var tickets: Set<Ticket>?
}
