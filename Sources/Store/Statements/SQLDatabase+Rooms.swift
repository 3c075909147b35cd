import Chat
import Wire

/// Statements about rooms and the settings in their rows.
extension SQLDatabase {
    /// Returns the room with a number: its id, its highest `seq`, and true if it has been deleted; `nil` if there is
    /// none.
    func room(_ number: Int64) throws -> (id: RoomID, head: Int64, isDeleted: Bool)? {
        let found = try first("SELECT name, deleted FROM rooms WHERE id = $1", number) {
            (id: RoomID(trusted: $0.text(0)), isDeleted: $0.integer(1) == 1)
        }
        guard let found else { return nil }
        return (found.id, try progress(of: number).head, found.isDeleted)
    }

    /// Returns the highest number of a room; 0 if there is none.
    func highestRoom() throws -> Int64 {
        try first("SELECT coalesce(max(id), 0) FROM rooms") { $0.integer(0) } ?? 0
    }

    /// Returns a room's title; `nil` if it has none.
    func title(of room: Int64) throws -> String? {
        try first("SELECT title FROM rooms WHERE id = $1 AND title IS NOT NULL", room) { $0.text(0) }
    }

    /// Sets what is given of a room's settings. Empty texts, empty data and 0 days remove a value. The search index adds or
    /// removes the room's words later.
    func set(_ settings: RoomSettings, of room: Int64) throws {
        func set(_ column: String, _ value: some SQLValue) throws {
            try runSoon("UPDATE rooms SET \(column) = $1 WHERE id = $2", value, room)
        }
        func set(_ column: String, text: String) throws { try set(column, text.isEmpty ? nil : text) }
        if let visibility = settings.visibility { try set("private", visibility == .private) }
        if let title = settings.title { try set("title", text: title) }
        if let posting = settings.posting { try set("posting", posting == .owners) }
        if let pinning = settings.pinning { try set("pinning", pinning == .members) }
        if let seconds = settings.slowSeconds { try set("slow_seconds", seconds) }
        if let days = settings.keepDays { try set("keep_days", days == 0 ? nil : days) }
        if let avatar = settings.avatar { try set("avatar", text: avatar) }
        if let data = settings.data { try set("data", text: String(decoding: data, as: UTF8.self)) }
        if let isSearchable = settings.isSearchable { try set("searchable", isSearchable) }
    }

    /// Returns what owners have set for a room besides its visibility, and what a user has set for oneself there.
    func settings(
        of room: Int64, for user: UserID?
    ) throws -> (title: String?, manners: RoomManners, notify: NotifySettings?) {
        let found =
            if let user {
                try first(
                    """
                    SELECT level, until, room_mentions, \(RoomManners.columns) FROM rooms
                        LEFT JOIN notify ON notify.room = rooms.id AND notify."user" = $1
                            AND \(Erasures.isPresent("$1", in: "rooms.id"))
                    WHERE rooms.id = $2
                    """, user, room
                ) { row in (RoomManners.title(row, from: 3), RoomManners(row, from: 3), NotifySettings(row)) }
            } else {
                try first("SELECT \(RoomManners.columns) FROM rooms WHERE id = $1", room) { row in
                    (RoomManners.title(row), RoomManners(row), nil as NotifySettings?)
                }
            }
        return found ?? (nil, RoomManners(), nil)
    }

    /// Marks a room as deleted, and clears its row except for the name.
    func markDeleted(_ room: Int64) throws {
        let settings = RoomManners.settings.map { "\($0.column) = \($0.initial)" }.joined(separator: ", ")
        try runSoon(
            """
            UPDATE rooms SET deleted = 1, private = 0, created_at = NULL, bytes = 0, active_at = NULL, \(settings)
            WHERE id = $1
            """, room)
    }

    /// Adds to a room's bytes the difference between new snapshots and those that they replace.
    func addBytes(_ bytes: Int, to room: Int64) throws {
        if bytes == 0 { return }
        try runSoon("UPDATE rooms SET bytes = bytes + $1 WHERE id = $2", bytes, room)
    }
}

extension RoomManners {
    /// The columns of the title and the other settings in a room's row, in the order of ``init(_:from:)``, with the
    /// values of a new room.
    static let settings: [(column: String, kind: StoredTable.Column.Kind, initial: String)] = [
        ("title", .text, "NULL"), ("posting", .integer, "0"), ("slow_seconds", .integer, "0"),
        ("keep_days", .integer, "NULL"), ("avatar", .text, "NULL"), ("data", .text, "NULL"),
        ("pinning", .integer, "0"), ("searchable", .integer, "1"),
    ]

    /// The columns of ``settings``.
    static let columns = settings.map(\.column).joined(separator: ", ")

    /// Returns the title in a row with ``columns``.
    static func title(_ row: some SQLStatement, from first: Int32 = 0) -> String? {
        row.isNull(first) ? nil : row.text(first)
    }

