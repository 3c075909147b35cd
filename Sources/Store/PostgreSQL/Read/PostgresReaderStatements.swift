import Chat
import Wire

/// A reader's prepared statements on PostgreSQL.
///
/// Confined to the reader's connection.
final class PostgresReaderStatements {
    /// The statements that both stores have.
    let shared: ReaderStatements<PostgresConnection>
    let pages: PageStatement
    private let db: PostgresConnection

    init(_ db: PostgresConnection) throws {
        self.db = db
        shared = try ReaderStatements(db)
        pages = PageStatement(db)
    }

    /// Runs `body` in a read transaction: all reads see one snapshot.
    func inTransaction(_ body: () throws -> Void) rethrows {
        db.beginTransaction()
        defer { db.endTransaction() }
        try body()
    }

    // MARK: Statements sent ahead

    /// Reads a user's read mark and the expired messages.
    func readMarks(of user: UserID, in room: Int64) throws {
        _ = try db.readMark(of: user, in: room)
        _ = try db.expired(in: room)
    }

    /// Reads what a user sees of a room, apart from its messages.
    func readSummary(of room: Int64, for user: UserID?) throws {
        _ = try db.settings(of: room, for: user)
        guard let user else { return }
        try readMarks(of: user, in: room)
        _ = try db.role(of: user, in: room)
    }

    /// Sends ahead what reads a room's newest message and its unread messages.
    func sendAhead(newestOf room: PostgresRoom, for user: UserID) throws {
        let (number, head) = (room.number, room.state.head)
        let start = try shared.unreadStart(after: db.readMark(of: user, in: number), in: number, for: user)
        try db.sendAhead {
            _ = try db.message(room: number, seq: head)
            guard start < head else { return }
            let end = RowKey(room: number, head)
            _ = try db.unread(after: RowKey(room: number, start), through: end, head: end, for: user)
        }
    }
}

extension PostgresConnection {
    /// Returns the rooms of a user, in no order.
    func rooms(of user: UserID) throws -> [OwnRoom] {
        // Deleted rooms have no members; a job removes their rows in parts. The membership may be that of an erased user of
        // this name.
        try all(
            """
            SELECT rooms.id, coalesce(rooms.active_at, rooms.created_at), engaged, name, hidden
            FROM members JOIN rooms ON rooms.id = members.room AND rooms.deleted = 0
            WHERE members."user" = $1 AND \(Erasures.isPresent("$1", in: "members.room"))
            """, user
        ) { row in
            OwnRoom(
                number: row.integer(0),
                activity: InboxCursor.Activity(milliseconds: row.integer(1), room: RoomID(trusted: row.text(3))),
                isEngaged: row.integer(2) != 0, isHidden: row.integer(4) != 0)
        }
    }

    func roomMentions(of user: UserID, before position: (Int64, Int64), limit: Int) throws -> [MentionRow] {
        try all(
            """
            SELECT found.message, found.created_at, rooms.name, rooms.private, rooms.deleted, 1
            FROM members JOIN rooms ON rooms.id = members.room AND rooms.deleted = 0 CROSS JOIN LATERAL (
                SELECT message, created_at FROM mentions
                WHERE mentions."user" = '\(MentionRows.room)' AND \(StoredTable.isMessage("message", of: "rooms.id"))
                    AND (created_at, message) < ($1, $2)
                    AND \(MentionRows.counts(for: "$3", by: "sender"))
                ORDER BY message DESC LIMIT $4
            ) AS found
            WHERE members."user" = $3 AND \(Erasures.isPresent("$3", in: "members.room"))
            ORDER BY found.created_at DESC, found.message DESC LIMIT $4
            """, position.0, position.1, user, limit
        ) { MentionRow($0) }
    }

    /// Returns the first `seq` from 1 through `head` whose message was stored at `time` or later, or else `head + 1`.
    func firstSeq(room: Int64, head: Int64, storedAt time: Timestamp) throws -> Int64 {
        try firstSeq(Self.searchTime, room: room, head: head, time.milliseconds)
    }

    /// Returns the first `seq` from 1 through `head` whose message was sent after revision `since`, or else `head + 1`.
    func firstSeq(room: Int64, head: Int64, sentAfter since: Int64) throws -> Int64 {
        try firstSeq(Self.searchRev, room: room, head: head, since)
    }

    private func firstSeq(_ search: String, room: Int64, head: Int64, _ bound: Int64) throws -> Int64 {
        // Not the key of `head + 1`, which a full room does not have.
        let start = RowKey(room: room, 0).rawValue
        return try first(search, start + 1, start + head + 1, bound) { $0.integer(0) - start } ?? head + 1
    }

    private static let searchTime = search("created_at >= $3")
    private static let searchRev = search("rev > $3")

    /// Returns a binary search among messages for the first that fulfills a condition, which all later ones fulfill too.
    /// It takes one round trip.
    private static func search(_ condition: String) -> String {
        """
        WITH RECURSIVE search (low, high) AS (
            SELECT $1::bigint, $2::bigint
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
}
