import GRDB
import Wire

/// A reader's statements, prepared once.
///
/// Confined to the reader's connection.
final class ReaderStatements {
    private let selectRoom: PreparedStatement
    private let selectMessage: PreparedStatement
    private let selectTime: PreparedStatement
    private let selectMessages: PreparedStatement
    private let selectChanges: PreparedStatement
    private let selectClientMessage: PreparedStatement

    init(_ db: Database) throws {
        selectRoom = try PreparedStatement("SELECT id, head, rev FROM rooms WHERE name = ?", db)
        selectMessage = try PreparedStatement("SELECT body FROM messages WHERE id = ?", db)
        selectTime = try PreparedStatement("SELECT created_at FROM messages WHERE id = ?", db)
        selectMessages = try PreparedStatement("SELECT body FROM messages WHERE id >= ? AND id < ? ORDER BY id", db)
        selectChanges = try PreparedStatement(
            "SELECT revision, body FROM messages WHERE revision > ? AND revision <= ? ORDER BY revision LIMIT ?", db)
        selectClientMessage = try PreparedStatement(
            "SELECT body FROM messages WHERE id >> 36 = ? AND sender = ? AND client_message_id = ?", db)
    }

    /// A room's number, head and revision.
    func room(_ id: RoomID) throws -> (number: Int64, head: Int64, rev: Int64)? {
        selectRoom.bind(id.string, at: 1)
        return try selectRoom.firstRow { ($0.integer(0), $0.integer(1), $0.integer(2)) }
    }

    /// A message's snapshot.
    func message(room: Int64, seq: Int64) throws -> [UInt8]? {
        guard (1...RowKey.maximumPlace).contains(seq) else { return nil }
        selectMessage.bind(RowKey(room: room, seq).rawValue, at: 1)
        return try selectMessage.firstRow { $0.bytes(0) }
    }

    /// When a message was stored.
    func createdAt(room: Int64, seq: Int64) throws -> Int64? {
        selectTime.bind(RowKey(room: room, seq).rawValue, at: 1)
        return try selectTime.firstRow { $0.integer(0) }
    }

    /// The snapshots of a page, joined by commas.
    func messages(room: Int64, _ window: PageWindow) throws -> [UInt8] {
        var messages: [UInt8] = []
        messages.reserveCapacity(window.count * 320)
        selectMessages.bind(RowKey(room: room, window.start).rawValue, at: 1)
        selectMessages.bind(RowKey(room: room, window.end).rawValue, at: 2)
        try selectMessages.forEachRow { row in
            if !messages.isEmpty { messages.append(UInt8(ascii: ",")) }
            row.append(0, to: &messages)
            return true
        }
        return messages
    }

    /// Calls `body` with the revision and the snapshot of what changed after `since`, until it answers `false`.
    func changes(
        room: Int64, since: Int64, limit: Int, _ body: (Int64, borrowing PreparedStatement.Row) -> Bool
    ) throws {
        selectChanges.bind(RowKey(room: room, since).rawValue, at: 1)
        selectChanges.bind(RowKey(room: room, RowKey.maximumPlace).rawValue, at: 2)
        selectChanges.bind(Int64(limit), at: 3)
        try selectChanges.forEachRow { row in body(RowKey(rawValue: row.integer(0)).place, row) }
    }

    /// The snapshot of the message that was sent under a client message id.
    func message(room: Int64, sender: UserID, clientMessageID: String) throws -> [UInt8]? {
        selectClientMessage.bind(room, at: 1)
        selectClientMessage.bind(sender.string, at: 2)
        selectClientMessage.bind(clientMessageID, at: 3)
        return try selectClientMessage.firstRow { $0.bytes(0) }
    }
}
