import Chat
import Wire

/// Access to rooms.
extension Snapshot {
    /// Answers a query, or refuses it. Access is checked in the same snapshot that the answer is read from.
    ///
    /// - Parameter recent: the room's recent messages, taken before the transaction began.
    func result(_ query: Query, _ recent: [RecentMessage]) throws -> Result<Answer.Content, Problem> {
        guard let id = query.room else { return .failure(.roomNotFound) }
        let room = try RoomView(id, recent: recent, statements)
        if room?.isDeleted == true { return .failure(.roomDeleted) }
        guard try mayRead(room, query) else { return .failure(.roomNotFound) }
        if !bans.isEmpty,
            let refusal = bans.refusal(of: query.user, in: id, isAdmin: query.isAdmin, for: .read, at: clock())
        {
            return .failure(refusal)
        }
        switch query.kind {
        case .bans, .ban: return try bans(query, from: room)
        default: return .success(try answer(query, id, room))
        }
    }

    private func mayRead(_ room: RoomView?, _ query: Query) throws -> Bool {
        guard let room else { return !roomsByAdminsOnly }
        guard room.isPrivate, !query.isAdmin else { return true }
        guard let user = query.user else { return false }
        return try statements.lookup.role(of: user, in: room.number) != nil
    }

    /// Returns at most `limit` members of a room after `user`.
    func members(of room: RoomView?, after user: UserID?, limit: Int) throws -> RoomMembers {
        guard let room else { return RoomMembers(members: [], hasMore: false) }
        var members = try statements.rooms.members(of: room.number, after: user, limit: limit + 1)
        let hasMore = members.count > limit
        if hasMore { members.removeLast() }
        return RoomMembers(members: members, hasMore: hasMore)
    }

    /// Returns one member of a room, or none.
    func member(_ user: UserID, of room: RoomView?) throws -> RoomMembers {
        let role = try room.flatMap { try statements.lookup.role(of: user, in: $0.number) }
        return RoomMembers(members: role.map { [RoomMember(user: user, role: $0)] } ?? [], hasMore: false)
    }
}
