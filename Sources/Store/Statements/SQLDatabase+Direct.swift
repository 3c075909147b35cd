import Chat
import Wire

/// The two members of a direct room, as its row has them.
struct DirectPair: Equatable {
    var first: UserID
    var second: UserID

    /// Creates the pair of two columns of a row, of which the first is at `column`; `nil` if the room is not direct.
    init?(_ row: some SQLStatement, from column: Int32) {
        if row.isNull(column) { return nil }
        (first, second) = (UserID(trusted: row.text(column)), UserID(trusted: row.text(column + 1)))
    }

    init(_ first: UserID, _ second: UserID) {
        (self.first, self.second) = (first, second)
    }

    /// Returns the other one of the two; `nil` for a user who is neither.
    func other(of user: UserID) -> UserID? { DirectRoom.other(of: user, first, second) }

    /// Returns the room with its state, an integer that ``state`` selects.
    func room(state: Int64) -> DirectRoom {
        DirectRoom(
            DirectRoom.Side(first, isHidden: state & 1 != 0, isBlocking: state & 4 != 0),
            DirectRoom.Side(second, isHidden: state & 2 != 0, isBlocking: state & 8 != 0))
    }

    /// The expression for the state of a row of `rooms`: bits for the list of each member that the room is not in, and for
    /// each member who blocks the other; NULL for a room that is not direct.
    static let state = """
        CAST(CASE WHEN rooms.direct_first IS NOT NULL THEN
            coalesce((SELECT sum(CASE WHEN "user" = rooms.direct_first THEN hidden ELSE 2 * hidden END) FROM members
                WHERE members.room = rooms.id), 0)
            + CASE WHEN EXISTS (SELECT 1 FROM blocks WHERE blocks."user" = rooms.direct_first
                AND blocked = rooms.direct_second) THEN 4 ELSE 0 END
            + CASE WHEN EXISTS (SELECT 1 FROM blocks WHERE blocks."user" = rooms.direct_second
                AND blocked = rooms.direct_first) THEN 8 ELSE 0 END
        END AS bigint)
        """
}

/// Statements about direct rooms and blocks.
extension SQLDatabase {
    /// Returns the state of a direct room.
    func direct(_ pair: DirectPair, _ room: Int64) throws -> DirectRoom {
        let state = try first("SELECT \(DirectPair.state) FROM rooms WHERE id = $1", room) { $0.integer(0) }
        return pair.room(state: state ?? 0)
    }

    /// Makes a new room the direct room of two users.
    func makeDirect(_ room: Int64, _ pair: DirectPair) throws {
        try runSoon(
            "UPDATE rooms SET private = 1, direct_first = $1, direct_second = $2 WHERE id = $3", pair.first,
            pair.second,
            room)
    }

    /// Takes a room out of a member's list of rooms, or puts it there.
    func setHidden(_ isHidden: Bool, for user: UserID, in room: Int64) throws {
        try runSoon("UPDATE members SET hidden = $1 WHERE room = $2 AND \"user\" = $3", isHidden, room, user)
    }

    /// Replaces the name of a user who is being erased in a direct room.
    func forgetDirect(_ user: UserID, in room: Int64) throws {
        try runSoon(
            """
            UPDATE rooms SET direct_first = CASE WHEN direct_first = $1 THEN '\(UserID.deleted)' ELSE direct_first END,
                direct_second = CASE WHEN direct_second = $1 THEN '\(UserID.deleted)' ELSE direct_second END
            WHERE id = $2
            """, user, room)
    }

    /// Returns true if a user blocks another one.
    func blocks(_ user: UserID, _ other: UserID) throws -> Bool {
        try has("SELECT 1 FROM blocks WHERE \"user\" = $1 AND blocked = $2", user, other)
    }

    /// Returns true if the other user of a direct room blocks a user.
    func isBlocked(_ user: UserID, in room: Int64) throws -> Bool {
        try has(
            """
            SELECT 1 FROM rooms JOIN blocks ON blocked = $1
                AND blocks."user" = CASE WHEN direct_first = $1 THEN direct_second ELSE direct_first END
            WHERE id = $2 AND $1 IN (direct_first, direct_second)
            """, user, room)
    }

    // MARK: Blocks

    /// Returns a user's block of another one; `nil` if there is none.
    func block(_ user: UserID, of other: UserID) throws -> Block? {
        try first("SELECT created_at FROM blocks WHERE \"user\" = $1 AND blocked = $2", user, other) {
            Block(user: other, createdAt: Timestamp(milliseconds: $0.integer(0)))
        }
    }

    /// Returns at most `limit` blocks of a user after `other`, in the byte order of the ids.
    func blocks(of user: UserID, after other: UserID?, limit: Int) throws -> [Block] {
        try all(
            """
            SELECT blocked, created_at FROM blocks WHERE "user" = $1 AND blocked > $2 ORDER BY blocked LIMIT $3
            """,
            // Every id sorts after a space, because no id contains one.
            user, other?.string ?? " ", limit
        ) { Block(user: UserID(trusted: $0.text(0)), createdAt: Timestamp(milliseconds: $0.integer(1))) }
    }

    /// Returns true if a user blocks the maximum number of users.
    func hasMaximumBlocks(_ user: UserID) throws -> Bool {
        let count = try first(
            "SELECT count(*) FROM (SELECT 1 FROM blocks WHERE \"user\" = $1 LIMIT \(Limits.userBlocks)) AS counted",
            user
        ) { $0.integer(0) }
        return count == Int64(Limits.userBlocks)
    }

    func setBlock(_ block: Block, by user: UserID) throws {
        try runSoon(
            "INSERT INTO blocks (\"user\", blocked, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", user,
            block.user, block.createdAt)
    }

    func removeBlock(of other: UserID, by user: UserID) throws {
        try runSoon("DELETE FROM blocks WHERE \"user\" = $1 AND blocked = $2", user, other)
    }

    /// Deletes all blocks that a user has set.
    func deleteBlocks(by user: UserID) throws {
        try runSoon("DELETE FROM blocks WHERE \"user\" = $1", user)
    }

    /// Deletes at most `most` blocks of a user by others.
    ///
    /// - Returns: The number deleted.
    func deleteBlocks(of user: UserID, most: Int) throws -> Int {
        try runCounting(
            """
            DELETE FROM blocks WHERE blocked = $1
                AND "user" IN (SELECT "user" FROM blocks WHERE blocked = $1 LIMIT $2)
            """, user, most)
    }
}
