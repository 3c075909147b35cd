import Chat
import Wire

/// The content of a database of SQLite as one read transaction shows it.
struct SQLiteView: StoreView {
    /// The content of the journal that was read before the transaction.
    struct Unfiled {
        /// The recent messages of each room that has any.
        var recent: [RoomID: [RecentMessage]] = [:]
        /// The rooms of the user whose rooms are read, by their numbers.
        var rooms: [Int64: RoomID] = [:]
        /// All rooms with recent messages, also those of other users. ``rooms`` then has the user's rooms among them,
        /// and the index has the user's other rooms. `nil` if ``rooms`` has all rooms of the user.
        var active: Set<RoomID>?

        /// Takes the recent messages of rooms.
        mutating func add(_ rooms: [RoomID], _ journal: Journal) {
            for (room, messages) in zip(rooms, journal.messages(of: rooms)) where !messages.isEmpty {
                recent[room] = messages
            }
        }
    }

    /// SQLite's own statements.
    let own: SQLiteReaderStatements
    let unfiled: Unfiled

    var statements: ReaderStatements<SQLiteConnection> { own.shared }
    private var db: SQLiteConnection { own.shared.db }

    func room(_ id: RoomID) throws -> SQLiteRoom? {
        try SQLiteRoom(id, recent: unfiled.recent[id] ?? [], own)
    }

    // MARK: The rooms of a user

    // A search in the file needs no preparation.
    func prepare(_ rooms: [(user: UserID, rooms: ArraySlice<OwnRoom>)]) {}

    func rooms(
        of user: UserID, after last: InboxCursor.Activity?, limit: Int, withHidden: Bool,
        where isWanted: (RoomID) -> Bool
    ) throws -> [OwnRoom] {
        var found: [OwnRoom] = []
        func add(_ row: OwnRoomRow, _ id: RoomID) {
            guard withHidden || !row.isHidden, isWanted(id) else { return }
            let recent = unfiled.recent[id] ?? []
            // Messages filed after the recent ones were taken are newer.
            let latest = recent.last.map { max(row.activity, $0.createdAt.milliseconds) } ?? row.activity
            let activity = InboxCursor.Activity(milliseconds: latest, room: id)
            if let last, !(last < activity) { return }
            let isEngaged = row.isEngaged || recent.contains { $0.sender == user }
            found.append(
                OwnRoom(number: row.number, activity: activity, isEngaged: isEngaged, isHidden: row.isHidden))
        }
        guard let active = unfiled.active else {
            try db.forEachActivity(of: user) { row in if let id = unfiled.rooms[row.number] { add(row, id) } }
            return found
        }
        for (number, id) in unfiled.rooms {
            // The user may have left the room since.
            if let row = try db.activity(of: user, in: number) { add(row, id) }
        }
        // An active room that is missing above is one that the user has joined since.
        func isOther(_ id: RoomID) -> Bool { !active.contains(id) }
        try db.forEachUnknown(of: user) { row, id in if isOther(id) { add(row, id) } }
        for isEngaged in [true, false] {
            let end = found.count + limit
            var previous = Int64.min
            try db.forEachIndexed(of: user, isEngaged: isEngaged, from: last?.milliseconds ?? .max) { row, id in
                // Rooms with equal times are ordered by id, so the index may return them in any order.
                if found.count > end, row.activity != previous { return false }
                previous = row.activity
                if isOther(id) { add(row, id) }
                return true
            }
        }
        return found
    }

    func bodies(of messages: [(key: RowKey, room: RoomID)]) throws -> [Int64: [UInt8]] {
        var (rooms, bodies): ([RoomID: SQLiteRoom?], [Int64: [UInt8]]) = ([:], [:])
        for (key, id) in messages {
            let room = try rooms[id] ?? self.room(id)
            rooms[id] = room
            bodies[key.rawValue] = try room?.message(seq: key.ordinal)?.body
        }
        return bodies
    }

    func forEachCandidate(
        _ search: CandidateSearch, in rooms: [SearchedRoom], _ body: (SearchCandidate) throws -> Bool
    ) throws -> Int64? {
        if let percent = try db.searchBuilding() { throw Problem.indexBuilding(percent: percent) }
        return try MergedSearch(search, in: rooms, self, db).forEachCandidate(body)
    }

    // MARK: All rooms

    /// Merges the index of activity with the rooms that have recent messages.
    func rooms(after last: InboxCursor.Activity?, limit: Int) throws -> [ServerRoom] {
        var busy = unfiled.recent.map { room, messages in
            InboxCursor.Activity(milliseconds: messages.last!.createdAt.milliseconds, room: room)
        }
        if let last { busy.removeAll { !(last < $0) } }
        busy.sort()
        var rooms: [ServerRoom] = []
        for activity in busy where rooms.count < limit {
            // The room may have been deleted just now.
            guard var room = try db.serverRoom(activity.room, by: Self.activity) else { continue }
            room.latest = activity.milliseconds
            rooms.append(room)
        }
        let end = rooms.count + limit
        try db.forEachRoom(after: last, by: Self.activity) { room in
            if unfiled.recent[room.id] == nil { rooms.append(room) }
            return rooms.count < end
        }
        rooms.sort { $0.activity < $1.activity }
        return try rooms.prefix(limit).map { room in
            var room = room
            for message in try self.room(room.id)?.recent ?? [] { room.bytes += Int64(message.body.count) }
            return room
        }
    }

    func lastSend(of user: UserID) throws -> Int64? {
        var last: Int64?
        // The activity in the rows does not have the recent messages.
        for (id, messages) in unfiled.recent {
            guard let message = messages.last(where: { $0.sender == user }), try db.number(of: id, for: user) != nil
            else { continue }
            last = max(last ?? 0, message.createdAt.milliseconds)
        }
        return try db.lastSend(of: user, in: db.activities(of: user, by: Self.activity), after: last)
    }

    // As in the index.
    private static let activity = "ifnull(ifnull(active_at, created_at), 0)"
}
