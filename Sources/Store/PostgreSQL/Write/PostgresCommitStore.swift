import Chat
import Wire

/// A commit's messages and rooms in PostgreSQL, which stores them at once.
///
/// The transaction has locked the rooms that it changes, see ``PostgresCommits``.
struct PostgresCommitStore: CommitStore {
    let db: PostgresConnection
    /// The bytes that the appended messages add to rooms.
    private var bytes: [Int64: Int] = [:]

    init(_ db: PostgresConnection) {
        self.db = db
    }

    func failure(_ error: any Error, of submission: Submission, at index: Int, hasRoom: Bool) -> any Error { error }

    // MARK: Rooms

    func room(_ id: RoomID) throws -> RoomTable.Room? { try db.room(id) }

    func insertRoom(_ id: RoomID, at time: Timestamp) throws -> Int64? {
        // A room that another node has just created is ignored.
        let number = try db.first(
            "INSERT INTO rooms (name, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id", id, time
        ) { $0.integer(0) }
        guard let number else { throw PostgresError.madeElsewhere }
        return number
    }

    func complete(_ room: inout RoomTable.Room, _ id: RoomID) {}

    /// Marks a new member as engaged. The activity of rooms is in their own rows: nodes would wait for each other's locks
    /// of the members' rows.
    func joined(_ user: UserID, _ room: Int64, latest: Int64?, isEngaged: Bool) throws {
        if isEngaged { try db.engage(user, in: room) }
    }

    func fillActivity(most: Int) -> Int64? { nil }

    // MARK: Messages

    mutating func append(_ message: NewMessage, to id: RoomID, _ room: Int64, _ key: ClientMessageKey?) throws {
        try db.runSoon(
            """
            INSERT INTO messages (id, rev, created_at, sender, client_message_id, body) VALUES ($1, $2, $3, $4, $5, $6)
            """, RowKey(room: room, message.stored.seq), message.stored.rev, message.createdAt, message.sender,
            message.clientMessageID, message.stored.body)
        try db.engage(message.sender, in: room)
        bytes[room, default: 0] += message.stored.body.count
    }

    func isNew(_ key: ClientMessageKey, in room: RoomTable.Room) -> Bool { room.head == 0 }

    func message(
        sentAs key: ClientMessageKey, in id: RoomID, _ room: inout RoomTable.Room
    ) throws -> StoredMessage? {
        try db.message(room: room.number, sender: key.sender, clientMessageID: key.id)
    }

    func hasMessage(of user: UserID, in id: RoomID, _ room: RoomTable.Room) -> Bool { false }

    func file(_ id: RoomID, _ room: RoomTable.Room) {}

    func refusal(of room: RoomID) -> Problem? { nil }

    func refusal(ofErasing user: UserID) -> (any Error)? { nil }

    // WordIndexer finds changed messages by their revisions.
    func reindex(_ message: RowKey, _ body: [UInt8]) {}

    func unindex(from first: RowKey, through last: RowKey) throws {
        try db.runSoon("DELETE FROM words WHERE message >= $1 AND message <= $2", first, last)
        try db.runSoon("DELETE FROM indexed WHERE room = $1", first.room)
    }

    /// The indexer finds the room by its row.
    func changedSearchable(_ room: Int64) {}

    /// Raises the numbers of access of rooms, so that no node stores a send by earlier facts.
    func raiseAccess(of rooms: Set<RoomID>) throws {
        if rooms.isEmpty { return }
        // Locked in the order of their numbers, so that two transactions do not wait for each other.
        try db.runSoon(
            """
            UPDATE rooms SET access = access + 1
            WHERE id IN (SELECT id FROM rooms WHERE name = ANY($1) ORDER BY id FOR UPDATE)
            """, Array(rooms))
    }

    /// Stores the progress of a room that the transaction has changed.
    func storeProgress(of room: RoomTable.Room) throws {
        try db.runSoon(
            "UPDATE rooms SET head = $1, rev = $2, active_at = $3, bytes = bytes + $4 WHERE id = $5", room.head,
            room.rev,
            room.latest, bytes[room.number] ?? 0, room.number)
    }
}
