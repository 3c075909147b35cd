import Chat
import Wire

/// A reader's prepared statements.
///
/// Confined to the reader's connection.
final class ReaderStatements {
    let unread: UnreadStatements
    let rooms: RoomStatements
    let lookup: LookupStatements
    let inbox: InboxStatements
    let bans: BanStatements
    let erasures: ErasureStatusStatement
    let admin: AdminStatements
    /// Reads pages; only with PostgreSQL.
    let pages: PageStatement?
    /// Reads events of access; only with PostgreSQL.
    let access: AccessStatements?
    // Nil with SQLite.
    private let postgres: PostgresConnection?
    private let begin: PreparedStatement
    private let commit: PreparedStatement
    private let rollback: PreparedStatement
    // Nil with SQLite, where a search needs no round trips.
    private let searchTime: PreparedStatement?
    private let searchRev: PreparedStatement?
    private let selectMessage: PreparedStatement
    private let selectMessages: PreparedStatement
    private let selectTime: PreparedStatement
    private let selectRev: PreparedStatement
    private let selectUnchanged: PreparedStatement
    private let selectChanged: PreparedStatement

    init(_ db: Connection) throws {
        if case .postgres(let connection) = db { postgres = connection } else { postgres = nil }
        try postgres?.planOnceByIndexes()
        pages = postgres.map { PageStatement($0) }
        access = try postgres.map { try AccessStatements($0) }
        searchTime = try db.isPostgres ? PreparedStatement(Self.search("created_at >= ?3"), db) : nil
        searchRev = try db.isPostgres ? PreparedStatement(Self.search("rev > ?3"), db) : nil
        begin = try PreparedStatement("BEGIN DEFERRED", db)
        commit = try PreparedStatement("COMMIT", db)
        rollback = try PreparedStatement("ROLLBACK", db)
        unread = try UnreadStatements(db)
        rooms = try RoomStatements(db)
        inbox = try InboxStatements(db)
        bans = try BanStatements(db)
        erasures = try ErasureStatusStatement(db)
        admin = try AdminStatements(db)
        lookup = try LookupStatements(db)
        selectMessage = try PreparedStatement("SELECT id, rev, changed, body FROM messages WHERE id = ?", db)
        selectMessages = try PreparedStatement("SELECT body FROM messages WHERE id >= ? AND id <= ? ORDER BY id", db)
        selectTime = try PreparedStatement("SELECT created_at FROM messages WHERE id = ?", db)
        selectRev = try PreparedStatement("SELECT rev FROM messages WHERE id = ?", db)
        selectUnchanged = try PreparedStatement(
            "SELECT rev, body FROM messages WHERE id >= ? AND id <= ? AND changed IS NULL ORDER BY id", isLong: true,
            db)
        selectChanged = try PreparedStatement(
            "SELECT changed, body FROM messages WHERE changed > ? AND changed <= ? ORDER BY changed", isLong: true,
            db)
    }

    /// Runs `body` in a read transaction: all reads see one snapshot.
    ///
    /// GRDB's own `inTransaction` prepares its statements anew for each transaction, which is a considerable part of
    /// the cost of a page (`scripts/compare --scenarios F`).
    func inTransaction<R>(_ body: () throws -> R) throws -> R {
        if let postgres {
            postgres.beginTransaction()
            defer { postgres.endTransaction() }
            return try body()
        }
        try begin.run()
        // Nothing was written, so what was read is valid even if the COMMIT fails. After an error SQLite may have ended
        // the transaction already.
        defer { do { try commit.run() } catch { try? rollback.run() } }
        return try body()
    }

    /// Returns a room's row and state; `nil` if the room does not exist.
    func room(_ id: RoomID) throws -> (row: LookupStatements.RoomRow, state: RoomState)? {
        guard let row = try lookup.row(of: id) else { return nil }
        let (head, rev, _) = try lookup.progress(of: row)
        return (row, RoomState(head: head, rev: rev))
    }

    /// Returns a message; `nil` if there is none.
    func message(room: Int64, seq: Int64) throws -> StoredMessage? {
        guard (1...RowKey.maximumPlace).contains(seq) else { return nil }
        try selectMessage.bind(RowKey(room: room, seq).rawValue, at: 1)
        return try selectMessage.firstRow { StoredMessage($0) }
    }

