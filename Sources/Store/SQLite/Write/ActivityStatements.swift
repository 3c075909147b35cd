import Wire

/// The statements of SQLite's writer for the order of users' rooms: the latest activity of each membership's room, in an index by
/// user.
///
/// Filing a room's messages writes its activity to the rows of its members. Readers add that of unfiled messages. In a
/// room with more than ``maximumMembers`` members, activity is not stored, because each message would write as many
/// rows. Readers look up the newest message instead.
///
/// A member who has sent to the room, read it, created it or joined it is engaged. A subscription to `mine` takes rooms
/// that others have added the user to last.
///
/// Confined to the writer's connection.
final class ActivityStatements {
    /// Maximum number of members of a room whose activity is stored.
    static let maximumMembers = 64
    /// The activity of a membership in a room whose activity is not stored.
    static let unknown = OwnRoom.unknownActivity

    private let db: SQLiteConnection
    private let selectMembers: SQLiteStatement
    private let update: SQLiteStatement
    private let engage: SQLiteStatement

    init(_ db: SQLiteConnection) throws {
        self.db = db
        selectMembers = try db.prepare(
            "SELECT user, engaged, activity FROM members WHERE room = ? LIMIT \(Self.maximumMembers + 2)")
        update = try db.prepare("UPDATE members SET activity = ?, engaged = ? WHERE room = ? AND user = ?")
        engage = try db.prepare("UPDATE members SET engaged = 1 WHERE room = ? AND user = ? AND engaged = 0")
    }

    /// One membership.
    private struct Row {
        var user: String
        var isEngaged: Bool
        /// `nil` until ``fill(most:)`` fills it in.
        var activity: Int64?
    }

    private func members(of room: Int64) throws -> [Row] {
        try selectMembers.bind(room, at: 1)
        var rows: [Row] = []
        try selectMembers.forEachRow { row in
            rows.append(
                Row(user: row.text(0), isEngaged: row.integer(1) != 0, activity: row.isNull(2) ? nil : row.integer(2)))
        }
        return rows
    }

    private func set(_ activity: Int64, _ isEngaged: Bool, of user: String, in room: Int64) throws {
        try update.bind(activity, at: 1)
        try update.bind(isEngaged ? 1 : 0, at: 2)
        try update.bind(room, at: 3)
        try update.bind(user, at: 4)
        try update.run()
    }

    // MARK: Keeping the activity

    /// Updates the activity of the rooms of filed messages, which may be in any order.
    func filed(_ messages: [RecentMessage]) throws {
        var rest = messages[...]
        while let first = rest.first {
            var last = first
            var senders: Set<UserID> = [first.sender]
            rest.removeFirst()
            while let next = rest.first, next.roomNumber == first.roomNumber {
                if next.sender != last.sender { senders.insert(next.sender) }
                last = next
                rest.removeFirst()
            }
            try filed(last.createdAt.milliseconds, from: senders, in: first.roomNumber)
        }
    }

    private func filed(_ activity: Int64, from senders: Set<UserID>, in room: Int64) throws {
        let members = try members(of: room)
        guard members.count <= Self.maximumMembers else {
            for sender in senders { try engage(sender, in: room) }
            return
        }
        for member in members where member.activity != nil {
            let isEngaged = member.isEngaged || senders.contains(UserID(trusted: member.user))
            guard member.activity != activity || member.isEngaged != isEngaged else { continue }
            try set(activity, isEngaged, of: member.user, in: room)
        }
    }

    /// Sets the activity of a new membership.
    ///
    /// - Parameters:
    ///   - latest: The time of the room's newest message, in milliseconds since 1970; `nil` if it has none.
    ///   - isEngaged: True if the user is engaged already.
    func joined(_ user: UserID, _ room: Int64, latest: Int64?, isEngaged: Bool) throws {
        let count = try members(of: room).count
        var activity = Self.unknown
        if count <= Self.maximumMembers { activity = try latest ?? creation(of: room) }
        try set(activity, isEngaged, of: user.string, in: room)
        // With this member the room has too many, so activity is no longer stored.
        guard count == Self.maximumMembers + 1 else { return }
        try db.run(
            "UPDATE members SET activity = \(Self.unknown) WHERE room = $1 AND activity IS NOT NULL", room)
    }

    private func engage(_ user: UserID, in room: Int64) throws {
        try engage.bind(room, at: 1)
        try engage.bind(user.string, at: 2)
        try engage.run()
    }

    private func creation(of room: Int64) throws -> Int64 {
        try db.first("SELECT created_at FROM rooms WHERE id = $1", room) { $0.integer(0) } ?? 0
    }

    // MARK: Databases of earlier versions

    /// Fills in the next memberships of a database of an earlier version, which stored no activity. Until all are
    /// filled in, lists of rooms read all rooms of their user.
    ///
    /// - Parameter most: maximum number of memberships to examine.
    /// - Returns: the number of the last one's room; `nil` if there are no more.
    func fill(most: Int) throws -> Int64? {
        let value = try db.first("SELECT value FROM meta WHERE key = '\(Schema.activityFill)'") { $0.text(0) }
        // ROOM:USER, the last membership that is filled in; both are empty at first.
        guard let value else { return nil }
        let parts = value.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let rows = try db.all(
            """
            SELECT room, user, engaged, activity IS NULL FROM members
            WHERE (room, user) > ($1, $2) ORDER BY room, user LIMIT $3
            """, Int64(parts[0]) ?? 0, parts.count > 1 ? String(parts[1]) : "", most
        ) { row in
            (room: row.integer(0), user: row.text(1), isEngaged: row.integer(2) != 0, isMissing: row.integer(3) != 0)
        }
        guard let last = rows.last else {
            try db.run("DELETE FROM meta WHERE key = '\(Schema.activityFill)'")
            return nil
        }
        var activity: (room: Int64, milliseconds: Int64)?
        for row in rows where row.isMissing {
            if activity?.room != row.room { activity = (row.room, try filedActivity(of: row.room)) }
            let isEngaged = try row.isEngaged || db.wasEngaged(UserID(trusted: row.user), in: row.room)
            try set(activity!.milliseconds, isEngaged, of: row.user, in: row.room)
        }
        try db.run(
            "UPDATE meta SET value = $1 WHERE key = '\(Schema.activityFill)'", "\(last.room):\(last.user)")
        return last.room
    }

    private func filedActivity(of room: Int64) throws -> Int64 {
        guard try members(of: room).count <= Self.maximumMembers else { return Self.unknown }
        let latest = try db.progress(of: room).latest
        return try latest == 0 ? creation(of: room) : latest
    }
}
