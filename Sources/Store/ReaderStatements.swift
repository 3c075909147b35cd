import Chat
import GRDB
import Wire

/// A reader's statements, prepared once.
///
/// Confined to the reader's connection.
final class ReaderStatements {
    private let roomState: RoomStateStatements
    private let selectMessage: PreparedStatement
    private let selectTime: PreparedStatement
    private let selectMessages: PreparedStatement
    private let selectRev: PreparedStatement
    private let selectUnchanged: PreparedStatement
    private let selectChanged: PreparedStatement
    private let selectClientMessage: PreparedStatement

    init(_ db: Database) throws {
        roomState = try RoomStateStatements(db)
        selectMessage = try PreparedStatement("SELECT body FROM messages WHERE id = ?", db)
        selectTime = try PreparedStatement("SELECT created_at FROM messages WHERE id = ?", db)
        selectMessages = try PreparedStatement("SELECT body FROM messages WHERE id >= ? AND id < ? ORDER BY id", db)
        selectRev = try PreparedStatement("SELECT rev FROM messages WHERE id = ?", db)
        selectUnchanged = try PreparedStatement(
            "SELECT rev, body FROM messages WHERE id >= ? AND id <= ? AND changed IS NULL ORDER BY id", db)
        selectChanged = try PreparedStatement(
            "SELECT changed, body FROM messages WHERE changed > ? AND changed <= ? ORDER BY changed", db)
        selectClientMessage = try PreparedStatement(
            "SELECT body FROM messages WHERE id >> 36 = ? AND sender = ? AND client_message_id = ?", db)
    }

    /// A room's number, and where it is.
    func room(_ id: RoomID) throws -> (number: Int64, state: RoomState)? {
        guard let number = try roomState.number(id) else { return nil }
        let newest = try roomState.newest(number)
        return (number, RoomState(head: newest.seq, rev: newest.rev))
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

    /// The room's revision when a message was sent.
    func rev(room: Int64, seq: Int64) throws -> Int64? {
        selectRev.bind(RowKey(room: room, seq).rawValue, at: 1)
        return try selectRev.firstRow { $0.integer(0) }
    }

    /// What changed after `since`, by revision.
    ///
    /// - Parameters:
    ///   - first: the first message that was sent after `since`.
    ///   - body: called with each message's latest revision and the row, whose column 1 is the snapshot, until it
    ///     answers `false`.
    func changes(
        room: Int64, since: Int64, first: Int64, _ body: (Int64, borrowing PreparedStatement.Row) -> Bool
    ) throws {
        let end = RowKey(room: room, RowKey.maximumPlace).rawValue
        selectUnchanged.bind(RowKey(room: room, first).rawValue, at: 1)
        selectUnchanged.bind(end, at: 2)
        selectChanged.bind(RowKey(room: room, since).rawValue, at: 1)
        selectChanged.bind(end, at: 2)
        // Both are in the order of their revisions, so what follows next is at the head of one of them.
        try selectUnchanged.withRows { unchanged in
            try selectChanged.withRows { changed in
                var wants = true
                while wants {
                    let unchangedRev = unchanged.hasRow ? unchanged.row.integer(0) : .max
                    let changedRev = changed.hasRow ? RowKey(rawValue: changed.row.integer(0)).place : .max
                    if unchangedRev < changedRev {
                        wants = body(unchangedRev, unchanged.row)
                        try unchanged.next()
                    } else if changed.hasRow {
                        wants = body(changedRev, changed.row)
                        try changed.next()
                    } else {
                        return
                    }
                }
            }
        }
    }

    /// The snapshot of the message that was sent under a client message id.
    func message(room: Int64, sender: UserID, clientMessageID: String) throws -> [UInt8]? {
        selectClientMessage.bind(room, at: 1)
        selectClientMessage.bind(sender.string, at: 2)
        selectClientMessage.bind(clientMessageID, at: 3)
        return try selectClientMessage.firstRow { $0.bytes(0) }
    }
}
