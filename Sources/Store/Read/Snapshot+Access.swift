import Chat
import Wire

/// Access to rooms.
extension Snapshot {
    /// Answers a read of a room. Access is checked in the same moment.
    ///
    /// - Parameter recent: the room's recent messages, taken before the transaction began.
    /// - Returns: the number of bytes of messages in the answer.
    /// - Throws: the ``Problem`` that the read is refused with.
    func answer(
        _ read: Query.RoomRead, of id: RoomID, _ recent: [RecentMessage], for query: Query
    ) throws -> Int {
        let room = try RoomView(id, recent: recent, statements)
        if room?.isDeleted == true { throw Problem.roomDeleted }
        guard try mayRead(room, query) else { throw Problem.roomNotFound }
        if !bans.isEmpty,
            let refusal = bans.refusal(of: query.user, in: id, isAdmin: query.isAdmin, for: .read, at: clock())
        {
            throw refusal
        }
        return try answer(read, id, room, for: query)
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

    /// One member of a room, or none.
    func member(_ user: UserID, of room: RoomView?) throws -> RoomMember? {
        let role = try room.flatMap { try statements.lookup.role(of: user, in: $0.number) }
        return role.map { RoomMember(user: user, role: $0) }
    }
}
