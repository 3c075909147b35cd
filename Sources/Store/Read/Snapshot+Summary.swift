import Chat
import Wire

/// Rooms as a user sees them.
extension Snapshot {
    /// Returns a room as a user sees it; without a user, nothing personal.
    func summary(of id: RoomID, _ room: RoomView?, for user: UserID?) throws -> RoomSummary {
        var summary = RoomSummary(room: id, head: room?.state.head ?? 0, rev: room?.state.rev ?? 0, epoch: epoch)
        summary.visibility = room?.isPrivate == true ? .private : .open
        summary.title = try room.flatMap { try statements.rooms.title(of: $0.number) }
        guard let user else { return summary }
        let readState = try readState(of: room, for: user)
        summary.read = readState.read
        summary.unread = readState.unread
        summary.firstUnread = readState.firstUnread
        guard let room else { return summary }
        summary.role = try statements.lookup.role(of: user, in: room.number)
        return summary
    }

    /// Returns a user's read mark in a room and the unread messages after it.
    func readState(of room: RoomView?, for user: UserID) throws -> ReadState {
        guard let room else { return ReadState() }
        // The mark comes from the snapshot, and the recent messages are older. A message sent and read in between is
        // not included yet.
        let mark = min(try room.readMark(of: user), room.state.head)
        let unread = try room.unread(after: mark, for: user)
        return ReadState(read: mark, unread: unread.count, firstUnread: unread.first)
    }
}
