import GRDB
import Wire

/// The writer's statements, prepared once.
///
/// Confined to the writer's connection.
final class WriterStatements {
    private let db: Database
    private let lookup: LookupStatements
    private let insertRoomRow: PreparedStatement
    private let insertMessage: PreparedStatement

    init(_ db: Database) throws {
        self.db = db
        lookup = try LookupStatements(db)
        insertRoomRow = try PreparedStatement("INSERT OR IGNORE INTO rooms (name) VALUES (?)", db)
        insertMessage = try PreparedStatement(
            """
            INSERT INTO messages (id, rev, created_at, sender, client_message_id, body) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """, db)
    }

    /// Where a room is; `nil` when nobody has used it.
    func room(_ id: RoomID) throws -> RoomTable.Room? {
        guard let number = try lookup.number(of: id) else { return nil }
        let (head, rev, latest) = try lookup.progress(of: number)
        return RoomTable.Room(number: number, head: head, rev: rev, latest: Timestamp(milliseconds: latest))
    }

    /// Makes a room.
    ///
    /// - Returns: `nil` when there are as many rooms as there may be.
    func insertRoom(_ id: RoomID) throws -> RoomTable.Room? {
        try insertRoomRow.bind(id.string, at: 1)
        try insertRoomRow.run()
        guard db.changesCount == 1 else { return nil }
        return RoomTable.Room(number: db.lastInsertedRowID, head: 0, rev: 0, latest: .earliest)
    }

    /// Stores the newest message of a room.
    ///
    /// - Returns: `false` when the sender has used the client message id before; nothing is stored then.
    func insert(
        _ room: RoomTable.Room, sender: UserID, clientMessageID: String?, body: [UInt8]
    ) throws -> Bool {
        try insertMessage.bind(RowKey(room: room.number, room.head).rawValue, at: 1)
        try insertMessage.bind(room.rev, at: 2)
        try insertMessage.bind(room.latest.milliseconds, at: 3)
        try insertMessage.bind(sender.string, at: 4)
        try insertMessage.bind(clientMessageID, at: 5)
        try insertMessage.bind(body, at: 6)
        try insertMessage.run()
        return db.changesCount == 1
    }

    /// The snapshot of the message that was sent under a client message id.
    func message(room: Int64, sender: UserID, clientMessageID: String) throws -> [UInt8]? {
        try lookup.message(room: room, sender: sender, clientMessageID: clientMessageID)
    }
}
