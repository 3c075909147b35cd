import GRDB
import Wire

/// The writer's side of the journal: which rows there are, and which are not needed any more.
///
/// A commit puts its messages into a row, and messages that have gathered there into their places; a row whose messages
/// are all in their places is deleted. After a crash the rows say what has not been filed.
///
/// Confined to the writer's thread.
struct Journal {
    /// The messages that only the journal has.
    let recent: RecentMessages
    private var rows: JournalRows
    /// The number of the row for the next room that is set aside. It and those after it count down from the first row.
    private var asideRow: Int64 = -1
    private let isUsed: Bool
    private let age: Int64

    /// True if every message is in its place, and the table has no row.
    var isEmpty: Bool { rows.count == 0 && recent.isEmpty }

    /// Returns whether there may be something in the rows before this one that was changed or removed since.
    func hasRows(before row: Int64) -> Bool { rows.count > 0 && rows.first < row }

    /// The messages that a commit has to file before the rows before this one can be deleted.
    func due(before row: Int64) -> Backlog.Filing { recent.due(before: row, .earliest) }

    /// The row of the next commit that adds one.
    var nextRow: Int64 { rows.next }

    /// The row of the next commit; `nil` when messages are put in their places at once.
    var row: Int64? { isUsed ? nextRow : nil }

    /// An empty journal.
    init(_ configuration: StoreConfiguration) {
        isUsed = configuration.journalMessages > 0
        recent = RecentMessages(
            Backlog.Limits(
                messages: configuration.journalMessages, bytes: configuration.journalBytes,
                messagesOfRoom: configuration.journalMessagesOfRoom))
        rows = JournalRows(JournalRows.Limits(rows: configuration.journalRows, bytes: configuration.journalRowBytes))
        age = Int64(configuration.journalAge)
    }

    /// Reads what a log has left in the journal that was not closed.
    ///
    /// - Throws: `DatabaseError`, `SQLITE_CORRUPT` when the rows do not continue what has been filed.
    mutating func load(_ db: Database, at now: Timestamp) throws {
        let lookup = try LookupStatements(db)
        let select = try PreparedStatement("SELECT id, messages FROM journal ORDER BY id", db)
        var rooms: [Int64: (id: RoomID, head: Int64, isDeleted: Bool)] = [:]
        try select.forEachRow { row in
            let id = row.integer(0)
            let bytes = row.bytes(1)
            let messages = try JournalRow.messages(in: bytes) { number in
                if rooms[number] == nil { rooms[number] = try lookup.room(number) }
                return rooms[number]?.id
            }.filter { message in
                // What has been filed is here as well until the row is deleted; of a deleted room all was filed.
                let (_, head, isDeleted) = rooms[message.roomNumber]!
                guard message.seq > head, !isDeleted else { return false }
                guard message.seq == head + 1 else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the journal lacks messages")
                }
                rooms[message.roomNumber]!.head = message.seq
                return true
            }
            recent.commit(Backlog.Filing(), messages, row: id, at: now)
            rows.append(id, bytes: bytes.count)
            // Messages that an earlier run set aside are filed like all others, if that is possible now.
            asideRow = min(asideRow, id - 1)
        }
    }

    /// What a commit at `time` has to file for all bounds to hold.
    func due(at time: Timestamp) -> Backlog.Filing {
        recent.due(before: rows.oldest, Timestamp(milliseconds: time.milliseconds - age))
    }

    /// Deletes some of the rows that are not needed when `filing` has been filed, before a commit adds one of so many bytes,
    /// or none.
    ///
    /// - Returns: the first row that is there then, for ``commit(_:_:at:bytes:firstRow:)``.
    func deleteSpentRows(
        _ statements: WriterStatements, after filing: Backlog.Filing, adding bytes: Int
    ) throws -> Int64 {
        if rows.count == 0 { return nextRow }
        // With nothing left but what is being added, all that were there before can go.
        let first = rows.firstLeft(needed: recent.firstRow(after: filing), adding: bytes)
        if first > rows.first { try statements.deleteJournalRows(from: rows.first, before: first) }
        return first
    }

    /// Moves a room's messages to a row of their own, which no commit deletes, so that the rows that hold them now can go.
    mutating func setAside(_ room: RoomID, _ statements: WriterStatements) throws {
        let messages = recent.messages(of: room)
        if messages.isEmpty { return }
        try statements.transaction {
            try statements.insertJournalRow(asideRow, JournalRow.bytes(of: messages))
        }
        asideRow -= 1
        recent.setAside(room)
    }

    /// A commit is durable.
    ///
    /// - Parameters:
    ///   - time: that of the commit.
    ///   - bytes: of the row that it has added; 0 when it has added none.
    ///   - firstRow: the first row that it has left there.
    mutating func commit(
        _ filing: Backlog.Filing, _ messages: [RecentMessage], at time: Timestamp, bytes: Int, firstRow: Int64
    ) {
        recent.commit(filing, isUsed ? messages : [], row: nextRow, at: time)
        rows.removeAll(before: firstRow)
        if bytes > 0 { rows.append(nextRow, bytes: bytes) }
    }
}
