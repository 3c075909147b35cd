import Chat
import GRDB
import Wire

/// What the writer and the readers both look up.
///
/// Confined to its connection.
final class LookupStatements {
    private let selectRoom: PreparedStatement
    private let selectName: PreparedStatement
    private let selectNewest: PreparedStatement
    private let selectLatestChange: PreparedStatement
    private let selectClientMessage: PreparedStatement
    private let selectClientMessageKeys: PreparedStatement
    private let selectRole: PreparedStatement
    private let selectMark: PreparedStatement

    init(_ db: Database) throws {
        selectRoom = try PreparedStatement("SELECT id, private, deleted FROM rooms WHERE name = ?", db)
        selectName = try PreparedStatement("SELECT name, deleted FROM rooms WHERE id = ?", db)
        selectNewest = try PreparedStatement(
            "SELECT id, rev, created_at FROM messages WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT 1", db)
        selectLatestChange = try PreparedStatement(
            "SELECT changed FROM messages WHERE changed > ? AND changed <= ? ORDER BY changed DESC LIMIT 1", db)
        selectClientMessage = try PreparedStatement(
            """
            SELECT id, rev, changed, body FROM messages WHERE id >> 36 = ? AND sender = ? AND client_message_id = ?
            """, db)
        // Nothing but the index is read.
        selectClientMessageKeys = try PreparedStatement(
            """
            SELECT sender, client_message_id FROM messages WHERE id >> 36 = ? AND client_message_id IS NOT NULL
            """, db)
        selectRole = try PreparedStatement("SELECT owner FROM members WHERE room = ? AND user = ?", db)
        selectMark = try PreparedStatement("SELECT seq FROM read_marks WHERE user = ? AND room = ?", db)
    }

    /// A room's row, but for what it is called.
    struct RoomRow {
        /// The room's number.
        var number: Int64
        /// True if it is for members only.
        var isPrivate: Bool
        /// True if only its name is left, or will be: see ``Job``.
        var isDeleted: Bool
    }

    /// The row of a room; `nil` when nobody has used it.
    func row(of room: RoomID) throws -> RoomRow? {
        try selectRoom.bind(room.string, at: 1)
        return try selectRoom.firstRow { row in
            RoomRow(number: row.integer(0), isPrivate: row.integer(1) == 1, isDeleted: row.integer(2) == 1)
        }
    }

    /// The id and the head of the room of a number, and whether it is deleted; `nil` when there is none.
    func room(_ number: Int64) throws -> (id: RoomID, head: Int64, isDeleted: Bool)? {
        try selectName.bind(number, at: 1)
        guard let (name, isDeleted) = try selectName.firstRow({ ($0.text(0), $0.integer(1) == 1) }) else { return nil }
        return (RoomID(trusted: name), try progress(of: number).head, isDeleted)
    }

    /// How far a room has come, and when its newest message was stored, in milliseconds since 1970; zeros when it has no
    /// message.
    ///
    /// Its last message has the highest `seq`, and that one or the latest change the latest revision.
    func progress(of room: Int64) throws -> (head: Int64, rev: Int64, latest: Int64) {
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

    /// What a user is in a room; `nil` when no member.
    func role(of user: UserID, in room: Int64) throws -> RoomMember.Role? {
        try selectRole.bind(room, at: 1)
        try selectRole.bind(user.string, at: 2)
        return try selectRole.firstRow { $0.integer(0) == 1 ? .owner : .member }
    }

    /// Up to where a user has read a room; 0 for nothing.
    func readMark(of user: UserID, in room: Int64) throws -> Int64 {
        try selectMark.bind(user.string, at: 1)
        try selectMark.bind(room, at: 2)
        return try selectMark.firstRow { $0.integer(0) } ?? 0
    }

    /// The message that was sent under a client message id.
    func message(room: Int64, sender: UserID, clientMessageID: String) throws -> Stored? {
        try selectClientMessage.bind(room, at: 1)
        try selectClientMessage.bind(sender.string, at: 2)
        try selectClientMessage.bind(clientMessageID, at: 3)
        return try selectClientMessage.firstRow { Stored($0) }
    }

    /// Hands over the hash of each client message id of a room's rows, see ``ClientMessageKey/hash(in:)``.
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

extension Stored {
    /// The message of a row of `id, rev, changed, body`.
    init(_ row: borrowing PreparedStatement.Row) {
        // A message that was never changed has no revision of a change, which reads as 0.
        let change = RowKey(rawValue: row.integer(2)).place
        self.init(
            seq: RowKey(rawValue: row.integer(0)).place, rev: max(row.integer(1), change), body: row.bytes(3))
    }
}
