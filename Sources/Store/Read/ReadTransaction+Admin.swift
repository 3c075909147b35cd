import Chat
import Wire

/// Queries of admins about all rooms and about users.
extension ReadTransaction {
    /// Maximum number of a user's rooms, most active first, that are searched for the user's latest message, and
    /// maximum number of messages searched in each.
    static let searchedRooms = 100
    static let searchedMessages: Int64 = 1000

    /// Answers a read of the whole server by an admin.
    ///
    /// - Parameter recent: the messages of all rooms in the journal, taken before the transaction.
    func answer(_ read: Query.ServerRead, _ recent: [RoomID: [RecentMessage]]) throws {
        switch read {
        case .rooms(let request, let reply): reply.answer(try allRooms(request, recent))
        case .user(let user, let after, let limit, let reply):
            reply.answer(try self.user(user, after: after, limit: limit, recent))
        case .erasure(let user, let reply): reply.answer(try statements.erasures.status(of: user))
        case .bans(let read): try answer(read, from: BanStatements.server)
        }
    }

    /// Returns a part of the list of all rooms. Merges the index of activity with the rooms that have recent messages.
    private func allRooms(_ request: InboxRequest, _ recent: [RoomID: [RecentMessage]]) throws -> AdminRooms {
        let place = request.cursor?.activity
        var busy: [InboxCursor.Activity] = []
        for (room, messages) in recent {
            let activity = InboxCursor.Activity(milliseconds: messages.last!.createdAt.milliseconds, room: room)
            if place.map({ $0 < activity }) ?? true { busy.append(activity) }
        }
        busy.sort()
        var rows: [(room: AdminStatements.Room, activity: InboxCursor.Activity)] = []
        // One extra row shows that there are more.
        for activity in busy where rows.count <= request.limit {
            // The room may have been deleted just now.
            if let room = try statements.admin.room(activity.room) { rows.append((room, activity)) }
        }
        var count = 0
        try statements.admin.forEachRoom(after: place) { room in
            guard recent[room.id] == nil else { return true }
            rows.append((room, InboxCursor.Activity(milliseconds: room.activity, room: room.id)))
            count += 1
            return count <= request.limit
        }
        rows.sort { $0.activity < $1.activity }
        var next: InboxCursor?
        if rows.count > request.limit {
            rows.removeSubrange(request.limit...)
            next = rows.last.map { InboxCursor(epoch: epoch, activity: $0.activity) }
        }
        return AdminRooms(
            rooms: try rows.map { try describe($0.room, $0.activity, recent[$0.room.id] ?? []) }, next: next)
    }

    private func describe(
        _ room: AdminStatements.Room, _ activity: InboxCursor.Activity, _ recent: [RecentMessage]
    ) throws -> AdminRoom {
        let view = try RoomView(room.id, recent: recent, statements)
        let unfiled = view?.recent.reduce(0) { $0 + Int64($1.body.count) } ?? 0
        return AdminRoom(
            room: room.id, title: room.title, visibility: room.isPrivate ? .private : .open,
            messages: view?.state.head ?? 0, members: try statements.admin.members(of: room.number),
            bytes: room.bytes + unfiled,
            lastActivity: activity.milliseconds == 0 ? nil : Timestamp(milliseconds: activity.milliseconds))
    }

    private func user(
        _ user: UserID, after: RoomID?, limit: Int, _ recent: [RoomID: [RecentMessage]]
    ) throws -> AdminUser {
        let place = try after.flatMap { try statements.lookup.row(of: $0)?.number } ?? 0
        var rooms = try statements.admin.memberships(of: user, after: place, limit: limit + 1)
        let hasMore = rooms.count > limit
        if hasMore { rooms.removeLast() }
        let last = try lastSend(of: user, recent)
        return AdminUser(user: user, rooms: rooms, hasMore: hasMore, lastActivity: last)
    }

    private func lastSend(of user: UserID, _ recent: [RoomID: [RecentMessage]]) throws -> Timestamp? {
        var last: Int64?
        var rooms = try statements.admin.activities(of: user, limit: Limits.members)
        for index in rooms.indices {
            guard let messages = recent[rooms[index].id] else { continue }
            for message in messages where message.sender == user {
                last = max(last ?? 0, message.createdAt.milliseconds)
            }
        }
        rooms.sort { $0.activity > $1.activity }
        for room in rooms.prefix(Self.searchedRooms) {
            // Neither this room nor any later one has a newer message.
            if let last, room.activity <= last { break }
            let head = try statements.lookup.progress(of: room.number).head
            let time = try statements.admin.lastSend(
                of: user, in: room.number, head: head, most: Self.searchedMessages)
            if let time { last = max(last ?? 0, time) }
        }
        return last.map { Timestamp(milliseconds: $0) }
    }
}
