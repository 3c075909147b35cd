import Chat
import Wire

/// Statements about bans.
extension SQLDatabase {
    /// Returns at most `limit` bans after `user` that are in force at `time`, in the byte order of their user ids.
    func bans(from room: Int64, after user: UserID?, at time: Timestamp, limit: Int) throws -> [Ban] {
        try all(
            """
            SELECT \(Ban.columns) FROM bans WHERE room = $1 AND "user" > $2 AND (until IS NULL OR until > $3)
            ORDER BY "user" LIMIT $4
            """,
            // Every id sorts after a space, because no id contains one.
            room, user?.string ?? " ", time, limit
        ) { Ban($0, from: 0) }
    }

    /// Returns a user's ban; `nil` if there is none or it has ended by `time`.
    func ban(of user: UserID, from room: Int64, at time: Timestamp) throws -> Ban? {
        let ban = try first("SELECT \(Ban.columns) FROM bans WHERE room = $1 AND \"user\" = $2", room, user) {
            Ban($0, from: 0)
        }
        return ban.flatMap { $0.isInForce(at: time) ? $0 : nil }
    }

    /// Sets or replaces a ban.
    func setBan(_ ban: Ban, from room: Int64) throws {
        try runSoon(
            """
            INSERT INTO bans (room, \(Ban.columns)) VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (room, "user") DO UPDATE SET reads = excluded.reads, until = excluded.until,
                reason = excluded.reason, set_by = excluded.set_by, created_at = excluded.created_at
            """, room, ban.user, ban.scope == .all, ban.until, ban.reason, ban.by, ban.createdAt)
    }

    func removeBan(of user: UserID, from room: Int64) throws {
        try runSoon("DELETE FROM bans WHERE room = $1 AND \"user\" = $2", room, user)
    }

    /// Deletes some of the bans that have ended by `time`.
    func sweepBans(at time: Timestamp) throws {
        try runSoon(
            """
            DELETE FROM bans WHERE (room, "user") IN
                (SELECT room, "user" FROM bans WHERE until <= $1 LIMIT \(Ban.sweep))
            """, time)
    }

    /// Returns true if a room has the maximum number of bans that are in force at `time`.
    func hasMaximumBans(_ room: Int64, at time: Timestamp) throws -> Bool {
        let count = try first(
            """
            SELECT count(*) FROM
                (SELECT 1 FROM bans WHERE room = $1 AND (until IS NULL OR until > $2) LIMIT \(Limits.roomBans)) AS counted
            """, room, time
        ) { $0.integer(0) }
        return count == Int64(Limits.roomBans)
    }

    /// Returns the bans that a user has set, and all that have a reason, with the numbers of their rooms. Reads all bans.
    func bansThatMayName(_ user: UserID) throws -> [(room: Int64, ban: Ban)] {
        try all("SELECT room, \(Ban.columns) FROM bans WHERE set_by = $1 OR reason IS NOT NULL", user) {
            ($0.integer(0), Ban($0, from: 1))
        }
    }
}

extension BanTable {
    /// Replaces the bans by the stored ones that are in force at `time`.
    func load(_ db: some SQLDatabase, at time: Timestamp) throws {
        replace(by: try Self.stored(db, at: time))
    }

    /// Reads the stored bans that are in force at `time`.
    static func stored(_ db: some SQLDatabase, at time: Timestamp) throws -> [Key: Ban] {
        var bans: [Key: Ban] = [:]
        try db.forEach(
            """
            SELECT rooms.name, "user", reads, until, reason, set_by, bans.created_at
            FROM bans LEFT JOIN rooms ON rooms.id = bans.room
            WHERE (until IS NULL OR until > $1) AND coalesce(rooms.deleted, 0) = 0
            """, time
        ) { row in
            let ban = Ban(row, from: 1)
            bans[Key(room: row.isNull(0) ? nil : RoomID(trusted: row.text(0)), user: ban.user)] = ban
        }
        return bans
    }
}

extension Ban {
    /// The columns that ``init(_:from:)`` reads.
    fileprivate static let columns = "\"user\", reads, until, reason, set_by, created_at"
    /// Maximum number of expired bans that are deleted when a ban is set.
    static let sweep = 64

    /// Creates the ban of a row whose ban columns begin with `user` at `column`.
    fileprivate init(_ row: some SQLStatement, from column: Int32) {
        self.init(
            user: UserID(trusted: row.text(column)), scope: row.integer(column + 1) == 1 ? .all : .send,
            until: row.isNull(column + 2) ? nil : Timestamp(milliseconds: row.integer(column + 2)),
            reason: row.isNull(column + 3) ? nil : row.text(column + 3), by: UserID(trusted: row.text(column + 4)),
            createdAt: Timestamp(milliseconds: row.integer(column + 5)))
    }
}
