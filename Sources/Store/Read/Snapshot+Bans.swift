import Chat
import Wire

/// Bans.
extension Snapshot {
    /// Returns bans from a room, if the query comes from an owner of the room or an admin.
    func bans(_ query: Query, from room: RoomView?) throws -> Result<Answer.Content, Problem> {
        guard let room else {
            return query.isAdmin ? .success(.bans(Bans(bans: [], hasMore: false))) : .failure(.notAnOwner)
        }
        let isOwner = try query.user.map { try statements.lookup.role(of: $0, in: room.number) == .owner } ?? false
        guard query.isAdmin || isOwner else { return .failure(.notAnOwner) }
        return .success(.bans(try bans(query.kind, from: room.number)))
    }

    /// Returns bans from a room, or from the whole server, by its number.
    func bans(_ kind: Query.Kind, from number: Int64) throws -> Bans {
        switch kind {
        case .ban(let user):
            let ban = try statements.bans.ban(of: user, from: number, at: clock())
            return Bans(bans: ban.map { [$0] } ?? [], hasMore: false)
        case .bans(let user, let limit):
            var bans = try statements.bans.bans(from: number, after: user, at: clock(), limit: limit + 1)
            let hasMore = bans.count > limit
            if hasMore { bans.removeLast() }
            return Bans(bans: bans, hasMore: hasMore)
        default: preconditionFailure("a query of other things")
        }
    }
}
