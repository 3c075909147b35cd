import Chat
import Wire

/// Lookups that both the writer and the readers use.
///
/// Confined to its connection.
final class LookupStatements {
    private let selectRoom: PreparedStatement
    private let selectName: PreparedStatement
    /// `nil` with SQLite, where a room's row does not have its progress.
    private let selectProgress: PreparedStatement?
    private let selectNewest: PreparedStatement
    private let selectLatestChange: PreparedStatement
    private let selectClientMessage: PreparedStatement
    private let selectClientMessageKeys: PreparedStatement
    private let selectRole: PreparedStatement
    private let selectMark: PreparedStatement

    /// Prepares the statements.
    ///
    /// - Parameter locksRooms: True for a transaction that changes rooms. With PostgreSQL it then locks each room that
    ///   it selects by name, until it ends.
    init(_ db: Connection, locksRooms: Bool = false) throws {
        selectRoom = try PreparedStatement(
            db.sql(
                sqlite: "SELECT id, private, deleted FROM rooms WHERE name = ?",
                postgres: "SELECT id, private, deleted, head, rev, active_at FROM rooms WHERE name = ?"
                    + (locksRooms ? " FOR UPDATE" : "")), db)
        selectProgress =
            try db.isPostgres
            ? PreparedStatement("SELECT head, rev, active_at FROM rooms WHERE id = ?", db) : nil
        selectName = try PreparedStatement("SELECT name, deleted FROM rooms WHERE id = ?", db)
        selectNewest = try PreparedStatement(
            "SELECT id, rev, created_at FROM messages WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT 1", db)
        selectLatestChange = try PreparedStatement(
            "SELECT changed FROM messages WHERE changed > ? AND changed <= ? ORDER BY changed DESC LIMIT 1", db)
        selectClientMessage = try PreparedStatement(
            """
            SELECT id, rev, changed, body FROM messages WHERE id >> 36 = ? AND sender = ? AND client_message_id = ?
            """, db)
        // This query reads the index only.
        selectClientMessageKeys = try PreparedStatement(
            """
            SELECT sender, client_message_id FROM messages WHERE id >> 36 = ? AND client_message_id IS NOT NULL
            """, db)
        selectRole = try PreparedStatement(
            "SELECT owner FROM members WHERE room = ?1 AND user = ?2 AND \(ErasureStatements.isPresent("?2", in: "?1"))",
            db)
        selectMark = try PreparedStatement(
            "SELECT seq FROM read_marks WHERE user = ?1 AND room = ?2 AND \(ErasureStatements.isPresent("?1", in: "?2"))",
            db)
    }

    /// A room's row without its title.
    struct RoomRow {
        var number: Int64
        /// True if only members may read the room.
        var isPrivate: Bool
        /// True if the room has been deleted. A ``Job`` removes everything but its name.
        var isDeleted: Bool
        /// The progress in the row; `nil` with SQLite, where it follows from the messages.
        fileprivate var progress: Progress?
    }

    /// A room's highest `seq` and revision, and the time of its newest message in milliseconds since 1970; zeros
    /// without a message.
    typealias Progress = (head: Int64, rev: Int64, latest: Int64)

    /// Returns the row of a room; `nil` if the room does not exist.
    func row(of room: RoomID) throws -> RoomRow? {
        try selectRoom.bind(room.string, at: 1)
        return try selectRoom.firstRow { row in
            RoomRow(
                number: row.integer(0), isPrivate: row.integer(1) == 1, isDeleted: row.integer(2) == 1,
                progress: selectProgress == nil ? nil : (row.integer(3), row.integer(4), row.integer(5)))
        }
    }

    /// Returns the room with a number: its id, its highest `seq`, and true if it has been deleted; `nil` if there is
    /// none.
    func room(_ number: Int64) throws -> (id: RoomID, head: Int64, isDeleted: Bool)? {
        try selectName.bind(number, at: 1)
        guard let (name, isDeleted) = try selectName.firstRow({ ($0.text(0), $0.integer(1) == 1) }) else { return nil }
        return (RoomID(trusted: name), try progress(of: number).head, isDeleted)
    }

