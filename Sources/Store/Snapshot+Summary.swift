import Chat
import Wire

/// Rooms as users see them.
extension Snapshot {
    /// A room as a user sees it; to somebody without a name it shows nothing personal.
    func summary(of id: RoomID, _ room: RoomView?, for user: UserID?) throws -> RoomSummary {
        var summary = RoomSummary(room: id, head: room?.state.head ?? 0, rev: room?.state.rev ?? 0, epoch: epoch)
        summary.visibility = room?.isPrivate == true ? .private : .open
        summary.title = try room.flatMap { try statements.rooms.title(of: $0.number) }
        guard let user else { return summary }
        summary.read = 0
        summary.unread = 0
        guard let room else { return summary }
        summary.role = try statements.lookup.role(of: user, in: room.number)
        // The mark is of the snapshot, and recent messages are older: one that was sent and read in between is not seen yet.
        let mark = min(try room.readMark(of: user), room.state.head)
        let unread = try room.unread(after: mark, for: user)
        summary.read = mark
        summary.unread = unread.count
        summary.firstUnread = unread.first
        return summary
    }
}
