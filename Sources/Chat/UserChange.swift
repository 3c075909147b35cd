public import Wire

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
