import Chat
import Wire

/// Access to rooms, and changes of rooms and their members.
extension Commit {
    /// Returns the reason why the sender has no access; `nil` if the submission may be applied.
    ///
    /// - Parameter room: `nil` if it does not exist.
    func refusal(of submission: Submission, to room: RoomTable.Room?) throws -> Problem? {
        guard let room else {
            switch submission.change {
            case .send, .room(.set): return submission.isAdmin || !roomsByAdminsOnly ? nil : .roomNotFound
            case .room: return .roomNotFound
            case .change, .read: return roomsByAdminsOnly ? .roomNotFound : nil
            case .user: return nil
            }
        }
        if room.isDeleted { return .roomDeleted }
        guard room.isPrivate, !submission.isAdmin else { return nil }
        return try statements.lookup.role(of: submission.sender, in: room.number) == nil ? .roomNotFound : nil
    }

    /// Returns true for a deletion by an admin or an owner of the room, who may delete messages of all users. Other
    /// changes need no role.
    func isOwnersDeletion(_ change: MessageChange, of submission: Submission, in room: RoomTable.Room?) throws -> Bool {
        guard case .delete = change.action, let room else { return false }
        return try submission.isAdmin || statements.lookup.role(of: submission.sender, in: room.number) == .owner
    }

    /// Creates a room. The user becomes its owner.
    mutating func makeRoom(_ id: RoomID, by user: UserID) throws -> RoomTable.Room? {
        guard let room = try statements.insertRoom(id, at: time) else { return nil }
        configuration.roomNumbers.use(room.number)
        // If the user is being erased, the old user has nothing in the new room, see Commit+Erasure.
        if erasing.contains(user) { try statements.erasures.setBoundary(of: user, in: room.number, seq: 0, rev: 0) }
        try statements.members.set(.owner, of: user, in: room.number)
        try statements.activity.joined(user, room.number, latest: nil, isEngaged: true)
        memberships.append(MembershipChange(user: user, room: id, kind: .joined(rev: room.rev)))
        return add(id, room)
    }

    /// Changes a room or its members.
    mutating func change(
        _ change: RoomChange, in id: RoomID, by submission: Submission
    ) throws -> Result<Receipt, Problem> {
        if case .set(let settings) = change { return try set(settings, of: id, by: submission) }
        guard let room = try room(id) else { return .failure(.roomNotFound) }
        let own = try statements.lookup.role(of: submission.sender, in: room.number)
        let mayAdminister = submission.isAdmin || own == .owner
        switch change {
        case .set: preconditionFailure("done above")
        case .delete:
            guard mayAdminister else { return .failure(.notAnOwner) }
            return .success(try delete(id, room))
        case .setBan(let user, let settings):
            guard mayAdminister else { return .failure(.notAnOwner) }
            return try ban(user, settings, from: room, id, by: submission)
        case .removeBan(let user):
            guard mayAdminister else { return .failure(.notAnOwner) }
            return .success(try liftBan(user, from: room, id))
        case .setMember(let user, let role):
            let now = user == submission.sender ? own : try statements.lookup.role(of: user, in: room.number)
            let role = role ?? now ?? .member
            guard mayAdminister || (user == submission.sender && role == .member) else { return .failure(.notAnOwner) }
            guard now != nil || user == submission.sender || submission.isAdmin || !membersByAdminsOnly else {
                return .failure(.membersByAdminsOnly)
            }
            guard role != now else { return .success(.room(isNew: false)) }
            if now == .owner, try !statements.members.hasOtherOwners(room.number) { return .failure(.lastOwner) }
            try statements.members.set(role, of: user, in: room.number)
            if now == nil {
                try statements.activity.joined(
                    user, room.number, latest: room.head > 0 ? room.latest.milliseconds : nil,
                    isEngaged: try user == submission.sender || hasTakenPart(user, in: id, room))
                memberships.append(MembershipChange(user: user, room: id, kind: .joined(rev: room.rev)))
            }
            return .success(.room(isNew: now == nil))
        case .removeMember(let user):
            guard mayAdminister || user == submission.sender else { return .failure(.notAnOwner) }
            let now = user == submission.sender ? own : try statements.lookup.role(of: user, in: room.number)
            guard let now else { return .success(.room(isNew: false)) }
            if now == .owner, try !statements.members.hasOtherOwners(room.number) { return .failure(.lastOwner) }
            try statements.members.remove(user, from: room.number)
            memberships.append(MembershipChange(user: user, room: id, kind: .left))
            ends.append(.removed(user, from: id))
            return .success(.room(isNew: false))
        }
    }

    /// Deletes a room: access ends now, and a job removes its rows.
    private mutating func delete(_ id: RoomID, _ room: RoomTable.Room) throws -> Receipt {
        // The job removes filed messages only.
        try file(id, room)
        try statements.members.markDeleted(room.number)
        var room = room
        room.markDeleted()
        rooms.update(room)
        jobs.append(try statements.jobs.insert(.room(room.number)))
        ends.append(.roomDeleted(id))
        bans.deletedRooms.append(id)
        return .room(isNew: false)
    }

    /// Returns true if a user has sent to a room or read it.
    private func hasTakenPart(_ user: UserID, in id: RoomID, _ room: RoomTable.Room) throws -> Bool {
        try journal.hasMessage(of: user, in: id, room) || statements.activity.wasEngaged(user.string, in: room.number)
    }

    private mutating func set(
        _ settings: RoomSettings, of id: RoomID, by submission: Submission
    ) throws -> Result<Receipt, Problem> {
        let known = try room(id)
        if let known, !submission.isAdmin,
            try statements.lookup.role(of: submission.sender, in: known.number) != .owner
        {
            return .failure(.notAnOwner)
        }
        guard var room = try known ?? makeRoom(id, by: submission.sender) else {
            return .failure(configuration.refuseRoom())
        }
        if let visibility = settings.visibility {
            try statements.members.set(visibility, of: room.number)
            room.isPrivate = visibility == .private
        }
        if let title = settings.title { try statements.members.set(title: title, of: room.number) }
        rooms.update(room)
        // Any user may have subscribed to a room before its first use.
        if room.isPrivate, known?.isPrivate != true { ends.append(.becamePrivate(id)) }
        return .success(.room(isNew: known == nil))
    }
}

/// The writer's statements about rooms' members and settings.
///
/// Confined to its connection.
final class MemberStatements {
    private let selectOwners: PreparedStatement
    private let upsert: PreparedStatement
    private let delete: PreparedStatement
    private let updateVisibility: PreparedStatement
    private let selectTitle: PreparedStatement
    private let updateTitle: PreparedStatement
    private let markDeleted: PreparedStatement

    init(_ db: Connection) throws {
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

    /// Removes a member.
    ///
    /// - Returns: false if the user was none.
    @discardableResult
    func remove(_ user: UserID, from room: Int64) throws -> Bool {
        try delete.bind(room, at: 1)
        try delete.bind(user.string, at: 2)
        return try delete.runCounting() > 0
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
