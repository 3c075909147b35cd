import Chat
import GRDB
import Wire

/// A room of a user, read before the snapshot, with its recent messages.
struct OwnRoom {
    let id: RoomID
    let recent: [RecentMessage]
}

/// The rooms of a user that were read before the snapshot, see ``LogReader``.
struct OwnRooms {
    /// The rooms by their numbers.
    var rooms: [Int64: OwnRoom] = [:]
    /// All rooms that had recent messages, of any user. ``rooms`` then has those of the user; the index has the user's
    /// other rooms, see ``ActivityStatements``. `nil` if ``rooms`` has all rooms of the user.
    var active: Set<RoomID>?
}

/// A user's rooms, ordered by activity: the time of the newest message, or of the room's creation.
extension Snapshot {
    /// Returns a part of the list. Each room has its newest message and the user's own state. Rooms in damaged pages of the
    /// database are left out, so that the user can reach the others.
    ///
    /// - Parameter isWanted: returns true for the rooms to list.
    func inbox(
        _ request: InboxRequest, _ own: OwnRooms, of user: UserID, where isWanted: (RoomID) -> Bool
    ) throws -> InboxSlice {
        let found = try activities(in: own, of: user, after: request.cursor?.activity, limit: request.limit, isWanted)
            .sorted { $0.activity < $1.activity }
        let activities = found.prefix(request.limit)
        var listed: [InboxRoom] = []
        listed.reserveCapacity(activities.count)
        var bytes = 0
        var last: Found?
        var looked = 0
        for found in activities where bytes < answerBytes {
            looked += 1
            last = found
            do {
                let view = try RoomView(found.activity.room, recent: own.rooms[found.number]?.recent ?? [], statements)
                let message = try view.flatMap { try $0.message(seq: $0.state.head)?.body }
                let summary = try summary(of: found.activity.room, view, for: user)
                bytes += message?.count ?? 0
                listed.append(InboxRoom(summary: summary, lastMessage: message))
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {}
        }
        guard looked < found.count, let last else { return InboxSlice(rooms: listed, next: nil) }
        return InboxSlice(rooms: listed, next: InboxCursor(epoch: epoch, activity: last.activity))
    }

    /// Returns at most `limit` rooms of a user. Rooms in which the user has sent or read, or which the user created or
    /// joined, come first. Others can add the user to any number of rooms, and those must not crowd these out.
    func memberships(
        limit: Int, _ own: OwnRooms, of user: UserID, where isWanted: (RoomID) -> Bool
    ) throws -> Memberships {
        let found = try activities(in: own, of: user, after: nil, limit: limit, isWanted)
            .sorted { a, b in a.isEngaged == b.isEngaged ? a.activity < b.activity : a.isEngaged }
        return Memberships(rooms: found.prefix(limit).map(\.activity.room), hasMore: found.count > limit)
    }

    /// A candidate for a list.
    private struct Found {
        var number: Int64
        var activity: InboxCursor.Activity
        var isEngaged: Bool
    }

    /// Returns rooms after a position of the list, in no order. They include the first `limit` rooms that the user is
    /// engaged in and the first `limit` of the others, plus one more of each if there is one.
    private func activities(
        in own: OwnRooms, of user: UserID, after place: InboxCursor.Activity?, limit: Int,
        _ isWanted: (RoomID) -> Bool
    ) throws -> [Found] {
        var found: [Found] = []
        func add(_ row: InboxStatements.Row, _ id: RoomID, _ recent: [RecentMessage]) {
            // Messages filed after the recent ones were taken are newer.
            let latest = recent.last.map { max(row.activity, $0.createdAt.milliseconds) } ?? row.activity
            let activity = InboxCursor.Activity(milliseconds: latest, room: id)
            if let place, !(place < activity) { return }
            let isEngaged = row.isEngaged || recent.contains { $0.sender == user }
            found.append(Found(number: row.number, activity: activity, isEngaged: isEngaged))
        }
        let inbox = statements.inbox
        guard let active = own.active else {
            try inbox.forEachActivity(of: user) { row in
                if let room = own.rooms[row.number] { add(row, room.id, room.recent) }
            }
            return found
        }
        for (number, room) in own.rooms {
            // The user may have left the room since.
            if let row = try inbox.activity(of: user, in: number) { add(row, room.id, room.recent) }
        }
        // An active room that is missing above is one that the user has joined since.
        func isOther(_ id: RoomID) -> Bool { !active.contains(id) && isWanted(id) }
        try inbox.forEachUnknown(of: user) { row, id in if isOther(id) { add(row, id, []) } }
        for isEngaged in [true, false] {
            let end = found.count + limit
            var last = Int64.min
            try inbox.forEachIndexed(of: user, isEngaged: isEngaged, from: place?.milliseconds ?? .max) { row, id in
                // Rooms with equal times are ordered by id, so the index may return them in any order.
                if found.count > end, row.activity != last { return false }
                last = row.activity
                if isOther(id) { add(row, id, []) }
                return true
            }
        }
        return found
    }
}