    /// Creates the manners of a room from a row with ``columns``.
    ///
    /// - Parameter first: The index of the title's column.
    init(_ row: some SQLStatement, from first: Int32 = 0) {
        func text(_ column: Int32) -> String? { row.isNull(first + column) ? nil : row.text(first + column) }
        self.init(
            posting: Posting(row.integer(first + 1)), pinning: Pinning(row.integer(first + 6)),
            slowSeconds: Int(row.integer(first + 2)),
            keepDays: row.isNull(first + 3) ? nil : Int(row.integer(first + 3)), avatar: text(4),
            data: Array((text(5) ?? "").utf8), isSearchable: row.integer(first + 7) == 1)
    }
}

/// Statements about the times of users' last messages in slow mode.
extension SQLDatabase {
    /// Returns the time of a user's last message in slow mode; `nil` if there is none.
    func slowSend(of user: UserID, in room: Int64) throws -> Timestamp? {
        try first(
            "SELECT at FROM slow_sends WHERE \"user\" = $1 AND room = $2 AND \(Erasures.isPresent("$1", in: "$2"))",
            user, room
        ) { Timestamp(milliseconds: $0.integer(0)) }
    }

    func setSlowSend(of user: UserID, in room: Int64, at time: Timestamp) throws {
        try runSoon(
            """
            INSERT INTO slow_sends ("user", room, at) VALUES ($1, $2, $3)
            ON CONFLICT ("user", room) DO UPDATE SET at = excluded.at
            """, user, room, time)
    }
}

/// Statements about members and read marks.
extension SQLDatabase {
    /// Returns a user's role in a room; `nil` if the user is not a member.
    func role(of user: UserID, in room: Int64) throws -> RoomMember.Role? {
        try first(
            "SELECT owner FROM members WHERE room = $1 AND \"user\" = $2 AND \(Erasures.isPresent("$2", in: "$1"))",
            room, user
        ) { RoomMember.Role($0.integer(0)) }
    }

    /// Returns true if a user's membership is stored, even if the user is being erased.
    func hasMembership(of user: UserID, in room: Int64) throws -> Bool {
        try has("SELECT 1 FROM members WHERE room = $1 AND \"user\" = $2", room, user)
    }

    /// Returns the number of a room's owners, counting no further than 2.
    func owners(of room: Int64) throws -> Int {
        try all(
            """
            SELECT 1 FROM members WHERE room = $1 AND owner = 1
                AND \(Erasures.isPresent("members.\"user\"", in: "$1")) LIMIT 2
            """, room
        ) { $0.integer(0) }.count
    }

    /// Adds a member, or changes a member's role.
    func setRole(_ role: RoomMember.Role, of user: UserID, in room: Int64) throws {
        try runSoon(
            """
            INSERT INTO members (room, "user", owner) VALUES ($1, $2, $3)
            ON CONFLICT (room, "user") DO UPDATE SET owner = excluded.owner
            """, room, user, role == .owner)
    }

    func removeMember(_ user: UserID, from room: Int64) throws {
        try runSoon("DELETE FROM members WHERE room = $1 AND \"user\" = $2", room, user)
    }

    /// Marks a user as engaged in a room. Does nothing if the user is not a member.
    func engage(_ user: UserID, in room: Int64) throws {
        try runSoon("UPDATE members SET engaged = 1 WHERE room = $1 AND \"user\" = $2 AND engaged = 0", room, user)
    }

    /// Returns true if a user has read a room, has sent a filed message with a client message id, or has sent the first
    /// one. Other messages are not searched, because there may be millions.
    func wasEngaged(_ user: UserID, in room: Int64) throws -> Bool {
        try first(
            """
            SELECT EXISTS (SELECT 1 FROM read_marks WHERE "user" = $1 AND room = $2)
                OR EXISTS (
                    SELECT 1 FROM messages WHERE id >> 36 = $2 AND sender = $1 AND client_message_id IS NOT NULL)
                OR EXISTS (SELECT 1 FROM messages WHERE id = ($2 << 36) + 1 AND sender = $1)
            """, user, room
        ) { $0.integer(0) != 0 } ?? false
    }

    /// Returns a user's read mark in a room; 0 if nothing has been read.
    func readMark(of user: UserID, in room: Int64) throws -> Int64 {
        try first(
            "SELECT seq FROM read_marks WHERE \"user\" = $1 AND room = $2 AND \(Erasures.isPresent("$1", in: "$2"))",
            user, room
        ) { $0.integer(0) } ?? 0
    }

    /// Moves a user's mark forward at a time, if that is known. Does nothing if it is there already, or further.
    func raiseMark(to seq: Int64, for user: UserID, in room: Int64, at time: Timestamp?) throws {
        try runSoon(
            """
            INSERT INTO read_marks ("user", room, seq, moved_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT ("user", room) DO UPDATE SET seq = excluded.seq, moved_at = excluded.moved_at
                WHERE excluded.seq > read_marks.seq
            """, user, room, seq, time?.milliseconds)
    }
}
