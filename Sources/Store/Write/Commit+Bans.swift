import Chat
import Wire

/// Bans from rooms and from the whole server.
extension Commit {
    /// The bans of the table, with the changes of a commit.
    struct BanView {
        let table: BanTable
        /// The bans that the commit has set, and lifted (`nil`).
        var changes: [BanTable.Key: Ban?] = [:]

        /// The rooms that the commit has deleted.
        var deletedRooms: [RoomID] = []

        /// True if there are no bans.
        var isEmpty: Bool { table.isEmpty && changes.isEmpty }

        /// Applies the changes, which are durable, to the table.
        func apply(at time: Timestamp) {
            if !changes.isEmpty { table.change(changes, at: time) }
            for room in deletedRooms { table.remove(room) }
        }

        /// Returns the reason why a ban refuses a submission; `nil` if none does.
        func refusal(of submission: Submission, at time: Timestamp) -> Problem? {
            BanTable.refusal(
                of: submission.sender, in: submission.room, isAdmin: submission.isAdmin, for: .change, at: time
            ) { key in
                if let change = changes[key] { change } else { table[key] }
            }
        }
    }

    /// Sets or replaces a user's ban from a room.
    mutating func ban(
        _ user: UserID, _ settings: BanSettings, from room: RoomTable.Room, _ id: RoomID, by submission: Submission
    ) throws -> Result<Receipt, Problem> {
        if user == submission.sender { return .failure(.banOfOneself) }
        if !submission.isAdmin, try statements.lookup.role(of: user, in: room.number) == .owner {
            return .failure(.banOfOwner)
        }
        let isNew = try statements.bans.bans.ban(of: user, from: room.number, at: time) == nil
        if isNew, try statements.bans.isFull(room.number) { return .failure(.tooManyBans) }
        return try set(user, settings, from: room.number, id, isNew: isNew, by: submission.sender)
    }

    mutating func liftBan(_ user: UserID, from room: RoomTable.Room, _ id: RoomID) throws -> Receipt {
        try statements.bans.remove(user, from: room.number)
        bans.changes[BanTable.Key(room: id, user: user)] = .some(nil)
        return .room(isNew: false)
    }

    /// Applies an admin's change to a user.
    mutating func change(_ user: UserID, _ change: UserChange, by submission: Submission) throws
        -> Result<Receipt, Problem>
    {
        guard submission.isAdmin else { return .failure(.notAnAdmin) }
        switch change {
        case .erase: return .success(try erase(user))
        case .ban(let settings):
            if user == submission.sender { return .failure(.banOfOneself) }
            let isNew = try statements.bans.bans.ban(of: user, from: BanStatements.server, at: time) == nil
            return try set(user, settings, from: BanStatements.server, nil, isNew: isNew, by: submission.sender)
        case .liftBan:
            try statements.bans.remove(user, from: BanStatements.server)
            bans.changes[BanTable.Key(room: nil, user: user)] = .some(nil)
            return .success(.room(isNew: false))
        }
    }

    private mutating func set(
        _ user: UserID, _ settings: BanSettings, from room: Int64, _ id: RoomID?, isNew: Bool, by sender: UserID
    ) throws -> Result<Receipt, Problem> {
        if let until = settings.until, until <= time { return .failure(.banOver) }
        let ban = Ban(
            user: user, scope: settings.scope, until: settings.until, reason: settings.reason, by: sender,
            createdAt: time)
        try statements.bans.sweep(at: time)
        try statements.bans.set(ban, from: room)
        bans.changes[BanTable.Key(room: id, user: user)] = ban
        if ban.scope == .all { ends.append(.banned(ban, from: id)) }
        var body: [UInt8] = []
        ban.encode(into: &body)
        return .success(.record(body, isNew: isNew))
    }
}
