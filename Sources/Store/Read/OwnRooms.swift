import Chat
import Wire

/// A room of a user, read before the transaction, with its recent messages.
struct OwnRoom {
    let id: RoomID
    let recent: [RecentMessage]
}

/// The rooms of a user that were read before the transaction.
struct OwnRooms {
    /// The rooms by their numbers.
    var rooms: [Int64: OwnRoom] = [:]
    /// All rooms with recent messages, also those of other users. ``rooms`` then has the user's rooms among them, and
    /// the index has the user's other rooms, see ``ActivityStatements``. `nil` if ``rooms`` has all rooms of the user.
    var active: Set<RoomID>?
}

/// Queries about all rooms of a user.
///
/// Recent messages must be taken before the transaction begins, see ``Journal``, but only the database knows the
/// user's rooms. So the reader first reads the user's rooms, then takes their recent messages, and then begins the
/// transaction that it answers from:
///
/// - No message is missing. A recent message leaves memory only when the commit that filed it is durable. If it was not
///   taken, that commit came before the transaction, which therefore has its row.
/// - No `seq` goes back. Clients learn of a message after its commit has put it into memory. A query made after that
///   finds it there or in the database, and ``RoomView`` uses the newer of the two.
/// - A room that the user joined after the rooms were read is left out, as if the query had come just before. The user
///   was not a member when the query was made, or had not been told yet. A room that the user has left since is left
///   out too.
///
/// The rooms read first are all rooms of the user, or all rooms with recent messages, whichever are fewer. In the
/// second case the index of memberships by activity finds the rest. A list then costs as many lookups as it has rows,
/// plus the rooms with recent messages, plus the user's rooms with many members.
extension LogReader {
    /// Answers a query about the user's own rooms.
    func read(
        _ read: Query.OwnRoomsRead, within patterns: [RoomPattern]?, for query: Query,
        _ connection: inout ReaderConnection
    ) throws {
        guard let user = query.user else { throw Problem.unauthenticated("A list of rooms is that of a user.") }
        try refuseBanned(query)
        // Rooms that a ban keeps the user from reading are not listed. The bans are looked up again inside the
        // transaction, so a list that shows a message knows every ban that was answered before it was sent.
        let isWanted = { [bans, configuration] (room: RoomID) in
            if let patterns, !patterns.contains(where: { $0.matches(room) }) { return false }
            return bans.isEmpty
                || bans.refusal(of: user, in: room, isAdmin: query.isAdmin, for: .read, at: configuration.clock())
                    == nil
        }
        let own = try ownRooms(of: user, &connection, where: isWanted)
        try transaction(&connection) { transaction in
            switch read {
            case .inbox(let request, let reply):
                let inbox = try transaction.inbox(request, own, of: user, where: isWanted)
                if let share = backlog.hold(inbox.messageBytes) { reply.hold(share) }
                reply.answer(inbox)
            case .memberships(let limit, let reply):
                reply.answer(try transaction.memberships(limit: limit, own, of: user, where: isWanted))
            }
        }
    }

    private func ownRooms(
        of user: UserID, _ connection: inout ReaderConnection, where isWanted: (RoomID) -> Bool
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
        try connection.use { statements in
            let inbox = statements.inbox
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

/// A user's rooms, ordered by activity: the time of the newest message, or of the room's creation.
extension ReadTransaction {
    /// Returns a part of the list. Each room has its newest message and the user's own state. Rooms in damaged pages of
    /// the database are left out, so that the user can reach the others.
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
        if statements.runsAhead { try runAhead(activities.map { ($0.number, $0.activity.room) }, for: user) }
        for found in activities where bytes < answerBytes {
            looked += 1
            last = found
            do {
                let view = try RoomView(found.activity.room, recent: own.rooms[found.number]?.recent ?? [], statements)
                let message = try view.flatMap { try $0.message(seq: $0.state.head)?.body }
                let summary = try summary(of: found.activity.room, view, for: user)
                bytes += message?.count ?? 0
                listed.append(InboxRoom(summary: summary, lastMessage: message))
            } catch let error as SQLiteError where error.isDamage {}
        }
        guard looked < found.count, let last else { return InboxSlice(rooms: listed, next: nil) }
        return InboxSlice(rooms: listed, next: InboxCursor(epoch: epoch, activity: last.activity))
    }

    /// Sends ahead the statements that read rooms as a user sees them: one round trip for what depends on neither the
    /// newest message nor the read mark, and one for the rest.
    private func runAhead(_ rooms: [(number: Int64, id: RoomID)], for user: UserID) throws {
        for room in rooms {
            try statements.lookup.runAhead(rowOf: room.id)
            try statements.runAhead(summaryOf: room.number, for: user)
        }
        for room in rooms {
            guard let view = try RoomView(room.id, recent: [], statements) else { continue }
            try statements.runAhead(message: view.state.head, room: view.number)
            try view.runAhead(unreadAfter: min(try view.readMark(of: user), view.state.head), for: user)
        }
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
            guard isWanted(id) else { return }
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
        func isOther(_ id: RoomID) -> Bool { !active.contains(id) }
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
