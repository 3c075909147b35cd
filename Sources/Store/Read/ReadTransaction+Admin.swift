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
        case .erasure(let user, let reply): reply.answer(try db.erasureStatus(of: user))
        case .bans(let read): try answer(read, from: RowKey.server)
        case .reports(let request, let reply): reply.answer(try reports(request))
        }
    }

    /// Returns a part of the list of reported messages.
    private func reports(_ request: ReportsRequest) throws -> Reports {
        // One extra row shows that there are more.
        var found = try db.reports(
            isOpen: request.isOpen, after: request.cursor, limit: request.limit + 1)
        var next: ReportCursor?
        if found.count > request.limit {
            found.removeLast()
            next = found.last.map {
                ReportCursor(
                    epoch: context.epoch, isOpen: request.isOpen, milliseconds: $0.reportedAt.milliseconds,
                    number: $0.number)
            }
        }
        return Reports(reports: found, next: next)
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

    private func describe(_ room: ServerRoom) throws -> AdminRoom {
        AdminRoom(
            room: room.id, title: room.title, visibility: room.isPrivate ? .private : .open, manners: room.manners,
            messages: try store.room(room.id)?.state.head ?? 0,
            members: try db.countMembers(of: room.number), bytes: room.bytes,
            lastActivity: room.latest == 0 ? nil : Timestamp(milliseconds: room.latest))
    }

    private func user(_ user: UserID, after: RoomID?, limit: Int) throws -> AdminUser {
        let number = try after.flatMap { try db.row(of: $0, locking: false)?.number } ?? 0
        var rooms = try db.memberships(of: user, after: number, limit: limit + 1)
        let hasMore = rooms.count > limit
        if hasMore { rooms.removeLast() }
        let last = try store.lastSend(of: user)
        return AdminUser(
            user: user, rooms: rooms, hasMore: hasMore, lastActivity: last.map { Timestamp(milliseconds: $0) })
    }
}
