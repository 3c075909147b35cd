import Chat
import Wire

/// Statements about mentions: a row for each mentioned user, and one for a mention of the room.
///
/// A commit stores the rows with their message. With SQLite the journal may still have the message then.
enum MentionRows {
    /// The user in the row of a mention of the room. No id contains a space.
    static let room = " "
}

extension SQLDatabase {
    /// Adds the mentions of a message that has none.
    func addMentions(_ mentions: Mentions, of message: RowKey, by sender: UserID, at time: Timestamp) throws {
        for user in mentions.users.map(\.string) + (mentions.room ? [MentionRows.room] : []) {
            try runSoon(
                "INSERT INTO mentions (\"user\", message, sender, created_at) VALUES ($1, $2, $3, $4)", user, message,
                sender, time)
        }
    }

    func removeMentions(of message: RowKey) throws {
        try runSoon("DELETE FROM mentions WHERE message = $1", message)
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
                        AND returns.seq < (found.message & \(RowKey.maximumPlace))) LIMIT $2)
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
}