    /// Returns the snapshots of consecutive messages, joined by commas; none if `last` is less than `first`.
    ///
    /// - Parameter limit: maximum number of bytes. The last message may exceed it.
    func messages(room: Int64, from first: Int64, through last: Int64, until limit: Int) throws -> [UInt8] {
        guard first <= last else { return [] }
        var messages: [UInt8] = []
        messages.reserveCapacity(Int(last - first + 1) * Self.usualSnapshotBytes)
        try selectMessages.bind(RowKey(room: room, first).rawValue, at: 1)
        try selectMessages.bind(RowKey(room: room, last).rawValue, at: 2)
        try selectMessages.withRows { rows in
            while rows.hasRow, messages.count <= limit {
                if !messages.isEmpty { messages.append(UInt8(ascii: ",")) }
                rows.row.append(0, to: &messages)
                try rows.next()
            }
        }
        return messages
    }

    /// The size in bytes of a snapshot with 256 bytes of text, rounded up.
    private static let usualSnapshotBytes = 384

    /// Returns the time when a message was stored, in milliseconds since 1970.
    func createdAt(room: Int64, seq: Int64) throws -> Int64? {
        try selectTime.bind(RowKey(room: room, seq).rawValue, at: 1)
        return try selectTime.firstRow { $0.integer(0) }
    }

    /// Returns the room's revision at which a message was sent.
    func rev(room: Int64, seq: Int64) throws -> Int64? {
        try selectRev.bind(RowKey(room: room, seq).rawValue, at: 1)
        return try selectRev.firstRow { $0.integer(0) }
    }

    /// Returns the first `seq` from 1 through `head` whose message was stored at `time` or later, or else `head + 1`.
    /// Only with PostgreSQL; `nil` with SQLite.
    func firstSeq(room: Int64, head: Int64, storedAt time: Timestamp) throws -> Int64? {
        try searchTime.flatMap { try firstSeq($0, room: room, head: head, time.milliseconds) }
    }

    /// Returns the first `seq` from 1 through `head` whose message was sent after revision `since`, or else `head + 1`.
    /// Only with PostgreSQL; `nil` with SQLite.
    func firstSeq(room: Int64, head: Int64, sentAfter since: Int64) throws -> Int64? {
        try searchRev.flatMap { try firstSeq($0, room: room, head: head, since) }
    }

    private func firstSeq(_ search: PreparedStatement, room: Int64, head: Int64, _ bound: Int64) throws -> Int64? {
        // Not the key of `head + 1`, which a full room does not have.
        let start = RowKey(room: room, 0).rawValue
        try search.bind(start + 1, at: 1)
        try search.bind(start + head + 1, at: 2)
        try search.bind(bound, at: 3)
        return try search.firstRow { $0.integer(0) - start }
    }

    /// Returns a binary search among messages for the first that fulfils a condition, which all later ones fulfil too.
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

    /// True if statements may be sent ahead of the calls that need them, see ``PreparedStatement/runAhead()``.
    var runsAhead: Bool { postgres != nil }

    /// Sends ahead the statements of ``message(room:seq:)``.
    func runAhead(message seq: Int64, room: Int64) throws {
        guard runsAhead, (1...RowKey.maximumPlace).contains(seq) else { return }
        try selectMessage.bind(RowKey(room: room, seq).rawValue, at: 1)
        try selectMessage.runAhead()
    }

    /// Sends ahead the statements that read a room as a user sees it.
    func runAhead(summaryOf room: Int64, for user: UserID?) throws {
        guard runsAhead else { return }
        try rooms.runAhead(titleOf: room)
        guard let user else { return }
        try runAhead(readStateOf: room, for: user)
        try lookup.runAhead(roleOf: user, in: room)
    }

    /// Sends ahead the statements that read a user's read mark and what counts as expired.
    func runAhead(readStateOf room: Int64, for user: UserID) throws {
        guard runsAhead else { return }
        try lookup.runAhead(readMarkOf: user, in: room)
        try unread.runAhead(expiredIn: room)
    }

