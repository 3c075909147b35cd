import Chat
import Signatures
public import Wire

extension RoomID {
    /// Returns the id of the direct room of two users: `@`, and the first 22 characters of the base64url (RFC 4648) of
    /// SHA-256 over both ids in byte order, joined by U+0000.
    public static func direct(_ user: UserID, _ other: UserID) -> RoomID {
        let ids = [Array(user.string.utf8), Array(other.string.utf8)].sorted { $0.lexicographicallyPrecedes($1) }
        let text = Base64URL.encode(SHA256.digest(of: ids[0] + [0] + ids[1]))
        return RoomID(trusted: "@" + text.prefix(directCharacters))
    }
}

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
}
