import Chat
import Wire

/// A reader's prepared statements on PostgreSQL.
///
/// A statement that is sent ahead is answered together with the connection's next one, so that there is no wait for it
/// alone. The call that needs it then finds its answer.
///
/// Confined to the reader's connection.
final class PostgresReaderStatements {
    /// The statements that both stores have.
    let shared: ReaderStatements
    let pages: PageStatement
    let access: AccessStatements
    private let connection: PostgresConnection
    private let searchTime: PreparedStatement
    private let searchRev: PreparedStatement
    private let selectRooms: PreparedStatement

    init(_ connection: PostgresConnection) throws {
        self.connection = connection
        try connection.planOnceByIndexes()
        let db = Connection.postgres(connection)
        shared = try ReaderStatements(db)
        pages = PageStatement(connection)
        access = try AccessStatements(connection)
        searchTime = try PreparedStatement(Self.search("created_at >= ?3"), db)
        searchRev = try PreparedStatement(Self.search("rev > ?3"), db)
        // Deleted rooms have no members; a job removes their rows in parts. The membership may be that of an erased user of
        // this name.
        selectRooms = try PreparedStatement(
            """
            SELECT rooms.id, coalesce(rooms.active_at, rooms.created_at), engaged, name
            FROM members JOIN rooms ON rooms.id = members.room AND rooms.deleted = 0
            WHERE members.user = ?1 AND \(ErasureStatements.isPresent("?1", in: "members.room"))
            """, db)
    }

    /// Runs `body` in a read transaction: all reads see one snapshot.
    func inTransaction(_ body: () throws -> Void) rethrows {
        connection.beginTransaction()
        defer { connection.endTransaction() }
        try body()
    }

    /// Returns the rooms of a user, in no order.
    func rooms(of user: UserID) throws -> [OwnRoom] {
        try selectRooms.bind(user.string, at: 1)
        return try selectRooms.allRows { row in
            OwnRoom(
                number: row.integer(0),
                activity: InboxCursor.Activity(milliseconds: row.integer(1), room: RoomID(trusted: row.text(3))),
                isEngaged: row.integer(2) != 0)
        }
    }

    // MARK: Searches

    /// Returns the first `seq` from 1 through `head` whose message was stored at `time` or later, or else `head + 1`.
    func firstSeq(room: Int64, head: Int64, storedAt time: Timestamp) throws -> Int64 {
        try firstSeq(searchTime, room: room, head: head, time.milliseconds)
    }

    /// Returns the first `seq` from 1 through `head` whose message was sent after revision `since`, or else `head + 1`.
    func firstSeq(room: Int64, head: Int64, sentAfter since: Int64) throws -> Int64 {
        try firstSeq(searchRev, room: room, head: head, since)
    }

    private func firstSeq(_ search: PreparedStatement, room: Int64, head: Int64, _ bound: Int64) throws -> Int64 {
        // Not the key of `head + 1`, which a full room does not have.
        let start = RowKey(room: room, 0).rawValue
        try search.bind(start + 1, at: 1)
        try search.bind(start + head + 1, at: 2)
        try search.bind(bound, at: 3)
        return try search.firstRow { $0.integer(0) - start } ?? head + 1
    }

    /// Returns a binary search among messages for the first that fulfils a condition, which all later ones fulfil too. It
    /// takes one round trip.
    private static func search(_ condition: String) -> String {
        """
        WITH RECURSIVE search (low, high) AS (
            SELECT ?1::bigint, ?2::bigint
            UNION ALL
            SELECT CASE WHEN found THEN low ELSE middle + 1 END, CASE WHEN found THEN middle ELSE high END
            FROM (
                SELECT low, high, middle,
                    coalesce((SELECT \(condition) FROM messages WHERE id = middle), true) AS found
                FROM (SELECT low, high, low + (high - low) / 2 AS middle FROM search WHERE low < high) AS place
            ) AS step
        )
        SELECT low FROM search WHERE low = high
        """
    }

    // MARK: Statements sent ahead

    /// Sends ahead what reads a user's read mark and the expired messages.
    func sendAhead(readStateOf room: Int64, for user: UserID) throws {
        try shared.lookup.runAhead(readMarkOf: user, in: room)
        try shared.unread.selectExpired.bind(room, at: 1)
        try shared.unread.selectExpired.runAhead()
    }

    /// Sends ahead what reads a room as a user sees it, apart from the unread messages.
    func sendAhead(summaryOf room: Int64, for user: UserID?) throws {
        try shared.rooms.selectTitle.bind(room, at: 1)
        try shared.rooms.selectTitle.runAhead()
        guard let user else { return }
        try sendAhead(readStateOf: room, for: user)
        try shared.lookup.runAhead(roleOf: user, in: room)
    }

    /// Sends ahead what reads a room's newest message and its unread messages.
    func sendAhead(newestOf room: PostgresRoom, for user: UserID) throws {
        let (number, head) = (room.number, room.state.head)
        guard head > 0 else { return }
        try shared.selectMessage.bind(RowKey(room: number, head).rawValue, at: 1)
        try shared.selectMessage.runAhead()
        let mark = try shared.lookup.readMark(of: user, in: number)
        let start = try shared.unread.start(after: mark, in: number, for: user)
        guard start < head else { return }
        try shared.unread.bindScan(from: start, through: head, in: number, for: user)
        try shared.unread.count.runAhead()
    }

    /// Sends ahead what reads a room's changes.
    func sendAhead(changesIn room: Int64, since: Int64, first: Int64) throws {
        try shared.bindChanges(room: room, since: since, first: first)
        try shared.selectUnchanged.runAhead()
        try shared.selectChanged.runAhead()
    }
}
