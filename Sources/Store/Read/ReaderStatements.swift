import Chat
import Wire

/// A reader's prepared statements that both stores have.
///
/// Confined to the reader's connection.
final class ReaderStatements {
    let unread: UnreadStatements
    let rooms: RoomStatements
    let lookup: LookupStatements
    let bans: BanStatements
    let erasures: ErasureStatusStatement
    let admin: AdminStatements
    let selectMessage: PreparedStatement
    private let selectMessages: PreparedStatement
    let selectUnchanged: PreparedStatement
    let selectChanged: PreparedStatement

    init(_ db: Connection) throws {
        unread = try UnreadStatements(db)
        rooms = try RoomStatements(db)
        bans = try BanStatements(db)
        erasures = try ErasureStatusStatement(db)
        admin = try AdminStatements(db)
        lookup = try LookupStatements(db)
        selectMessage = try PreparedStatement("SELECT id, rev, changed, body FROM messages WHERE id = ?", db)
        selectMessages = try PreparedStatement("SELECT body FROM messages WHERE id >= ? AND id <= ? ORDER BY id", db)
        selectUnchanged = try PreparedStatement(
            "SELECT rev, body FROM messages WHERE id >= ? AND id <= ? AND changed IS NULL ORDER BY id", isLong: true,
            db)
        selectChanged = try PreparedStatement(
            "SELECT changed, body FROM messages WHERE changed > ? AND changed <= ? ORDER BY changed", isLong: true,
            db)
    }

    /// Returns a message; `nil` if there is none.
    func message(room: Int64, seq: Int64) throws -> StoredMessage? {
        guard (1...RowKey.maximumPlace).contains(seq) else { return nil }
        try selectMessage.bind(RowKey(room: room, seq).rawValue, at: 1)
        return try selectMessage.firstRow { StoredMessage($0) }
    }

    /// Returns the message that was sent with a client message id; `nil` also for a user who is being erased.
    func message(room: Int64, sender: UserID, clientMessageID: String) throws -> StoredMessage? {
        let message = try lookup.message(room: room, sender: sender, clientMessageID: clientMessageID)
        return try message.flatMap { try erasures.isFormer($0.seq, in: room, of: sender) ? nil : $0 }
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
        try bindChanges(room: room, since: since, first: first)
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

extension ReaderStatements {
    /// Binds the parameters of ``changes(room:since:first:_:)``.
    func bindChanges(room: Int64, since: Int64, first: Int64) throws {
        let end = RowKey(room: room, RowKey.maximumPlace).rawValue
        try selectUnchanged.bind(RowKey(room: room, first).rawValue, at: 1)
        try selectUnchanged.bind(end, at: 2)
        try selectChanged.bind(RowKey(room: room, since).rawValue, at: 1)
        try selectChanged.bind(end, at: 2)
    }
}

/// A reader's statements for rooms' members and settings.
///
/// Confined to its connection.
final class RoomStatements {
    private let selectMembers: PreparedStatement
    private let selectReacting: PreparedStatement
    let selectTitle: PreparedStatement

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

    /// Returns a room's title; `nil` if it has none.
    func title(of room: Int64) throws -> String? {
        try selectTitle.bind(room, at: 1)
        return try selectTitle.firstRow { $0.text(0) }
    }
}
