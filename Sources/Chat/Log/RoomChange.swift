public import Wire

/// A change of a room or of its members, made by owners, or by members to themselves.
public enum RoomChange: Sendable {
    /// Create the room, with the sender as its owner, or change its settings.
    case set(RoomSettings)
    /// Make the direct room of the sender and this user, or put it into the sender's list of rooms. The submission's room
    /// is that of the two, which may exist.
    case setDirect(UserID)
    /// Block a user, or end that. The submission's room is the direct room of the two, which need not exist.
    case setBlock(UserID, Bool)
    /// Report a message; allowed to everybody who may read it.
    case report(seq: Int64, ReportDraft)
    /// Record an admin's decision on a report.
    case closeReport(seq: Int64, ReportAction)
    /// Make a user a member, or change a member's role. Without a role a member keeps the current one.
    case setMember(UserID, RoomMember.Role?)
    /// Remove a member.
    case removeMember(UserID)
    /// Ban a user from the room, or replace the ban.
    case setBan(UserID, BanSettings)
    /// Lift a user's ban from the room.
    case removeBan(UserID)
    /// Set what may disturb the sender in the room.
    case setNotify(NotifySettings)
    /// Delete the room with everything in it. Only its id stays, and cannot be used again.
    case delete
}

/// A change of a user by an admin, or of one's own profile. Has no room.
public enum UserChange: Sendable {
    /// Change the user's profile. The outcome's body is a ``Profile``.
    case setProfile(ProfileSettings)
    /// Ban the user from the whole server.
    case ban(BanSettings)
    /// Lift the ban from the whole server.
    case liftBan
    /// Erase the user: remove memberships, read marks and reactions, and turn messages into tombstones of
    /// ``UserID/deleted``. The outcome's body is an ``ErasureStatus``; later commits do the rest in parts.
    case erase
}
