import Chat
import Wire

/// A reader's statements that both stores have.
///
/// Confined to the reader's connection.
final class ReaderStatements<DB: SQLDatabase> {
    let db: DB
    private let selectMessages: DB.Prepared
    private let selectUnchanged: DB.Prepared
    private let selectChanged: DB.Prepared
    private var cleared = ClearedRuns()

    init(_ db: DB) throws {
        self.db = db
        selectMessages = try db.prepare("SELECT body FROM messages WHERE id >= $1 AND id <= $2 ORDER BY id")
        selectUnchanged = try db.prepare(
            "SELECT rev, body FROM messages WHERE id >= $1 AND id <= $2 AND changed IS NULL ORDER BY id", isLong: true)
        selectChanged = try db.prepare(
            "SELECT changed, body FROM messages WHERE changed > $1 AND changed <= $2 ORDER BY changed", isLong: true)
    }

    // MARK: Pages

    /// Returns the snapshots of consecutive messages, joined by commas; none if `last` is less than `first`.
    ///
    /// - Parameter limit: Maximum number of bytes. The last message may exceed it.
    func messages(room: Int64, from first: Int64, through last: Int64, until limit: Int) throws -> [UInt8] {
        guard first <= last else { return [] }
        var messages: [UInt8] = []
        messages.reserveCapacity(Int(last - first + 1) * Self.usualSnapshotBytes)
        try selectMessages.bind(RowKey(room: room, first).rawValue, at: 1)
        try selectMessages.bind(RowKey(room: room, last).rawValue, at: 2)
        try selectMessages.withRows { row in
            while row.hasRow, messages.count <= limit {
                if !messages.isEmpty { messages.append(UInt8(ascii: ",")) }
                row.append(0, to: &messages)
                try row.next()
            }
        }
        return messages
    }

    /// The size in bytes of a snapshot with 256 bytes of text, rounded up.
    private static var usualSnapshotBytes: Int { 384 }

    /// Returns messages, newest first: at most `most` of those from `first` through `last`.
    func newest(
        room: Int64, from first: Int64, through last: Int64, most: Int
    ) throws -> [RoomMessage] {
        guard first <= last, most > 0 else { return [] }
        return try db.all(
            "SELECT id, created_at, body FROM messages WHERE id >= $1 AND id <= $2 ORDER BY id DESC LIMIT $3",
            RowKey(room: room, first), RowKey(room: room, last), most
        ) { (RowKey(rawValue: $0.integer(0)).ordinal, $0.integer(1), $0.bytes(2)) }
    }

    // MARK: Changes

    /// Passes `body` the snapshot of each message that was sent or changed after `since`, once, in the order of latest
    /// revisions, until it returns false.
    ///
    /// - Parameters:
    ///   - since: A revision of the room.
    ///   - first: The `seq` of the first message sent after `since`.
    ///   - body: Receives a message's latest revision and its snapshot.
    func changes(room: Int64, since: Int64, first: Int64, _ body: (Int64, Span<UInt8>) -> Bool) throws {
        let end = RowKey(room: room, RowKey.maximumOrdinal).rawValue
        try selectUnchanged.bind(RowKey(room: room, first).rawValue, at: 1)
        try selectUnchanged.bind(end, at: 2)
        try selectChanged.bind(RowKey(room: room, since).rawValue, at: 1)
        try selectChanged.bind(end, at: 2)
        // Merges two lists that are both in the order of revisions.
        try selectUnchanged.withRows { unchanged in
            try selectChanged.withRows { changed in
                while true {
                    let unchangedRev = unchanged.hasRow ? unchanged.integer(0) : .max
                    let changedRev = changed.hasRow ? RowKey(rawValue: changed.integer(0)).ordinal : .max
                    if unchangedRev < changedRev {
                        guard unchanged.withBytes(1, { body(unchangedRev, $0) }) else { return }
                        try unchanged.next()
                    } else if changed.hasRow {
                        guard changed.withBytes(1, { body(changedRev, $0) }) else { return }
                        try changed.next()
                    } else {
                        return
                    }
                }
            }
        }
    }

    // MARK: Unread messages

    /// Returns a user's unread messages after a read mark, among the rows through `end`, and all unread mentions.
    ///
    /// - Parameter head: The room's highest `seq`; more than `end` if messages are not filed.
    func unread(
        after mark: Int64, through end: Int64, head: Int64, in room: Int64, for user: UserID
    ) throws -> UnreadMessages {
        let start = try unreadStart(after: mark, in: room, for: user)
        var unread = UnreadMessages(mark: start)
        guard start < head else { return unread }
        let (found, mentions) = try db.unread(
            after: RowKey(room: room, start), through: RowKey(room: room, end), head: RowKey(room: room, head),
            for: user)
        unread.mentions = mentions
        guard start < end else { return unread }
        unread.add(found, through: end)
        cleared.add(room, for: user, from: start, through: found.map { $0.first - 1 } ?? end)
        return unread
    }

