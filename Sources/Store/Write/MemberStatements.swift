import GRDB
import Wire

/// The writer's statements about rooms' members and settings.
///
/// Confined to its connection.
final class MemberStatements {
    private let db: Database
    private let selectOwners: PreparedStatement
    private let upsert: PreparedStatement
    private let delete: PreparedStatement
    private let updateVisibility: PreparedStatement
    private let updateTitle: PreparedStatement
    private let markDeleted: PreparedStatement

    init(_ db: Database) throws {
        self.db = db
        selectOwners = try PreparedStatement("SELECT 1 FROM members WHERE room = ? AND owner = 1 LIMIT 2", db)
        upsert = try PreparedStatement(
            """
            INSERT INTO members (room, user, owner) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET owner = excluded.owner
            """, db)
        delete = try PreparedStatement("DELETE FROM members WHERE room = ? AND user = ?", db)
        updateVisibility = try PreparedStatement("UPDATE rooms SET private = ? WHERE id = ?", db)
        updateTitle = try PreparedStatement("UPDATE rooms SET title = ? WHERE id = ?", db)
        markDeleted = try PreparedStatement(
            "UPDATE rooms SET deleted = 1, private = 0, title = NULL, created_at = NULL, bytes = 0, active_at = NULL WHERE id = ?",
            db)
    }

    /// True if a room has an owner.
    func hasOwner(_ room: Int64) throws -> Bool {
        try selectOwners.bind(room, at: 1)
        return try selectOwners.firstRow { _ in true } ?? false
    }

    /// Returns whether a room has an owner beside one that it has.
    func hasOtherOwners(_ room: Int64) throws -> Bool {
        try selectOwners.bind(room, at: 1)
        var count = 0
        try selectOwners.forEachRow { _ in count += 1 }
        return count > 1
    }

    /// Makes a user a member, or gives a member another role.
    func set(_ role: RoomMember.Role, of user: UserID, in room: Int64) throws {
        try upsert.bind(room, at: 1)
        try upsert.bind(user.string, at: 2)
        try upsert.bind(role == .owner ? 1 : 0, at: 3)
        try upsert.run()
    }

    /// Makes a member none.
    func remove(_ user: UserID, from room: Int64) throws {
        try delete.bind(room, at: 1)
        try delete.bind(user.string, at: 2)
        try delete.run()
    }

    /// Says who may read a room.
    func set(_ visibility: RoomSummary.Visibility, of room: Int64) throws {
        try updateVisibility.bind(visibility == .private ? 1 : 0, at: 1)
        try updateVisibility.bind(room, at: 2)
        try updateVisibility.run()
    }

    /// Leaves nothing of a room's row but its name.
    func markDeleted(_ room: Int64) throws {
        try markDeleted.bind(room, at: 1)
        try markDeleted.run()
    }

    /// Says what a room is called; the empty title is none.
    func set(title: String, of room: Int64) throws {
        try updateTitle.bind(title.isEmpty ? nil : title, at: 1)
        try updateTitle.bind(room, at: 2)
        try updateTitle.run()
    }
}