    /// Returns the progress of a room that was looked up.
    func progress(of row: RoomRow) throws -> Progress {
        try row.progress ?? progress(of: row.number)
    }

    /// Returns a room's progress.
    ///
    /// The last message has the highest `seq`. The highest revision is that of the last message or of the latest
    /// change.
    func progress(of room: Int64) throws -> Progress {
        if let selectProgress {
            try selectProgress.bind(room, at: 1)
            return try selectProgress.firstRow { ($0.integer(0), $0.integer(1), $0.integer(2)) } ?? (0, 0, 0)
        }
        let (from, to) = (RowKey(room: room, 0).rawValue, RowKey(room: room, RowKey.maximumPlace).rawValue)
        try selectNewest.bind(from, at: 1)
        try selectNewest.bind(to, at: 2)
        let newest = try selectNewest.firstRow { row in
            (seq: RowKey(rawValue: row.integer(0)).place, rev: row.integer(1), createdAt: row.integer(2))
        }
        guard let newest else { return (0, 0, 0) }
        try selectLatestChange.bind(from, at: 1)
        try selectLatestChange.bind(to, at: 2)
        let change = try selectLatestChange.firstRow { RowKey(rawValue: $0.integer(0)).place } ?? 0
        return (newest.seq, max(newest.rev, change), newest.createdAt)
    }

    /// Sends ahead the statements of ``row(of:)``.
    func runAhead(rowOf room: RoomID) throws {
        try selectRoom.bind(room.string, at: 1)
        try selectRoom.runAhead()
    }

    /// Sends ahead the statements of ``role(of:in:)``.
    func runAhead(roleOf user: UserID, in room: Int64) throws {
        try selectRole.bind(room, at: 1)
        try selectRole.bind(user.string, at: 2)
        try selectRole.runAhead()
    }

    /// Sends ahead the statements of ``readMark(of:in:)``.
    func runAhead(readMarkOf user: UserID, in room: Int64) throws {
        try selectMark.bind(user.string, at: 1)
        try selectMark.bind(room, at: 2)
        try selectMark.runAhead()
    }

    /// Returns a user's role in a room; `nil` if the user is not a member.
    func role(of user: UserID, in room: Int64) throws -> RoomMember.Role? {
        try selectRole.bind(room, at: 1)
        try selectRole.bind(user.string, at: 2)
        return try selectRole.firstRow { $0.integer(0) == 1 ? .owner : .member }
    }

    /// Returns a user's read mark in a room; 0 if nothing has been read.
    func readMark(of user: UserID, in room: Int64) throws -> Int64 {
        try selectMark.bind(user.string, at: 1)
        try selectMark.bind(room, at: 2)
        return try selectMark.firstRow { $0.integer(0) } ?? 0
    }

    /// Returns the message that was sent with a client message id.
    func message(room: Int64, sender: UserID, clientMessageID: String) throws -> StoredMessage? {
        try selectClientMessage.bind(room, at: 1)
        try selectClientMessage.bind(sender.string, at: 2)
        try selectClientMessage.bind(clientMessageID, at: 3)
        return try selectClientMessage.firstRow { StoredMessage($0) }
    }

    /// Passes `body` the hash of each client message id of a room's filed messages, see ``ClientMessageKey/hash(in:)``.
    func forEachClientMessageKey(of room: Int64, _ body: (UInt64) -> Void) throws {
        try selectClientMessageKeys.bind(room, at: 1)
        try selectClientMessageKeys.forEachRow { row in
            row.withBytes(0) { sender in
                row.withBytes(1) { id in
                    body(ClientMessageKey.hash(ClientMessageKey.hash(sender: sender, id: id), in: room))
                }
            }
        }
    }
}

extension StoredMessage {
    /// Creates the message of a row with the columns `id, rev, changed, body`.
    init(_ row: borrowing PreparedStatement.Row) {
        // In an unchanged message this column is NULL, which reads as 0.
        let change = RowKey(rawValue: row.integer(2)).place
        self.init(
            seq: RowKey(rawValue: row.integer(0)).place, rev: max(row.integer(1), change), body: row.bytes(3))
    }
}
