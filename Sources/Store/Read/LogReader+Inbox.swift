import Chat
import GRDB
import Wire

/// Reading what a user has of all rooms.
///
/// Recent messages are taken before the snapshot begins, see ``RecentMessages``, and which rooms are the user's only the
/// database knows. So rooms of the user are read first, then their recent messages are taken, and then the snapshot is, in
/// which everything is read that is answered:
///
/// - No message is in neither. A recent message leaves the journal's table in memory only when the commit that has filed
///   it is durable. Either it was taken, or that had happened before; then the snapshot, which began later, has its row.
/// - No `seq` goes back. Whoever has heard of a message has heard of it after its commit had put it into the table, and
///   before the query was made: it was taken, or the snapshot has its row, and ``RoomView`` goes by the one that is ahead.
/// - A room that the user has joined since the rooms were read has no recent messages here, so it is left out, as if the
///   query had come just before; the user was no member when the query was made, or had not heard of being one. One that
///   the user has left since is not the user's in the snapshot, and is left out too.
///
/// The rooms that are read first are all rooms of the user, or those that have recent messages, whichever are fewer. In the
/// latter case the others are found in the index of memberships by activity, and a list costs its rows: it looks at as many
/// memberships as it has rooms, at the rooms with recent messages, and at the user's rooms with many members.
extension LogReader {
    /// Answers a query that is of no room.
    func readRooms(
        _ query: Query, _ database: DatabaseQueue, _ statements: inout ReaderStatements?, _ deflater: PushDeflater
    ) throws -> Result<Answer.Content, Problem> {
        guard let user = query.user else { return .failure(.unauthenticated("A list of rooms is that of a user.")) }
        if let refusal = refusalOfBanned(query) { return .failure(refusal) }
        let prepared = try database.inDatabase { db in try statements ?? ReaderStatements(db) }
        statements = prepared
        let own = try ownRooms(of: user, for: query, database, prepared.inbox)
        let snapshot = snapshot(prepared, deflater)
        var content: Answer.Content?
        try database.inDatabase { db in
            try db.inTransaction(.deferred) {
                content =
                    switch query.kind {
                    case .inbox(let request, _):
                        .inbox(try snapshot.inbox(request, own, of: user, where: query.kind.means))
                    case .memberships(let limit, _):
                        try snapshot.memberships(limit: limit, own, of: user, where: query.kind.means)
                    default: preconditionFailure("a query of a room")
                    }
                return .commit
            }
        }
        return .success(content!)
    }

    private func ownRooms(
        of user: UserID, for query: Query, _ database: DatabaseQueue, _ inbox: InboxStatements
    ) throws -> OwnRooms {
        var own = OwnRooms()
        var numbers: [Int64] = []
        var ids: [RoomID] = []
        func add(_ number: Int64, _ id: RoomID) {
            guard query.kind.means(id) else { return }
            numbers.append(number)
            ids.append(id)
        }
        let activeCount = self.recent.roomCount
        try database.inDatabase { _ in
            if try inbox.isIndexed(), try inbox.count(of: user, most: activeCount + 1) > activeCount {
                let active = self.recent.rooms
                for id in active {
                    if let number = try inbox.number(of: id, for: user) { add(number, id) }
                }
                own.active = Set(active)
            } else {
                try inbox.forEachRoom(of: user, add)
            }
        }
        let recent = self.recent.messages(ofAll: ids)
        for index in ids.indices { own.rooms[numbers[index]] = OwnRoom(id: ids[index], recent: recent[index]) }
        return own
    }
}

extension Query.Kind {
    /// True for a room that is among those that are asked for, if it is the user's.
    fileprivate func means(_ room: RoomID) -> Bool {
        switch self {
        case .inbox(_, let patterns), .memberships(_, let patterns):
            patterns?.contains { $0.matches(room) } ?? true
        default: false
        }
    }
}
