import Chat
import Wire

/// A connection's statements that select bans.
///
/// Confined to its connection.
final class BanStatements {
    /// The number that stands for the whole server instead of a room.
    static let server: Int64 = 0
    /// Maximum number of expired bans that are deleted when a ban is set.
    static let sweep = 64

    private let selectBans: PreparedStatement
    private let selectBan: PreparedStatement

    init(_ db: Connection) throws {
        let columns = "user, reads, until, reason, set_by, created_at"
        selectBans = try PreparedStatement(
            """
            SELECT \(columns) FROM bans WHERE room = ? AND user > ? AND (until IS NULL OR until > ?)
            ORDER BY user LIMIT ?
            """, db)
        selectBan = try PreparedStatement("SELECT \(columns) FROM bans WHERE room = ? AND user = ?", db)
    }

    /// Returns at most `limit` bans after `user` that are in force at `time`, in the byte order of their user ids.
    func bans(from room: Int64, after user: UserID?, at time: Timestamp, limit: Int) throws -> [Ban] {
        try selectBans.bind(room, at: 1)
        // Every id sorts after a space, because no id contains one.
        try selectBans.bind(user?.string ?? " ", at: 2)
        try selectBans.bind(time.milliseconds, at: 3)
        try selectBans.bind(Int64(limit), at: 4)
        return try selectBans.allRows { Ban($0, from: 0) }
    }

    /// Returns a user's ban; `nil` if there is none or it has ended by `time`.
    func ban(of user: UserID, from room: Int64, at time: Timestamp) throws -> Ban? {
        try selectBan.bind(room, at: 1)
        try selectBan.bind(user.string, at: 2)
        return try selectBan.firstRow { Ban($0, from: 0) }.flatMap { $0.isInForce(at: time) ? $0 : nil }
    }
}

/// The writer's statements that change bans.
///
/// Confined to its connection.
final class BanChangeStatements {
    let bans: BanStatements
    private let upsert: PreparedStatement
    private let delete: PreparedStatement
    private let deleteEnded: PreparedStatement
    private let count: PreparedStatement
    private let selectMentions: PreparedStatement

    init(_ db: Connection) throws {
        bans = try BanStatements(db)
        upsert = try PreparedStatement(
            """
            INSERT INTO bans (room, user, reads, until, reason, set_by, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (room, user) DO UPDATE SET reads = excluded.reads, until = excluded.until,
                reason = excluded.reason, set_by = excluded.set_by, created_at = excluded.created_at
            """, db)
        delete = try PreparedStatement("DELETE FROM bans WHERE room = ? AND user = ?", db)
        deleteEnded = try PreparedStatement(
            """
            DELETE FROM bans WHERE (room, user) IN
                (SELECT room, user FROM bans WHERE until <= ? LIMIT \(BanStatements.sweep))
            """, db)
        count = try PreparedStatement(
            "SELECT count(*) FROM (SELECT 1 FROM bans WHERE room = ? LIMIT \(Limits.roomBans)) AS counted", db)
        let position = db.sql(sqlite: "instr(reason, ?1)", postgres: "strpos(reason, ?1)")
        selectMentions = try PreparedStatement(
            """
            SELECT room, user, reads, until, reason, set_by, created_at FROM bans
            WHERE set_by = ?1 OR (reason IS NOT NULL AND \(position) > 0)
            """, db)
    }

    /// Sets or replaces a ban.
    func set(_ ban: Ban, from room: Int64) throws {
        try upsert.bind(room, at: 1)
        try upsert.bind(ban.user.string, at: 2)
        try upsert.bind(ban.scope == .all ? 1 : 0, at: 3)
        if let until = ban.until { try upsert.bind(until.milliseconds, at: 4) } else { try upsert.bindNull(at: 4) }
        try upsert.bind(ban.reason, at: 5)
        try upsert.bind(ban.by.string, at: 6)
        try upsert.bind(ban.createdAt.milliseconds, at: 7)
        try upsert.run()
    }

    func remove(_ user: UserID, from room: Int64) throws {
        try delete.bind(room, at: 1)
        try delete.bind(user.string, at: 2)
        try delete.run()
    }

    /// Returns the bans that a user has set, and those whose reason contains the user's id, with the numbers of their
    /// rooms. Reads all bans.
    func mentions(of user: UserID) throws -> [(room: Int64, ban: Ban)] {
        try selectMentions.bind(user.string, at: 1)
        return try selectMentions.allRows { ($0.integer(0), Ban($0, from: 1)) }
    }

    /// Deletes some of the bans that have ended by `time`.
    func sweep(at time: Timestamp) throws {
        try deleteEnded.bind(time.milliseconds, at: 1)
        try deleteEnded.run()
    }

    /// Returns true if a room has the maximum number of bans.
    func isFull(_ room: Int64) throws -> Bool {
        try count.bind(room, at: 1)
        return try count.firstRow { $0.integer(0) } == Int64(Limits.roomBans)
    }
}

extension BanTable {
    /// Replaces the bans by the stored ones that are in force at `time`.
    func load(_ db: Connection, at time: Timestamp) throws {
        replace(by: try Self.stored(db, at: time))
    }

    /// Reads the stored bans that are in force at `time`.
    static func stored(_ db: Connection, at time: Timestamp) throws -> [Key: Ban] {
        let select = try PreparedStatement(
            """
            SELECT rooms.name, user, reads, until, reason, set_by, bans.created_at
            FROM bans LEFT JOIN rooms ON rooms.id = bans.room
            WHERE (until IS NULL OR until > ?) AND ifnull(rooms.deleted, 0) = 0
            """, db)
        try select.bind(time.milliseconds, at: 1)
        var bans: [Key: Ban] = [:]
        try select.forEachRow { row in
            let ban = Ban(row, from: 1)
            bans[Key(room: row.isNull(0) ? nil : RoomID(trusted: row.text(0)), user: ban.user)] = ban
        }
        return bans
    }
}

extension Ban {
    /// Creates the ban of a row whose ban columns begin with `user` at `column`.
    fileprivate init(_ row: borrowing PreparedStatement.Row, from column: Int32) {
        self.init(
            user: UserID(trusted: row.text(column)), scope: row.integer(column + 1) == 1 ? .all : .send,
            until: row.isNull(column + 2) ? nil : Timestamp(milliseconds: row.integer(column + 2)),
            reason: row.isNull(column + 3) ? nil : row.text(column + 3), by: UserID(trusted: row.text(column + 4)),
            createdAt: Timestamp(milliseconds: row.integer(column + 5)))
    }
}
