import Wire

/// A membership and its room's activity.
struct OwnRoomRow {
    /// The room's number.
    var number: Int64
    /// The time of the newest filed message in milliseconds since 1970, or else of the room's creation; 0 if neither is
    /// known.
    var activity: Int64
    /// True if the user has sent to the room, read it, created it or joined it.
    var isEngaged: Bool
    /// True for a direct room that is not in the user's list.
    var isHidden: Bool
}

/// Statements about the rooms that a user is a member of.
extension SQLiteConnection {
    // MARK: All rooms

    /// Passes `body` the number and id of each room that a user is a member of, in no order.
    func forEachRoom(of user: UserID, _ body: (Int64, RoomID) -> Void) throws {
        try forEach("SELECT rooms.id, name FROM members \(Self.rooms) WHERE \(Self.isOf("$1"))", user) {
            body($0.integer(0), RoomID(trusted: $0.text(1)))
        }
    }

    /// Passes `body` each room that a user is a member of, in no order.
    func forEachActivity(of user: UserID, _ body: (OwnRoomRow) -> Void) throws {
        try forEach(
            "SELECT rooms.id, \(Self.activity), engaged, hidden FROM members \(Self.rooms) WHERE \(Self.isOf("$1"))",
            user
        ) { body(OwnRoomRow($0)) }
    }

    func roomMentions(of user: UserID, before position: (Int64, Int64), limit: Int) throws -> [MentionRow] {
        let rooms = try all(
            "SELECT rooms.id, name, private FROM members \(Self.rooms) WHERE \(Self.isOf("$1"))", user
        ) { (number: $0.integer(0), id: RoomID(trusted: $0.text(1)), isPrivate: $0.integer(2) == 1) }
        return try rooms.flatMap { room in
            try all(
                """
                SELECT message, created_at FROM mentions
                WHERE user = '\(MentionRows.room)' AND message > $1 AND message <= $2 AND (created_at, message) < ($3, $4)
                    AND \(MentionRows.counts(for: "$5", by: "sender"))
                ORDER BY message DESC LIMIT $6
                """, RowKey(room: room.number, 0), RowKey(room: room.number, RowKey.maximumOrdinal), position.0,
                position.1,
                user, limit
            ) {
                MentionRow(
                    message: RowKey(rawValue: $0.integer(0)), createdAt: $0.integer(1), room: room.id,
                    isPrivate: room.isPrivate, isDeleted: false, isMember: true)
            }
        }
    }

    // MARK: Rooms by activity

    /// Returns true once all memberships have their activity filled in, see ``ActivityStatements``.
    func hasActivities() throws -> Bool {
        try !has("SELECT 1 FROM meta WHERE key = '\(Schema.activityFill)'")
    }

    /// Returns the number of rooms that a user is a member of, counting no further than `most`.
    func countRooms(of user: UserID, most: Int) throws -> Int {
        try first("SELECT count(*) FROM (SELECT 1 FROM members WHERE user = $1 LIMIT $2)", user, most) {
            Int($0.integer(0))
        } ?? 0
    }

    /// Returns the number of a room if a user is a member of it.
    func number(of room: RoomID, for user: UserID) throws -> Int64? {
        try first(
            """
            SELECT rooms.id FROM rooms CROSS JOIN members ON members.room = rooms.id AND \(Self.isOf("$1"))
            WHERE rooms.name = $2 AND rooms.deleted = 0
            """, user, room
        ) { $0.integer(0) }
    }

    /// Returns a user's membership of one room; `nil` if the user is not a member.
    func activity(of user: UserID, in room: Int64) throws -> OwnRoomRow? {
        try first(
            """
            SELECT rooms.id, \(Self.activity), engaged, hidden FROM members \(Self.rooms)
            WHERE members.room = $1 AND \(Self.isOf("$2"))
            """, room, user
        ) { OwnRoomRow($0) }
    }

    /// Passes `body` the rooms without an indexed activity, which are those with many members.
    func forEachUnknown(of user: UserID, _ body: (OwnRoomRow, RoomID) -> Void) throws {
        try forEach(
            """
            SELECT rooms.id, \(Self.activity), engaged, hidden, name
            FROM members INDEXED BY members_by_activity CROSS \(Self.rooms)
            WHERE \(Self.isOf("$1")) AND engaged IN (0, 1) AND activity = \(ActivityStatements.unknown)
            """, user
        ) { body(OwnRoomRow($0), RoomID(trusted: $0.text(4))) }
    }

    /// Passes `body` the rooms with an indexed activity, latest first, from `time` on, until it returns false.
    func forEachIndexed(
        of user: UserID, isEngaged: Bool, from time: Int64, _ body: (OwnRoomRow, RoomID) -> Bool
    ) throws {
        let select = try prepare(
            """
            SELECT rooms.id, activity, engaged, hidden, name
            FROM members INDEXED BY members_by_activity CROSS \(Self.rooms)
            WHERE \(Self.isOf("$1")) AND engaged = $2 AND activity <= $3 AND activity < \(ActivityStatements.unknown)
            ORDER BY activity DESC
            """)
        try select.bind(user.string, at: 1)
        try select.bind(isEngaged ? 1 : 0, at: 2)
        try select.bind(time, at: 3)
        try select.withRows { row in
            while row.hasRow, body(OwnRoomRow(row), RoomID(trusted: row.text(4))) { try row.next() }
        }
    }

    // One search per room finds its newest message, whatever the room's size. The result is NULL if the room has none
    // and its creation time is unknown.
    private static let activity = """
        ifnull((
            SELECT messages.created_at FROM messages
            WHERE \(StoredTable.isMessage("messages.id", of: "members.room"))
            ORDER BY messages.id DESC LIMIT 1
        ), rooms.created_at)
        """

    // Deleted rooms have no members; a job removes their rows in parts.
    private static let rooms = "JOIN rooms ON rooms.id = members.room AND rooms.deleted = 0"

    // The user, unless the membership is that of an erased user of this name.
    private static func isOf(_ user: String) -> String {
        "members.user = \(user) AND \(Erasures.isPresent(user, in: "members.room"))"
    }
}

extension OwnRoomRow {
    fileprivate init(_ row: SQLiteStatement) {
        self.init(
            number: row.integer(0), activity: row.integer(1), isEngaged: row.integer(2) != 0,
            isHidden: row.integer(3) != 0)
    }
}
