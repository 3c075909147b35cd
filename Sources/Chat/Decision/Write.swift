public import Wire

/// One change of what is stored, as part of a ``Decision``. It concerns the decision's room, or without one the server.
public enum Write: Sendable {
    /// Create the room, open and without messages, with this owner, who is engaged.
    case createRoom(owner: UserID)
    /// Create the direct room of two users. It is private, both own it, and only the first one is engaged and has it in the
    /// list of rooms.
    case createDirectRoom(owner: UserID, other: UserID)
    /// Take a direct room out of a member's list of rooms.
    case hideRoom(UserID)
    /// Put a direct room into a member's list of rooms. The room is at this revision before the commit's own messages.
    case showRoom(UserID, rev: Int64)
    /// Replace the name of a user who is being erased in a direct room.
    case forgetDirect(UserID)
    /// Add a user's report of a message by `sender`. The snapshot is kept if it is the message's first report.
    case addReport(ReportEntry, seq: Int64, sender: UserID, snapshot: [UInt8])
    /// Record the decision of a moderator on the report of a message.
    case closeReport(seq: Int64, Report.Closing)
    /// Set a user's block of another user. The decision's room is the direct room of the two, if there is one.
    case setBlock(Block, by: UserID)
    /// Remove a user's block of another user.
    case removeBlock(UserID, by: UserID)
    /// Replace a message's snapshot.
    case replace(ReplacedMessage)
    /// Remember the hash of a message's first content, before the content is edited or deleted, or when another one is
    /// stored. Does nothing if one is remembered.
    case rememberContent(Content, seq: Int64)
    /// Remove the sender and the client message id from a tombstone of an erased user, with what is remembered of it.
    case forgetSender(seq: Int64, UserID)
    /// Remove all reactions to a message, some of them later if they are many.
    case removeReactions(seq: Int64, count: Int)
    /// Add a user's reaction at a revision.
    case addReaction(ReactionKey, seq: Int64, UserID, rev: Int64)
    /// Remove a user's reaction.
    case removeReaction(ReactionKey, seq: Int64, UserID)
    /// Add mentions that a message does not have. Its sender is not among the users.
    case addMentions(Mentions, seq: Int64, sender: UserID, createdAt: Timestamp)
    /// Remove mentions of a message.
    case removeMentions(Mentions, seq: Int64)
    /// List a message among the pinned ones of the room, as pinned by a user at a revision.
    case pin(seq: Int64, UserID, rev: Int64)
    /// Remove a message from the list of pinned ones.
    case unpin(seq: Int64)
    /// Remove the name of an erased user from the pin of a message.
    case forgetPinner(seq: Int64)
    /// Move a user's read mark forward at this time, and mark the user as engaged.
    case raiseMark(UserID, seq: Int64, at: Timestamp)
    /// Set what may disturb a user in the room; `nil` for the default.
    case setNotify(UserID, NotifySettings?)
    /// Remove a user's read mark, what may disturb the user, and the time of the last message in slow mode: the end of what
    /// separates an erased user from a new one of the name.
    case removeMark(UserID)
    /// Remember the time of a user's message in slow mode.
    case noteSend(UserID, at: Timestamp)
    /// Make a user a member. The room is at this revision before the commit's own messages.
    case addMember(UserID, RoomMember.Role, rev: Int64, isEngaged: Bool)
    /// Change a member's role.
    case setRole(UserID, RoomMember.Role)
    /// Remove a member.
    case removeMember(UserID)
    /// Set what is given of the room's settings. `endsAccess` is true if anybody could use the room before, and only
    /// members may then.
    case setRoom(RoomSettings, endsAccess: Bool)
    /// Delete the room: access ends now, and its rows are removed later.
    case deleteRoom
    /// Set or replace a ban.
    case setBan(Ban)
    /// Lift a user's ban.
    case liftBan(UserID)
    /// Change a user's profile.
    case setProfile(UserID, ProfileSettings)
    /// Start to erase a user, and remove the profile and the name from bans. The other data is removed later.
    case eraseUser(UserID)
    /// Set the end of the messages and reactions in the room that are an erased user's.
    case setBoundary(UserID, Facts.Boundary)
}

extension Write {
    /// Returns the change of a membership in `room` that the write makes.
    public func membershipChange(in room: RoomID?) -> MembershipChange? {
        guard let room else { return nil }
        switch self {
        case .createRoom(let owner), .createDirectRoom(let owner, _):
            return MembershipChange(user: owner, room: room, kind: .joined(rev: 0))
        case .addMember(let user, _, let rev, _), .showRoom(let user, let rev):
            return MembershipChange(user: user, room: room, kind: .joined(rev: rev))
        case .removeMember(let user), .hideRoom(let user): return MembershipChange(user: user, room: room, kind: .left)
        default: return nil
        }
    }

    /// True if the write takes a right in the room away, or hides the room from a member, so that a decision made by
    /// earlier facts may be wrong.
    public var isRestriction: Bool {
        switch self {
        case .setRole(_, .member), .removeMember, .deleteRoom, .setBan, .hideRoom, .setBlock: true
        case .setRoom(let settings, _): settings.isRestriction
        default: false
        }
    }

    /// Returns the access to `room`, or without one to the server, that the write takes away.
    public func accessEnd(in room: RoomID?) -> AccessEnd? {
        switch (self, room) {
        case (.removeMember(let user), let room?): .removed(user, from: room)
        case (.setRoom(_, endsAccess: true), let room?): .becamePrivate(room)
        case (.deleteRoom, let room?): .roomDeleted(room)
        case (.setBan(let ban), _) where ban.scope == .all: .banned(ban, from: room)
        case (.eraseUser(let user), _): .erased(user)
        default: nil
        }
    }
}

/// A message to append.
public struct NewMessage: Sendable {
    /// The message as it is stored.
    public var stored: StoredMessage
    /// The sender.
    public var sender: UserID
    /// The sender's id for the send.
    public var clientMessageID: String?
    /// The time when it is stored.
    public var createdAt: Timestamp
}

/// A changed message.
public struct ReplacedMessage: Sendable {
    /// The message as it is stored.
    public var stored: StoredMessage
    /// The number of bytes of the snapshot that is replaced.
    public var replacedBytes: Int
}