    // MARK: Changes

    /// Passes `body` each message that was sent or changed after `since`, once, in the order of latest revisions, until
    /// it returns false.
    ///
    /// - Parameters:
    ///   - since: a revision of the room.
    ///   - first: the `seq` of the first message sent after `since`.
    ///   - body: receives a message's latest revision and its row, whose column 1 is the snapshot.
    func changes(
        room: Int64, since: Int64, first: Int64, _ body: (Int64, borrowing PreparedStatement.Row) -> Bool
    ) throws {
        let end = RowKey(room: room, RowKey.maximumPlace).rawValue
        try selectUnchanged.bind(RowKey(room: room, first).rawValue, at: 1)
        try selectUnchanged.bind(end, at: 2)
        try selectChanged.bind(RowKey(room: room, since).rawValue, at: 1)
        try selectChanged.bind(end, at: 2)
        try selectUnchanged.runAhead()
        try selectChanged.runAhead()
        // Merges two lists that are both in the order of revisions.
        try selectUnchanged.withRows { unchanged in
            try selectChanged.withRows { changed in
                while true {
                    let unchangedRev = unchanged.hasRow ? unchanged.row.integer(0) : .max
                    let changedRev = changed.hasRow ? RowKey(rawValue: changed.row.integer(0)).place : .max
                    if unchangedRev < changedRev {
                        guard body(unchangedRev, unchanged.row) else { return }
                        try unchanged.next()
                    } else if changed.hasRow {
                        guard body(changedRev, changed.row) else { return }
                        try changed.next()
                    } else {
                        return
                    }
                }
            }
        }
    }
}

/// A reader's statements for rooms' members and settings.
///
/// Confined to its connection.
final class RoomStatements {
    private let selectMembers: PreparedStatement
    private let selectReacting: PreparedStatement
    private let selectTitle: PreparedStatement

    init(_ db: Connection) throws {
        selectReacting = try PreparedStatement(
            "SELECT user FROM reactions WHERE message = ? AND key = ? AND user > ? ORDER BY user LIMIT ?", db)
        selectMembers = try PreparedStatement(
            """
            SELECT user, owner FROM members WHERE room = ?1 AND user > ?2
                AND \(ErasureStatements.isPresent("members.user", in: "?1"))
            ORDER BY user LIMIT ?3
            """, db)
        selectTitle = try PreparedStatement("SELECT title FROM rooms WHERE id = ? AND title IS NOT NULL", db)
    }

    /// Returns at most `limit` users after `user` who reacted to a message with a key, in the byte order of their ids.
    func users(
        reacting key: ReactionKey, to message: RowKey, after user: UserID?, limit: Int
    ) throws -> [UserID] {
        try selectReacting.bind(message.rawValue, at: 1)
        try selectReacting.bind(key.string, at: 2)
        // Every id sorts after a space, because no id contains one.
        try selectReacting.bind(user?.string ?? " ", at: 3)
        try selectReacting.bind(Int64(limit), at: 4)
        return try selectReacting.allRows { UserID(trusted: $0.text(0)) }
    }

    /// Returns at most `limit` members after `user`, in the byte order of their ids.
    func members(of room: Int64, after user: UserID?, limit: Int) throws -> [RoomMember] {
        try selectMembers.bind(room, at: 1)
        // Every id sorts after a space, because no id contains one.
        try selectMembers.bind(user?.string ?? " ", at: 2)
        try selectMembers.bind(Int64(limit), at: 3)
        return try selectMembers.allRows { row in
            RoomMember(user: UserID(trusted: row.text(0)), role: row.integer(1) == 1 ? .owner : .member)
        }
    }

    /// Sends ahead the statements of ``title(of:)``.
    func runAhead(titleOf room: Int64) throws {
        try selectTitle.bind(room, at: 1)
        try selectTitle.runAhead()
    }

    /// Returns a room's title; `nil` if it has none.
    func title(of room: Int64) throws -> String? {
        try selectTitle.bind(room, at: 1)
        return try selectTitle.firstRow { $0.text(0) }
    }
}
