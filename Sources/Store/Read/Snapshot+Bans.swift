import Chat
import Wire

/// Bans.
extension Snapshot {
    /// Answers a read of the bans from a room, which its owners and admins may see.
    func answer(_ read: Query.BanRead, of room: RoomView?, for query: Query) throws {
        let role = try room.flatMap { room in
            try query.user.flatMap { try statements.lookup.role(of: $0, in: room.number) }
        }
        guard query.isAdmin || role == .owner else { throw Problem.notAnOwner }
        try answer(read, from: room?.number)
    }

    /// Answers a read of the bans from a room of this number, or from the whole server; `nil` for an unused room.
    func answer(_ read: Query.BanRead, from number: Int64?) throws {
        switch read {
        case .one(let user, let reply):
            reply.answer(try number.flatMap { try statements.bans.ban(of: user, from: $0, at: clock()) })
        case .all(let user, let limit, let reply):
            var bans = try number.map { try statements.bans.bans(from: $0, after: user, at: clock(), limit: limit + 1) }
            let hasMore = (bans?.count ?? 0) > limit
            if hasMore { bans?.removeLast() }
            reply.answer(Bans(bans: bans ?? [], hasMore: hasMore))
        }
    }
}
