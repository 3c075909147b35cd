import Chat
import GRDB
import Wire

/// What the writer's thread has of its own from one transaction to the next.
///
/// Confined to that thread.
struct WriterState {
    private let db: Database
    private let configuration: StoreConfiguration
    // Prepared when they are first needed: that may fail, and succeed later.
    private var statements: WriterStatements?
    private var rooms: RoomTable
    private(set) var journal: Journal
    /// The rooms that take no changes because their part of the database is damaged, see ``RowFailure``.
    private(set) var aside: Set<RoomID> = []
    /// True if the last commit failed because of damage that is not of one room.
    var isDamaged = false
    private let filter: ClientMessageFilter
    private let bans: BanTable
    /// The users who are being erased.
    private var erasing: Set<UserID> = []

    /// What a writer begins with.
    init(_ db: Database, _ journal: Journal, _ bans: BanTable, _ configuration: StoreConfiguration) {
        self.db = db
        self.bans = bans
        self.configuration = configuration
        self.journal = journal
        rooms = RoomTable(limit: configuration.cachedRooms)
        filter = ClientMessageFilter(bytes: configuration.clientMessageFilter)
    }

    /// The statements, prepared once.
    mutating func prepared() throws -> WriterStatements {
        if let statements { return statements }
        let new = try WriterStatements(db)
        erasing = try new.erasures.unfinished()
        statements = new
        return new
    }

    /// Sets a room aside. What it has in the journal stays there, and is filed when the log is opened the next time.
    ///
    /// - Returns: `false` when that would be more than there may be; nothing is changed then.
    /// - Throws: `DatabaseError`; nothing is changed then.
    mutating func setAside(_ room: RoomID) throws -> Bool {
        let bytes = journal.recent.messages(of: room).reduce(0) { $0 + $1.body.count }
        guard aside.count < configuration.asideRooms,
            bytes == 0 || journal.recent.asideBytes + bytes <= configuration.asideBytes
        else { return false }
        try journal.setAside(room, prepared())
        aside.insert(room)
        return true
    }

    /// Makes one transaction: files what is due, and does what `body` does.
    ///
    /// - Parameter submissions: how many `body` applies, at most.
    /// - Throws: ``RowFailure`` or `DatabaseError`; nothing is changed then.
    mutating func transact(
        _ filing: Backlog.Filing, submissions: Int = 0, _ body: (inout Commit) throws -> Void
    ) throws -> Commit {
        let statements = try prepared()
        // Taken out while it changes, and put back only if that lasts.
        let rooms = rooms
        self.rooms = RoomTable(limit: configuration.cachedRooms)
        var commit = Commit(
            statements, rooms: rooms, recent: journal.recent, filter: filter, bans: bans,
            erasing: erasing, filing: filing, aside: aside, submissions: submissions, configuration: configuration)
        var row: [UInt8] = []
        var firstRow: Int64 = 0
        try statements.transaction {
            try commit.file()
            try body(&commit)
            if journal.row == nil { try commit.storeInPlace() } else { row = commit.row() }
            firstRow = try journal.deleteSpentRows(statements, after: commit.filing, adding: row.count)
            if let number = journal.row, !row.isEmpty { try statements.insertJournalRow(number, row) }
        }
        commit.bans.apply(at: commit.time)
        erasing = commit.erasing
        self.rooms = commit.takeRooms()
        self.rooms.keepWithinLimit()
        self.journal.commit(
            commit.filing, commit.messages, at: commit.time, bytes: row.count, firstRow: firstRow)
        return commit
    }
}