    /// Returns the `seq` after which unread messages are searched.
    func unreadStart(after mark: Int64, in room: Int64, for user: UserID) throws -> Int64 {
        // Expired messages are never unread, and there may be more of them than the scan examines.
        let start = max(mark, try db.expired(in: room))
        return max(start, cleared.end(of: room, for: user, after: start))
    }
}

extension SQLDatabase {
    /// Returns a message; `nil` if there is none.
    func message(room: Int64, seq: Int64) throws -> StoredMessage? {
        guard (1...RowKey.maximumOrdinal).contains(seq) else { return nil }
        return try first("SELECT id, rev, changed, body FROM messages WHERE id = $1", RowKey(room: room, seq)) {
            StoredMessage($0)
        }
    }

    /// Returns the message that was sent with a client message id; `nil` also for a user who is being erased.
    func currentMessage(room: Int64, sender: UserID, clientMessageID: String) throws -> StoredMessage? {
        let message = try message(room: room, sender: sender, clientMessageID: clientMessageID)
        return try message.flatMap { try isFormer($0.seq, in: room, of: sender) ? nil : $0 }
    }

    /// Returns true if a message was sent before the erasure that its sender waits for. Whoever has the name since then
    /// is another user, to whom the message does not belong.
    func isFormer(_ seq: Int64, in room: Int64, of sender: UserID) throws -> Bool {
        try has(
            """
            SELECT 1 FROM erasures WHERE "user" = $1 AND erased = 0
                AND NOT EXISTS (SELECT 1 FROM returns WHERE returns."user" = $1 AND room = $2 AND seq < $3)
            """, sender, room, seq)
    }

    /// Returns at most `limit` users after `user` who reacted to a message with a key, in the byte order of their ids.
    func users(
        reacting key: ReactionKey, to message: RowKey, after user: UserID?, limit: Int
    ) throws -> [UserID] {
        try all(
            "SELECT \"user\" FROM reactions WHERE message = $1 AND key = $2 AND \"user\" > $3 ORDER BY \"user\" LIMIT $4",
            // Every id sorts after a space, because no id contains one.
            message, key, user?.string ?? " ", limit
        ) { UserID(trusted: $0.text(0)) }
    }

    /// Returns at most `limit` members after `user`, in the byte order of their ids.
    func members(of room: Int64, after user: UserID?, limit: Int) throws -> [RoomMember] {
        try all(
            """
            SELECT "user", owner FROM members WHERE room = $1 AND "user" > $2
                AND \(Erasures.isPresent("members.\"user\"", in: "$1"))
            ORDER BY "user" LIMIT $3
            """, room, user?.string ?? " ", limit
        ) { RoomMember(user: UserID(trusted: $0.text(0)), role: RoomMember.Role($0.integer(1))) }
    }

    /// Returns at most `limit` read marks in a room at or beyond `seq`, of users after `user`, in the byte order of their
    /// ids.
    func reads(of room: Int64, after user: UserID?, from seq: Int64, limit: Int) throws -> [ReadReceipt] {
        try all(ReadReceipt.sql, room, user?.string ?? " ", seq, limit) {
            ReadReceipt(
                user: UserID(trusted: $0.text(0)), seq: $0.integer(1),
                at: $0.isNull(2) ? nil : Timestamp(milliseconds: $0.integer(2)))
        }
    }

    /// Returns the `seq` up to which a room's messages have expired; 0 if none have.
    func expired(in room: Int64) throws -> Int64 {
        try first("SELECT seq FROM expired WHERE room = $1", room) { $0.integer(0) } ?? 0
    }

    /// Returns a user's unread messages after `start` and through `end`, `nil` if there are none, and the unread mentions
    /// through `head`.
    func unread(
        after start: RowKey, through end: RowKey, head: RowKey, for user: UserID
    ) throws -> (UnreadMessages.Found?, UnreadMessages.Mentioned) {
        // The statement always has a row.
        try first(UnreadMessages.sql, end, user, UnreadMessages.tombstoneEnd, start, head) { row in
            func ordinal(_ column: Int32) -> Int64? {
                row.isNull(column) ? nil : RowKey(rawValue: row.integer(column)).ordinal
            }
            return (
                ordinal(0).map { UnreadMessages.Found(first: $0, count: row.integer(1)) },
                UnreadMessages.Mentioned(count: row.integer(2), first: ordinal(3))
            )
        } ?? (nil, UnreadMessages.Mentioned())
    }
}

extension ReadReceipt {
    /// Selects read marks in a room, of users after a user, at or beyond a `seq`; at most a number of them.
    static let sql = """
        SELECT "user", seq, moved_at FROM read_marks WHERE room = $1 AND "user" > $2 AND seq >= $3
            AND \(Erasures.isPresent("read_marks.\"user\"", in: "$1"))
        ORDER BY "user" LIMIT $4
        """
}
