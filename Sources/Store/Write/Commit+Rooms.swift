import Chat
import Wire

/// Who may write to a room, and changes of rooms and their members.
extension Commit {
    /// The reason why a submission is refused before it is looked at; `nil` when it is not.
    ///
    /// - Parameter room: `nil` when nobody has used it.
    func refusal(of submission: Submission, to room: RoomTable.Room?) throws -> Problem? {
        guard let room else {
            switch submission.change {
            case .send, .room(.set): return mayMakeRoom(submission) ? nil : .roomNotFound
            case .room: return .roomNotFound
            case .change, .read: return roomsByAdminsOnly ? .roomNotFound : nil
            case .user: return nil
            }
        }
        if room.isDeleted { return .roomDeleted }
        guard room.isPrivate, !submission.isAdmin else { return nil }
        return try statements.lookup.role(of: submission.sender, in: room.number) == nil ? .roomNotFound : nil
    }

    /// True if a deletion is one of an admin or of an owner of the room, who delete anybody's messages. Other changes ask for
    /// no role.
    func isOwnersDeletion(_ change: MessageChange, of submission: Submission, in room: RoomTable.Room?) throws -> Bool {
        guard case .delete = change.action, let room else { return false }
        return try submission.isAdmin || statements.lookup.role(of: submission.sender, in: room.number) == .owner
    }

    private func mayMakeRoom(_ submission: Submission) -> Bool {
        submission.isAdmin || !roomsByAdminsOnly
    }

    /// Makes a room, whose owner is who makes it.
    mutating func makeRoom(_ id: RoomID, by user: UserID) throws -> RoomTable.Room? {
        guard let room = try statements.insertRoom(id, at: time) else { return nil }
        if !erasing.isEmpty { try noteNewRoom(room, by: user) }
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
                memberships.append(
                    MembershipChange(user: user, room: id, kind: .joined(rev: room.rev)))
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

    /// Deletes a room: nobody gets at it from now on, and a job removes what it holds.
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

    /// True when a user has sent to a room or read it, though not a member of it.
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
            return .failure(.unavailable("There are as many rooms as there may be."))
        }
        if let visibility = settings.visibility {
            try statements.members.set(visibility, of: room.number)
            room.isPrivate = visibility == .private
        }
        if let title = settings.title { try statements.members.set(title: title, of: room.number) }
        rooms.update(room)
        // Anybody may have subscribed to a room that nobody has used.
        if room.isPrivate, known?.isPrivate != true { ends.append(.becamePrivate(id)) }
        return .success(.room(isNew: known == nil))
    }
}
