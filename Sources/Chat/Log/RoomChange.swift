public import Wire

/// A change to a room as a whole, or to its members: what its owners do, and members to themselves.
public enum RoomChange: Sendable {
    /// Make the room, whose owner the user is then, or change what the settings say.
    case set(RoomSettings)
    /// Make a user a member, or give a member another role. Without a role a member keeps the one that it has.
    case setMember(UserID, RoomMember.Role?)
    /// Make a member none.
    case removeMember(UserID)
    /// Ban a user from the room, or replace the ban.
    case setBan(UserID, BanSettings)
    /// Lift a user's ban from the room.
    case removeBan(UserID)
    /// Delete the room with all that it holds; only its name stays, which is not used again.
    case delete
}

/// A change that admins make to a user, in no particular room.
public enum UserChange: Sendable {
    /// Ban the user from the whole server.
    case ban(BanSettings)
    /// Lift the ban from the whole server.
    case liftBan
    /// Erase the user: memberships, read marks and reactions go, messages become tombstones of ``UserID/deleted``. The
    /// outcome's body is an ``ErasureStatus``; what is left to do is done in parts.
    case erase
}
