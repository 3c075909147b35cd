import Chat
import GRDB
import Wire

/// Queries about all rooms of a user.
///
/// Recent messages must be taken before the snapshot begins, see ``Journal``, but only the database knows the
/// user's rooms. So the reader first reads the user's rooms, then takes their recent messages, and then begins the
/// snapshot that it answers from:
///
/// - No message is missing. A recent message leaves memory only when the commit that filed it is durable. If it was not
///   taken, that commit came before the snapshot, which therefore has its row.
/// - No `seq` goes back. Clients learn of a message after its commit has put it into memory. A query made after that
///   finds it there or in the snapshot, and ``RoomView`` uses the newer of the two.
/// - A room that the user joined after the rooms were read is left out, as if the query had come just before. The user
///   was no member when the query was made, or had not been told yet. A room that the user has left since is not in the
///   snapshot, so it is left out too.
///
/// The rooms read first are all rooms of the user, or all rooms with recent messages, whichever are fewer. In the
/// second case the index of memberships by activity finds the rest. A list then costs as many lookups as it has rows,
/// plus the rooms with recent messages, plus the user's rooms with many members.
extension LogReader {
    /// Answers a query about the user's own rooms.
    func read(
        _ read: Query.OwnRoomsRead, within patterns: [RoomPattern]?, for query: Query, _ database: DatabaseQueue,
        _ statements: inout ReaderStatements?, _ deflater: PushDeflater
    ) throws {
        guard let user = query.user else { throw Problem.unauthenticated("A list of rooms is that of a user.") }
        try refuseBanned(query)
        let isWanted = { (room: RoomID) in patterns?.contains { $0.matches(room) } ?? true }
        let prepared = try database.inDatabase { db in try statements ?? ReaderStatements(db) }
        statements = prepared
        let own = try ownRooms(of: user, database, prepared.inbox, where: isWanted)
        let snapshot = snapshot(prepared, deflater)
        try database.inDatabase { _ in
            try prepared.inTransaction {
                switch read {
                case .inbox(let request, let reply):
                    reply.answer(try snapshot.inbox(request, own, of: user, where: isWanted))
                case .memberships(let limit, let reply):
                    reply.answer(try snapshot.memberships(limit: limit, own, of: user, where: isWanted))
                }
            }
        }
    }

    private func ownRooms(
        of user: UserID, _ database: DatabaseQueue, _ inbox: InboxStatements, where isWanted: (RoomID) -> Bool
    ) throws -> OwnRooms {
        var own = OwnRooms()
        var numbers: [Int64] = []
        var ids: [RoomID] = []
        func add(_ number: Int64, _ id: RoomID) {
            guard isWanted(id) else { return }
            numbers.append(number)
            ids.append(id)
        }
        let activeCount = journal.roomCount
        try database.inDatabase { _ in
            if try inbox.isIndexed(), try inbox.count(of: user, most: activeCount + 1) > activeCount {
                let active = journal.rooms
                for id in active {
                    if let number = try inbox.number(of: id, for: user) { add(number, id) }
                }
                own.active = Set(active)
            } else {
                try inbox.forEachRoom(of: user, add)
            }
        }
        let recent = journal.messages(of: ids)
        for index in ids.indices { own.rooms[numbers[index]] = OwnRoom(id: ids[index], recent: recent[index]) }
        return own
    }
}
