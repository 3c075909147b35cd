import Wire

/// Changes of rooms, their members and their bans, and of users.
extension Rules {
    mutating func change(_ change: RoomChange, by submission: Submission) throws(Halt) -> Receipt {
        switch change {
        case .set(let settings): return try set(settings, by: submission)
        case .setDirect(let user): return try setDirect(with: user, by: submission)
        case .report(let seq, let draft): return try report(seq, draft, by: submission)
        case .closeReport(let seq, let action): return try closeReport(seq, action, by: submission)
        case .setBlock(let user, let isBlocked): return try setBlock(of: user, isBlocked, by: submission.sender)
        case .delete:
            try checkOwner(submission)
            // It would take the messages of the other one, too.
            if facts.room?.direct != nil, !submission.isAdmin { throw .refused(.directRoom) }
            writes.append(.deleteRoom)
            return .room(isNew: false)
        case .setMember(let user, let role): return try set(user, role, by: submission)
        case .removeMember(let user): return try remove(user, by: submission)
        case .setBan(let user, let settings):
            try checkOwner(submission)
            return try ban(user, settings, by: submission)
        case .removeBan(let user):
            try checkOwner(submission)
            return try liftBan(of: user)
        case .setNotify(let settings): return try setNotify(settings, of: submission.sender)
        }
    }

    /// Sets what may disturb a user in the room.
    private mutating func setNotify(_ settings: NotifySettings, of user: UserID) throws(Halt) -> Receipt {
        if settings.until != nil {
            try facts.require(.time)
            if !settings.isInForce(at: facts.time) {
                throw .refused(.invalidField("until", must: "a time in the future"))
            }
        }
        writes.append(.setNotify(user, settings.isDefault ? nil : settings))
        var body: [UInt8] = []
        settings.encode(into: &body)
        return .record(body, isNew: false)
    }

    private mutating func set(_ settings: RoomSettings, by submission: Submission) throws(Halt) -> Receipt {
        let isNew = facts.room == nil
        let wasPrivate = facts.room?.isPrivate == true
        if isNew { createRoom(by: submission.sender) } else { try checkOwner(submission) }
        if facts.room?.direct != nil, settings.visibility == .open { throw .refused(.directRoom) }
        if settings != RoomSettings() {
            // Any user may have subscribed to a room before its first use.
            writes.append(.setRoom(settings, endsAccess: settings.visibility == .private && !wasPrivate))
        }
        return .room(isNew: isNew)
    }

    // MARK: Direct rooms

    /// Makes the direct room of the caller and another user, or puts it into the caller's list of rooms.
    private mutating func setDirect(with other: UserID, by submission: Submission) throws(Halt) -> Receipt {
        let user = submission.sender
        if other == user { throw .refused(.directRoomWithOneself) }
        guard let room = facts.room else {
            let policy = facts.policy
            if policy.roomsByAdminsOnly || policy.membersByAdminsOnly, !submission.isAdmin {
                throw .refused(.directRoomsByAdminsOnly)
            }
            try checkNotBlocked()
            writes.append(.createDirectRoom(owner: user, other: other))
            // If one of them is being erased, the erased user has nothing in the new room.
            for user in [user, other] where facts.erasing.contains(user) {
                writes.append(.setBoundary(user, Facts.Boundary(seq: 0, rev: 0)))
            }
            return .room(isNew: true)
        }
        // The room of an erased user is not that of another user with the same id.
        guard let direct = room.direct, !direct.isOver, !room.isDeleted else { throw .refused(.directRoomOver) }
        try checkNotBlocked()
        for side in direct.sides where side.user == user && side.isHidden {
            writes.append(.showRoom(user, rev: room.rev))
        }
        return .room(isNew: false)
    }

    /// Checks that the user whom the change is about does not block the caller.
    private func checkNotBlocked() throws(Halt) {
        try facts.require(.isBlocked)
        if facts.isBlocked { throw .refused(.blocked) }
    }

    /// Sets or removes the caller's block of another user.
    private mutating func setBlock(
        of other: UserID, _ isBlocked: Bool, by user: UserID
    ) throws(Halt) -> Receipt {
        if other == user { throw .refused(.blockOfOneself) }
        try facts.require([.block, .time])
        guard isBlocked else {
            // New to the caller's other devices.
            let isNew = facts.block != nil
            if isNew { writes.append(.removeBlock(other, by: user)) }
            return .room(isNew: isNew)
        }
        let isNew = facts.block == nil
        if isNew {
            try facts.require(.hasMaximumBlocks)
            if facts.hasMaximumBlocks { throw .refused(.tooManyBlocks) }
        }
        let block = facts.block ?? Block(user: other, createdAt: facts.time)
        if isNew { writes.append(.setBlock(block, by: user)) }
        var body: [UInt8] = []
        block.encode(into: &body)
        return .record(body, isNew: isNew)
    }

    // MARK: Members

    private func role(of user: UserID, _ submission: Submission) throws(Halt) -> RoomMember.Role? {
        if user == submission.sender {
            try facts.require(.role)
            return facts.role
        }
        try facts.require(submission.isAdmin ? .subjectRole : [.role, .subjectRole])
        return facts.subjectRole
    }

