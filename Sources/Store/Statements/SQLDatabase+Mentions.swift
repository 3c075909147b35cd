import Chat
import Wire

/// Statements about mentions: a row for each mentioned user, and one for a mention of the room.
///
/// A commit stores the rows with their message. With SQLite the journal may still have the message then.
enum MentionRows {
    /// The user in the row of a mention of the room. No id contains a space.
    static let room = " "

    /// Returns the users in the rows of mentions.
    static func users(of mentions: Mentions) -> [String] {
        mentions.users.map(\.string) + (mentions.room ? [room] : [])
    }

    /// Returns a condition on the `sender` of a mention of a user or of the user's room: true if it counts. The user's own
    /// do not, nor do those by users whom the user blocks.
    static func counts(for user: String, by sender: String) -> String {
        """
        (\(sender) <> \(user) AND NOT EXISTS (
            SELECT 1 FROM blocks WHERE blocks."user" = \(user) AND blocks.blocked = \(sender)))
        """
    }

    /// Returns a condition on a `message`: true unless its mention of a user is that of an erased user with the same id.
    static func isPresent(_ user: String, in message: String) -> String {
        """
        (NOT EXISTS (SELECT 1 FROM erasures WHERE erasures."user" = \(user) AND erasures.erased = 0)
            OR EXISTS (SELECT 1 FROM returns WHERE returns."user" = \(user) AND returns.room = \(message) >> 36
                AND returns.seq < (\(message) & \(RowKey.maximumOrdinal))))
        """
    }
}

/// A message that mentions a user, in the list of the user's mentions.
struct MentionRow {
    var message: RowKey
    /// The time of the message, in milliseconds since 1970.
    var createdAt: Int64
    var room: RoomID
    /// True if only members may read the room.
    var isPrivate: Bool
    /// True if the room has been deleted.
    var isDeleted: Bool
    /// True if the user is a member of the room.
    var isMember: Bool

    /// The position in the list.
    var position: (Int64, Int64) { (createdAt, message.rawValue) }
}

extension SQLDatabase {
    /// Adds mentions that a message does not have.
    func addMentions(_ mentions: Mentions, of message: RowKey, by sender: UserID, at time: Timestamp) throws {
        for user in MentionRows.users(of: mentions) {
            try runSoon(
                "INSERT INTO mentions (\"user\", message, sender, created_at) VALUES ($1, $2, $3, $4)", user, message,
                sender, time)
        }
    }

    /// Returns true if a message mentions a user who has not been erased since.
    func mentions(_ user: UserID, _ message: RowKey) throws -> Bool {
        try has(
            """
            SELECT 1 FROM mentions WHERE "user" = $1 AND message = $2 AND \(MentionRows.isPresent("$1", in: "message"))
            """, user, message)
    }

    /// Removes mentions of a message.
    func remove(_ mentions: Mentions, from message: RowKey) throws {
        for user in MentionRows.users(of: mentions) {
            try runSoon("DELETE FROM mentions WHERE \"user\" = $1 AND message = $2", user, message)
        }
    }

    /// Deletes at most `most` mentions of an erased user: those up to the user's boundary in each room.
    ///
    /// - Returns: the number deleted.
    func deleteMentions(of user: UserID, most: Int) throws -> Int {
        try runCounting(
            """
            DELETE FROM mentions WHERE "user" = $1 AND message IN (
                SELECT message FROM mentions AS found WHERE "user" = $1 AND NOT EXISTS (
                    SELECT 1 FROM returns WHERE returns."user" = $1 AND returns.room = found.message >> 36
                        AND returns.seq < (found.message & \(RowKey.maximumOrdinal))) LIMIT $2)
            """, user, most)
    }

    /// Returns true if a room has more than `most` members.
    func hasMembers(_ room: Int64, moreThan most: Int) throws -> Bool {
        try all(
            """
            SELECT 1 FROM members WHERE room = $1 AND \(Erasures.isPresent("members.\"user\"", in: "$1")) LIMIT $2
            """, room, most + 1
        ) { $0.integer(0) }.count > most
    }

    // MARK: A user's mentions

    /// Returns the room of a position in a list of mentions, which begins with the newest, and the position itself: a time
    /// and a message.
    func position(of cursor: MessageCursor?) throws -> (Int64, Int64) {
        guard let cursor else { return (.max, .max) }
        // Without the room, which another server may have, the list goes on with what is older.
        guard let room = try row(of: cursor.room, locking: false) else { return (cursor.milliseconds, 0) }
        return (cursor.milliseconds, RowKey(room: room.number, cursor.seq).rawValue)
    }

    /// Returns at most `limit` messages that mention a user by name, before a position, newest first.
    func ownMentions(of user: UserID, before position: (Int64, Int64), limit: Int) throws -> [MentionRow] {
        try all(
            """
            SELECT mentions.message, mentions.created_at, rooms.name, rooms.private, rooms.deleted, EXISTS (
                SELECT 1 FROM members WHERE members.room = rooms.id AND members."user" = $1
                    AND \(Erasures.isPresent("$1", in: "rooms.id")))
            FROM mentions JOIN rooms ON rooms.id = mentions.message >> 36
            WHERE mentions."user" = $1 AND (mentions.created_at, mentions.message) < ($2, $3)
                AND \(MentionRows.counts(for: "$1", by: "mentions.sender"))
                AND \(MentionRows.isPresent("$1", in: "mentions.message"))
            ORDER BY mentions.created_at DESC, mentions.message DESC LIMIT $4
            """, user, position.0, position.1, limit
        ) { MentionRow($0) }
    }

    /// Returns at most `limit` messages that mention a user or a room of the user, before a position, newest first.
    func mentions(of user: UserID, before position: (Int64, Int64), limit: Int) throws -> [MentionRow] {
        let found =
            try ownMentions(of: user, before: position, limit: limit)
            + roomMentions(of: user, before: position, limit: limit)
        var merged: [MentionRow] = []
        for row in found.sorted(by: { $0.position > $1.position }) {
            // A message may mention both.
            if merged.last?.message.rawValue != row.message.rawValue { merged.append(row) }
        }
        return Array(merged.prefix(limit))
    }
}

extension MentionRow {
    /// Reads the columns message, time, room, private, deleted and membership.
    init(_ row: some SQLStatement) {
        self.init(
            message: RowKey(rawValue: row.integer(0)), createdAt: row.integer(1), room: RoomID(trusted: row.text(2)),
            isPrivate: row.integer(3) == 1, isDeleted: row.integer(4) == 1, isMember: row.integer(5) == 1)
    }
}
