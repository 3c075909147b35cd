import Chat
import Wire

/// A room that a user was a member of before the snapshot, with its recent messages, taken in between.
struct OwnRoom {
    let id: RoomID
    let recent: [RecentMessage]
}

/// The rooms of a user in the order of their activity: when their newest messages were stored, or they were made.
extension Snapshot {
    /// A part of the list, each room as the user sees it, with its newest message.
    ///
    /// - Parameter rooms: by their numbers, see ``LogReader``.
    func inbox(_ request: InboxRequest, _ rooms: [Int64: OwnRoom], of user: UserID) throws -> InboxSlice {
        let (activities, hasMore) = try activities(
            in: rooms, of: user, after: request.cursor?.activity, limit: request.limit)
        var listed: [InboxRoom] = []
        listed.reserveCapacity(activities.count)
        var bytes = 0
        for (number, activity) in activities where bytes < answerBytes {
            let view = try RoomView(activity.room, recent: rooms[number]?.recent ?? [], statements)
            let message = try view.flatMap { try $0.message(seq: $0.state.head)?.body }
            bytes += message?.count ?? 0
            listed.append(InboxRoom(summary: try summary(of: activity.room, view, for: user), lastMessage: message))
        }
        guard hasMore || listed.count < activities.count, let last = activities[..<listed.count].last else {
            return InboxSlice(rooms: listed, next: nil)
        }
        return InboxSlice(rooms: listed, next: InboxCursor(epoch: epoch, activity: last.activity))
    }

    /// Which rooms they are, at most `limit`.
    func memberships(limit: Int, _ rooms: [Int64: OwnRoom], of user: UserID) throws -> Answer.Content {
        let (activities, hasMore) = try activities(in: rooms, of: user, after: nil, limit: limit)
        return .memberships(activities.map(\.activity.room), hasMore: hasMore)
    }

    /// The first `limit` rooms behind a place, in order, and whether there are more.
    ///
    /// There is no index by activity, which every send would have to keep: a list looks at all rooms of the user instead,
    /// a search each.
    private func activities(
        in rooms: [Int64: OwnRoom], of user: UserID, after place: InboxCursor.Activity?, limit: Int
    ) throws -> (rooms: [(number: Int64, activity: InboxCursor.Activity)], hasMore: Bool) {
        var found: [(number: Int64, activity: InboxCursor.Activity)] = []
        try statements.inbox.forEachActivity(of: user) { number, newest, made in
            guard let room = rooms[number] else { return }
            // What has been filed since the recent messages were taken is newer than they are.
            let latest = room.recent.last.map { max(newest, $0.createdAt.milliseconds) } ?? newest
            let activity = InboxCursor.Activity(milliseconds: latest == 0 ? made : latest, room: room.id)
            if let place, !(place < activity) { return }
            found.append((number, activity))
        }
        found.sort { $0.activity < $1.activity }
        return (Array(found.prefix(limit)), found.count > limit)
    }
}