    private mutating func set(
        _ user: UserID, _ role: RoomMember.Role?, by submission: Submission
    ) throws(Halt) -> Receipt {
        let isOwn = user == submission.sender
        let now = try self.role(of: user, submission)
        let role = role ?? now ?? .member
        guard try isOwner(submission) || (isOwn && role == .member) else { throw .refused(.notAnOwner) }
        if facts.room?.direct != nil, role != now { throw .refused(.directRoom) }
        guard now != nil || isOwn || submission.isAdmin || !facts.policy.membersByAdminsOnly else {
            throw .refused(.membersByAdminsOnly)
        }
        guard role != now else { return .room(isNew: false) }
        try checkOtherOwners(without: now)
        guard now == nil else {
            writes.append(.setRole(user, role))
            return .room(isNew: false)
        }
        if !isOwn {
            try facts.require(submission.isAdmin ? .hasTakenPart : [.hasTakenPart, .isBlocked])
            if facts.isBlocked { throw .refused(.blocked) }
        }
        // Refused above without a room.
        writes.append(.addMember(user, role, rev: facts.room!.rev, isEngaged: isOwn || facts.hasTakenPart))
        return .room(isNew: true)
    }

    private mutating func remove(_ user: UserID, by submission: Submission) throws(Halt) -> Receipt {
        let now = try role(of: user, submission)
        if user != submission.sender { try checkOwner(submission) }
        guard let now else { return .room(isNew: false) }
        if let direct = facts.room?.direct {
            if user != submission.sender { throw .refused(.directRoom) }
            // The room leaves the list of the user, who stays a member.
            for side in direct.sides where side.user == user && !side.isHidden { writes.append(.hideRoom(user)) }
            return .room(isNew: false)
        }
        try checkOtherOwners(without: now)
        writes += [.removeMember(user), .setNotify(user, nil)]
        return .room(isNew: false)
    }

    /// Checks that a room keeps an owner without the role of one member.
    private func checkOtherOwners(without role: RoomMember.Role?) throws(Halt) {
        guard role == .owner else { return }
        try facts.require(.hasOtherOwners)
        if !facts.hasOtherOwners { throw .refused(.lastOwner) }
    }

    // MARK: Bans

    private mutating func ban(
        _ user: UserID, _ settings: BanSettings, by submission: Submission
    ) throws(Halt) -> Receipt {
        if user == submission.sender { throw .refused(.banOfOneself) }
        if !submission.isAdmin {
            try facts.require(.subjectRole)
            if facts.subjectRole == .owner { throw .refused(.banOfOwner) }
        }
        try facts.require(.ban)
        if facts.ban == nil {
            try facts.require(.hasMaximumBans)
            if facts.hasMaximumBans { throw .refused(.tooManyBans) }
        }
        return try set(user, settings, by: submission.sender)
    }

    /// Sets or replaces a ban from the room or from the server.
    private mutating func set(_ user: UserID, _ settings: BanSettings, by sender: UserID) throws(Halt) -> Receipt {
        try facts.require([.ban, .time])
        if let until = settings.until, until <= facts.time { throw .refused(.banOver) }
        let ban = Ban(
            user: user, scope: settings.scope, until: settings.until, reason: settings.reason, by: sender,
            createdAt: facts.time)
        writes.append(.setBan(ban))
        var body: [UInt8] = []
        ban.encode(into: &body)
        return .record(body, isNew: facts.ban == nil)
    }

    /// Lifts a ban from the room or from the server. Without one in force there is nothing to tell anybody.
    private mutating func liftBan(of user: UserID) throws(Halt) -> Receipt {
        try facts.require(.ban)
        if facts.ban != nil { writes.append(.liftBan(user)) }
        return .room(isNew: false)
    }

    // MARK: Users

    /// Changes a profile: one's own, or as an admin that of another user.
    private mutating func set(
        _ settings: ProfileSettings, of user: UserID, by submission: Submission
    ) throws(Halt) -> Receipt {
        guard user == submission.sender || submission.isAdmin else { throw .refused(.profileOfOther) }
        try facts.require(.profile)
        let old = facts.profile ?? Profile(user: user)
        let profile = old.applying(settings)
        if profile != old { writes.append(.setProfile(user, settings)) }
        var body: [UInt8] = []
        profile.encode(into: &body)
        return .record(body, isNew: facts.profile == nil && !profile.isEmpty)
    }

    /// Applies a change to a user.
    mutating func change(_ user: UserID, _ change: UserChange, by submission: Submission) throws(Halt) -> Receipt {
        if case .setProfile(let settings) = change { return try set(settings, of: user, by: submission) }
        guard submission.isAdmin else { throw .refused(.notAnAdmin) }
        switch change {
        case .setProfile: preconditionFailure("done above")
        case .ban(let settings):
            if user == submission.sender { throw .refused(.banOfOneself) }
            return try set(user, settings, by: submission.sender)
        case .liftBan: return try liftBan(of: user)
        case .erase:
            try facts.require(.erasure)
            writes.append(.eraseUser(user))
            // An erasure that is under way starts over, and goes on counting.
            let messages = facts.erasure?.state == .erasing ? facts.erasure!.messages : 0
            var body: [UInt8] = []
            ErasureStatus(user: user, state: .erasing, messages: messages).encode(into: &body)
            return .record(body, isNew: true)
        }
    }
}
