import GRDB
import Wire

/// A reader's statements for rooms' members and settings.
///
/// Confined to its connection.
final class RoomStatements {
    private let selectMembers: PreparedStatement
    private let selectTitle: PreparedStatement

    init(_ db: Database) throws {
        selectMembers = try PreparedStatement(
            "SELECT user, owner FROM members WHERE room = ? AND user > ? ORDER BY user LIMIT ?", db)
        selectTitle = try PreparedStatement("SELECT title FROM rooms WHERE id = ? AND title IS NOT NULL", db)
    }

    /// Returns at most `limit` members after `user`, in the byte order of their ids.
    func members(of room: Int64, after user: UserID?, limit: Int) throws -> [RoomMember] {
        try selectMembers.bind(room, at: 1)
        // No id is or begins with a space, and every id sorts after one.
        try selectMembers.bind(user?.string ?? " ", at: 2)
        try selectMembers.bind(Int64(limit), at: 3)
        var members: [RoomMember] = []
        try selectMembers.forEachRow { row in
            let user = UserID(trusted: row.text(0))
            members.append(RoomMember(user: user, role: row.integer(1) == 1 ? .owner : .member))
        }
        return members
    }

    /// Returns a room's title; `nil` if it has none.
    func title(of room: Int64) throws -> String? {
        try selectTitle.bind(room, at: 1)
        return try selectTitle.firstRow { $0.text(0) }
    }
}
