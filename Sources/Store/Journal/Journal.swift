import GRDB
import Wire

/// The writer's side of the journal: which rows there are, and which are not needed any more.
///
/// A commit puts its messages into a row, and messages that have gathered there into their places; a row whose messages
/// are all in their places is deleted. After a crash the rows say what has not been filed.
///
/// Confined to the writer's thread.
struct Journal {
    /// What is in the journal only.
    let recent: RecentMessages
    private var nextRow: Int64 = 1
    /// The first row that has not been deleted.
    private var firstStored: Int64 = 1

    /// Whether every message is in its place, and the table has no row.
    var isEmpty: Bool { firstStored == nextRow && recent.isEmpty }

    private let isUsed: Bool

    /// The row of the next commit; `nil` when messages are put in their places at once.
    var row: Int64? { isUsed ? nextRow : nil }

    /// How many rows that are not needed a commit deletes when it adds one, before it does. The one that it adds takes
    /// their pages; those of more rows would be overwritten with zeros, and written once more when they are taken.
    private static let rowsReplaced = 2

    /// An empty journal.
    init(_ configuration: StoreConfiguration) {
        isUsed = configuration.journalMessages > 0
        recent = RecentMessages(
            Backlog.Limits(
                messages: configuration.journalMessages, bytes: configuration.journalBytes,
                messagesOfRoom: configuration.journalMessagesOfRoom))
    }

    /// Reads what a log has left in the journal that was not closed.
    ///
    /// - Throws: `DatabaseError`, `SQLITE_CORRUPT` when the rows do not continue what has been filed.
    mutating func load(_ db: Database) throws {
        let lookup = try LookupStatements(db)
        let rows = try PreparedStatement("SELECT id, messages FROM journal ORDER BY id", db)
        var rooms: [Int64: (id: RoomID, head: Int64)] = [:]
        try rows.forEachRow { row in
            let id = row.integer(0)
            if nextRow == 1 { firstStored = id }
            let messages = try JournalRow.messages(in: row.bytes(1)) { number in
                if rooms[number] == nil { rooms[number] = try lookup.room(number) }
                return rooms[number]?.id
            }.filter { message in
                // What has been filed is here as well until the row is deleted.
                let head = rooms[message.roomNumber]!.head
                guard message.seq > head else { return false }
                guard message.seq == head + 1 else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the journal lacks messages")
                }
                rooms[message.roomNumber]!.head = message.seq
                return true
            }
            recent.commit(Backlog.Filing(), messages, row: id)
            nextRow = id + 1
        }
    }

    /// Deletes rows that are not needed when `filing` has been filed: all, or some before a commit adds one.
    ///
    /// - Returns: the first row that is there then, for ``commit(_:_:firstStored:)``.
    func deleteSpentRows(_ statements: WriterStatements, after filing: Backlog.Filing, adding: Bool) throws -> Int64 {
        let needed = recent.firstRow(after: filing)
        // With nothing left but what is being added, all that were there before can go.
        let spent = needed ?? nextRow
        let first = adding ? min(spent, firstStored + Int64(Self.rowsReplaced)) : spent
        guard first > firstStored else { return firstStored }
        try statements.deleteJournalRows(before: first)
        return first
    }

    /// A commit is durable.
    mutating func commit(
        _ filing: Backlog.Filing, _ messages: [RecentMessage], firstStored: Int64
    ) {
        recent.commit(filing, isUsed ? messages : [], row: nextRow)
        if isUsed, !messages.isEmpty { nextRow += 1 }
        self.firstStored = firstStored
    }
}
