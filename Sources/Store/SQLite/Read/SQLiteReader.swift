import Chat
import Wire

/// The connection of one reading thread to SQLite.
///
/// Each transaction shows a room's rows, followed by the journal's messages of the room. Those are taken before the
/// transaction begins, see ``Journal``, so no message is missing: one that was filed in between is in its row.
struct SQLiteReader: ReaderConnection {
    let context: ReadContext
    private let database: SQLiteDatabase
    private let journal: Journal
    private let storage: StorageWatch
    private let deflater = PushDeflater()
    // Prepared on first use, because that may fail and succeed later.
    private var statements: SQLiteReaderStatements?

    /// Creates the connection from a database, which the thread closes in the end.
    init(_ database: SQLiteDatabase, _ journal: Journal, _ storage: StorageWatch, _ context: ReadContext) {
        self.database = database
        self.journal = journal
        self.storage = storage
        self.context = context
    }

    // An open file stays connected.
    var failure: String? { nil }
    var probeInterval: Duration? { nil }
    func probe() {}

    func check() throws {
        // The open file has been replaced or deleted, so its content is no longer the database's.
        if storage.isLost { throw Problem.storageLost }
    }

    mutating func close() {
        statements = nil
        database.close()
    }

    /// Runs `body` with the connection's statements.
    private mutating func use(_ body: (SQLiteReaderStatements) throws -> Void) throws {
        try database.use { db in
            let prepared = try statements ?? SQLiteReaderStatements(db)
            statements = prepared
            try body(prepared)
        }
    }

    mutating func withDatabase(_ body: (SQLiteConnection) throws -> Void) throws {
        try use { try body($0.shared.db) }
    }

    // MARK: Rooms

    mutating func answer(_ queries: ArraySlice<Query>) -> Int {
        let recent = journal.messages(of: queries.lazy.map { $0.room! })
        let context = context
        var count = 0
        do {
            try transaction(SQLiteView.Unfiled()) { transaction in
                let statements = transaction.store.own
                context.answer(queries, &count) { index, query in
                    try transaction.answer(query, SQLiteRoom(query.room!, recent: recent[index], statements))
                }
            }
        } catch {
            // The transaction could not begin.
            for query in queries { query.reply.fail(ReadContext.problem(error)) }
            return queries.count
        }
        return count
    }

    private mutating func transaction(
        _ unfiled: SQLiteView.Unfiled, _ body: (ReadTransaction<SQLiteView>) throws -> Void
    ) throws {
        let (context, deflater) = (context, deflater)
        try use { statements in
            try statements.inTransaction {
                try body(ReadTransaction(SQLiteView(own: statements, unfiled: unfiled), context, deflater))
            }
        }
    }

    // MARK: Many rooms

    mutating func transaction(_ body: (ReadTransaction<SQLiteView>) throws -> Void) throws {
        var unfiled = SQLiteView.Unfiled()
        unfiled.add(journal.rooms, journal)
        try transaction(unfiled, body)
    }

    mutating func transaction(
        showing rooms: (SQLiteConnection) throws -> [RoomID], _ body: (ReadTransaction<SQLiteView>) throws -> Void
    ) throws {
        var unfiled = SQLiteView.Unfiled()
        let journal = journal
        try use { statements in unfiled.add(try rooms(statements.shared.db), journal) }
        try transaction(unfiled, body)
    }

    /// Reads the user's rooms first, because only the database knows them, then takes their recent messages, and then
    /// begins the transaction:
    ///
    /// - No `seq` goes back. Clients learn of a message after its commit has put it into memory. A query made after
    ///   that finds it there or in the database, and ``SQLiteRoom`` uses the newer of the two.
    /// - A room that the user joined after the rooms were read is left out, as if the query had come just before. The
    ///   user was not a member when the query was made, or had not been told yet. A room that the user has left since
    ///   is left out too.
    ///
    /// The rooms read first are all rooms of the user, or all rooms with recent messages, whichever are fewer. In the
    /// second case the index of memberships by activity finds the rest, see ``ActivityStatements``. A list then costs
    /// as many lookups as it has rows, plus the rooms with recent messages, plus the user's rooms with many members.
    mutating func transaction(
        for user: UserID, where isWanted: (RoomID) -> Bool, _ body: (ReadTransaction<SQLiteView>) throws -> Void
    ) throws {
        var unfiled = SQLiteView.Unfiled()
        let activeCount = journal.roomCount
        let journal = journal
        try use { statements in
            let db = statements.shared.db
            if try db.hasActivities(), try db.countRooms(of: user, most: activeCount + 1) > activeCount {
                let active = journal.rooms
                for id in active where isWanted(id) {
                    if let number = try db.number(of: id, for: user) { unfiled.rooms[number] = id }
                }
                unfiled.active = Set(active)
            } else {
                try db.forEachRoom(of: user) { if isWanted($1) { unfiled.rooms[$0] = $1 } }
            }
        }
        unfiled.add(Array(unfiled.rooms.values), journal)
        try transaction(unfiled, body)
    }
}
