import Chat
import Wire

/// A user's rooms, ordered by activity: the time of the newest message, or of the room's creation.
extension ReadTransaction {
    /// Returns a part of the list. Each room has its newest message and the user's own state. Rooms in damaged pages of
    /// the database are left out, so that the user can reach the others.
    ///
    /// - Parameter isWanted: Returns true for the rooms to list.
    func inbox(_ request: InboxRequest, of user: UserID, where isWanted: (RoomID) -> Bool) throws -> InboxSlice {
        let found = try store.rooms(
            of: user, after: request.cursor?.activity, limit: request.limit, withHidden: false, where: isWanted
        ).sorted { $0.activity < $1.activity }
        let rooms = found.prefix(request.limit)
        try store.prepare([(user, rooms)])
        var listed: [InboxRoom] = []
        listed.reserveCapacity(rooms.count)
        var bytes = 0
        var last: OwnRoom?
        var looked = 0
        for room in rooms where bytes < answerBytes {
            looked += 1
            last = room
            let id = room.activity.room
            do {
                let view = try store.room(id)
                let message = try view.flatMap { try $0.message(seq: $0.state.head)?.body }
                let summary = try summary(of: id, view, for: user)
                bytes += message?.count ?? 0
                listed.append(InboxRoom(summary: summary, lastMessage: message))
            } catch let error as any SQLError where error.isDamage {}
        }
        guard looked < found.count, let last else { return InboxSlice(rooms: listed, next: nil) }
        return InboxSlice(rooms: listed, next: InboxCursor(epoch: context.epoch, activity: last.activity))
    }

    /// Returns at most `limit` rooms of a user. Rooms in which the user has sent or read, or which the user created or
    /// joined, come first. Others can add the user to any number of rooms, and those must not crowd these out.
    func memberships(limit: Int, of user: UserID, where isWanted: (RoomID) -> Bool) throws -> Memberships {
        let found = try store.rooms(of: user, after: nil, limit: limit, withHidden: false, where: isWanted)
            .sorted { a, b in a.isEngaged == b.isEngaged ? a.activity < b.activity : a.isEngaged }
        return Memberships(rooms: found.prefix(limit).map(\.activity.room), hasMore: found.count > limit)
    }
}
