import Chat
import Wire

/// Queries of admins about all rooms and about users.
extension ReadTransaction {
    /// Answers a read of the whole server by an admin.
    func answer(_ read: Query.ServerRead) throws {
        switch read {
        case .rooms(let request, let reply): reply.answer(try rooms(request))
        case .user(let user, let after, let limit, let reply):
            reply.answer(try self.user(user, after: after, limit: limit))
        case .erasure(let user, let reply): reply.answer(try statements.erasures.status(of: user))
        case .bans(let read): try answer(read, from: BanStatements.server)
        }
    }

    /// Returns a part of the list of all rooms.
    private func rooms(_ request: InboxRequest) throws -> AdminRooms {
        // One extra row shows that there are more.
        var rooms = try store.rooms(after: request.cursor?.activity, limit: request.limit + 1)
        var next: InboxCursor?
        if rooms.count > request.limit {
            rooms.removeLast()
            next = rooms.last.map { InboxCursor(epoch: context.epoch, activity: $0.activity) }
        }
        return AdminRooms(rooms: try rooms.map(describe), next: next)
    }

    private func describe(_ room: AdminStatements.Room) throws -> AdminRoom {
        AdminRoom(
            room: room.id, title: room.title, visibility: room.isPrivate ? .private : .open,
            messages: try store.room(room.id)?.state.head ?? 0,
            members: try statements.admin.members(of: room.number), bytes: room.bytes,
            lastActivity: room.latest == 0 ? nil : Timestamp(milliseconds: room.latest))
    }

    private func user(_ user: UserID, after: RoomID?, limit: Int) throws -> AdminUser {
        let place = try after.flatMap { try statements.lookup.row(of: $0)?.number } ?? 0
        var rooms = try statements.admin.memberships(of: user, after: place, limit: limit + 1)
        let hasMore = rooms.count > limit
        if hasMore { rooms.removeLast() }
        let last = try store.lastSend(
            of: user, in: statements.admin.activities(of: user, limit: Limits.members))
        return AdminUser(
            user: user, rooms: rooms, hasMore: hasMore, lastActivity: last.map { Timestamp(milliseconds: $0) })
    }
}

extension ReaderStatements {
    /// Maximum number of a user's rooms, most active first, that are searched for the user's latest message, and
    /// maximum number of messages searched in each.
    static let searchedRooms = 100
    static let searchedMessages: Int64 = 1000

    /// Returns the time of a user's latest message in the rows of rooms, in milliseconds since 1970.
    ///
    /// - Parameter known: The time of a message that is known already; an earlier one is not searched.
    func lastSend(of user: UserID, in rooms: [AdminStatements.Activity], after known: Int64? = nil) throws -> Int64? {
        var last = known
        for room in rooms.sorted(by: { $0.latest > $1.latest }).prefix(Self.searchedRooms) {
            // Neither this room nor any later one has a newer message.
            if let last, room.latest <= last { break }
            let head = try lookup.progress(of: room.number).head
            let time = try admin.lastSend(of: user, in: room.number, head: head, most: Self.searchedMessages)
            if let time { last = max(last ?? 0, time) }
        }
        return last
    }
}
