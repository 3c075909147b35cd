import Wire

/// The writer's statements about rooms' members and settings.
///
/// Confined to its connection.
final class MemberStatements {
    private let selectMember: PreparedStatement
    private let selectOwners: PreparedStatement
    private let upsert: PreparedStatement
    private let delete: PreparedStatement
    private let updateVisibility: PreparedStatement
    private let selectTitle: PreparedStatement
    private let updateTitle: PreparedStatement
    private let markDeleted: PreparedStatement

    init(_ db: Connection) throws {
        selectMember = try PreparedStatement("SELECT 1 FROM members WHERE room = ? AND user = ?", db)
        selectOwners = try PreparedStatement(
            """
            SELECT 1 FROM members WHERE room = ?1 AND owner = 1
                AND \(ErasureStatements.isPresent("members.user", in: "?1")) LIMIT 2
            """, db)
        upsert = try PreparedStatement(
            """
            INSERT INTO members (room, user, owner) VALUES (?, ?, ?)
            ON CONFLICT (room, user) DO UPDATE SET owner = excluded.owner
            """, db)
        delete = try PreparedStatement("DELETE FROM members WHERE room = ? AND user = ?", db)
        updateVisibility = try PreparedStatement("UPDATE rooms SET private = ? WHERE id = ?", db)
        selectTitle = try PreparedStatement("SELECT title FROM rooms WHERE id = ? AND title IS NOT NULL", db)
        updateTitle = try PreparedStatement("UPDATE rooms SET title = ? WHERE id = ?", db)
        markDeleted = try PreparedStatement(
            "UPDATE rooms SET deleted = 1, private = 0, title = NULL, created_at = NULL, bytes = 0, active_at = NULL WHERE id = ?",
            db)
    }

    /// Returns true if a user's membership is stored, even if the user is being erased.
    func hasRow(of user: UserID, in room: Int64) throws -> Bool {
        try selectMember.bind(room, at: 1)
        try selectMember.bind(user.string, at: 2)
        return try selectMember.firstRow { _ in true } ?? false
    }

    func hasOwner(_ room: Int64) throws -> Bool {
        try selectOwners.bind(room, at: 1)
        return try selectOwners.firstRow { _ in true } ?? false
    }

    /// Returns true if a room has at least two owners.
    func hasOtherOwners(_ room: Int64) throws -> Bool {
        try selectOwners.bind(room, at: 1)
        return try selectOwners.allRows { $0.integer(0) }.count > 1
    }

    /// Adds a member, or changes a member's role.
    func set(_ role: RoomMember.Role, of user: UserID, in room: Int64) throws {
        try upsert.bind(room, at: 1)
        try upsert.bind(user.string, at: 2)
        try upsert.bind(role == .owner ? 1 : 0, at: 3)
        try upsert.run()
    }

    func remove(_ user: UserID, from room: Int64) throws {
        try delete.bind(room, at: 1)
        try delete.bind(user.string, at: 2)
        try delete.run()
    }

    func set(_ visibility: RoomSummary.Visibility, of room: Int64) throws {
        try updateVisibility.bind(visibility == .private ? 1 : 0, at: 1)
        try updateVisibility.bind(room, at: 2)
        try updateVisibility.run()
    }

    /// Marks a room as deleted, and clears its row except for the name.
    func markDeleted(_ room: Int64) throws {
        try markDeleted.bind(room, at: 1)
        try markDeleted.run()
    }

    /// Returns a room's title; `nil` if it has none.
    func title(of room: Int64) throws -> String? {
        try selectTitle.bind(room, at: 1)
        return try selectTitle.firstRow { $0.text(0) }
    }

    /// Sets a room's title; an empty one removes it.
    func set(title: String, of room: Int64) throws {
        try updateTitle.bind(title.isEmpty ? nil : title, at: 1)
        try updateTitle.bind(room, at: 2)
        try updateTitle.run()
    }
}
