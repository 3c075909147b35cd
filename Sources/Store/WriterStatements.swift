import GRDB
import GRDBSQLite
import Wire

/// The writer's statements, prepared once.
///
/// Confined to the writer's connection.
final class WriterStatements {
    private let db: Database
    private let insertRoomRow: PreparedStatement
    private let roomState: RoomStateStatements
    private let insertMessage: PreparedStatement
    private let selectClientMessage: PreparedStatement

    init(_ db: Database) throws {
        self.db = db
        roomState = try RoomStateStatements(db)
        insertRoomRow = try PreparedStatement("INSERT INTO rooms (name) VALUES (?)", db)
        insertMessage = try PreparedStatement(
            """
            INSERT INTO messages (id, rev, created_at, sender, client_message_id, body) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """, db)
        selectClientMessage = try PreparedStatement(
            "SELECT body FROM messages WHERE id >> 36 = ? AND sender = ? AND client_message_id = ?", db)
    }

    /// Where a room is.
    func room(_ id: RoomID) throws -> RoomTable.Room? {
        guard let number = try roomState.number(id) else { return nil }
        let newest = try roomState.newest(number)
        return RoomTable.Room(
            number: number, head: newest.seq, rev: newest.rev, latest: Timestamp(milliseconds: newest.createdAt))
    }

    /// Makes a room.
    func insertRoom(_ id: RoomID, at time: Timestamp) throws -> RoomTable.Room {
        insertRoomRow.bind(id.string, at: 1)
        try insertRoomRow.run()
        let number = db.lastInsertedRowID
        guard number <= RowKey.maximumRoom else {
            throw DatabaseError(resultCode: .SQLITE_FULL, message: "there are as many rooms as there may be")
        }
        return RoomTable.Room(number: number, head: 0, rev: 0, latest: time)
    }

    /// Stores the newest message of a room.
    ///
    /// - Returns: `false` when the sender has used the client message id before; nothing is stored then.
    func insert(
        _ room: RoomTable.Room, sender: UserID, clientMessageID: String?, body: [UInt8]
    ) throws -> Bool {
        insertMessage.bind(RowKey(room: room.number, room.head).rawValue, at: 1)
        insertMessage.bind(room.rev, at: 2)
        insertMessage.bind(room.latest.milliseconds, at: 3)
        insertMessage.bind(sender.string, at: 4)
        if let clientMessageID {
            insertMessage.bind(clientMessageID, at: 5)
        } else {
            insertMessage.bindNull(at: 5)
        }
        insertMessage.bind(body, at: 6)
        try insertMessage.run()
        return db.changesCount == 1
    }

    /// The snapshot of the message that was sent under a client message id.
    func message(room: Int64, sender: UserID, clientMessageID: String) throws -> [UInt8]? {
        selectClientMessage.bind(room, at: 1)
        selectClientMessage.bind(sender.string, at: 2)
        selectClientMessage.bind(clientMessageID, at: 3)
        return try selectClientMessage.firstRow { $0.bytes(0) }
    }
}
