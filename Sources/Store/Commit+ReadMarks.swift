import Chat
import Wire

/// Moving read marks.
extension Commit {
    /// Moves a user's mark to `seq`, or to the head where that is less, if it is not there or further.
    func read(to seq: Int64, in room: RoomTable.Room?, by user: UserID) throws -> Result<Stored, Problem> {
        // Of a room that nobody has used there is nothing to be read, and to read makes no room.
        guard let room else { return .success(Stored(mark: 0, rev: 0)) }
        let seq = min(seq, room.head)
        if seq > 0, try statements.marks.raise(to: seq, for: user, in: room.number) {
            try statements.activity.engage(user, in: room.number)
            return .success(Stored(mark: seq, rev: room.rev, hasMoved: true))
        }
        return .success(Stored(mark: try statements.lookup.readMark(of: user, in: room.number), rev: room.rev))
    }
}

extension Stored {
    /// A read mark.
    fileprivate init(mark seq: Int64, rev: Int64, hasMoved: Bool = false) {
        self.init(seq: seq, rev: rev, body: [], isNew: hasMoved)
    }
}
