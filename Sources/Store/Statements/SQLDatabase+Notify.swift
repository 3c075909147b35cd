import Chat
import Wire

/// Statements about what may disturb users in rooms. Without a row, everything may.
extension SQLDatabase {
    /// Sets what may disturb a user in a room; `nil` for the default.
    func setNotify(_ settings: NotifySettings?, of user: UserID, in room: Int64) throws {
        guard let settings else {
            return try runSoon("DELETE FROM notify WHERE \"user\" = $1 AND room = $2", user, room)
        }
        try runSoon(
            """
            INSERT INTO notify ("user", room, level, until, room_mentions) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT ("user", room) DO UPDATE
                SET level = excluded.level, until = excluded.until, room_mentions = excluded.room_mentions
            """, user, room, settings.level.rawValue, settings.until, settings.roomMentions)
    }
}

extension NotifySettings {
    /// Reads the columns level, time of the end, and mentions of the room; `nil` if there are none.
    init?(_ row: some SQLStatement, from column: Int32 = 0) {
        guard !row.isNull(column), let level = Level(rawValue: row.text(column)) else { return nil }
        self.init(
            level: level, until: row.isNull(column + 1) ? nil : Timestamp(milliseconds: row.integer(column + 1)),
            roomMentions: row.integer(column + 2) == 1)
    }
}
