import Wire

/// The unfiled messages: those of the journal that are not in the table `messages` yet.
///
/// Filing a message writes a page of its room's messages and a page of their client message ids. With many busy rooms,
/// each message would cost two pages. So messages gather in the journal until those of one room can be filed together.
///
/// Once the journal is full, each commit files about as many messages as it adds: all those of the rooms that have
/// waited longest. A room is filed earlier when it has many messages or when one of them is changed. It is also filed
/// when it has waited too long, because the journal keeps all rows from the oldest unfiled message on. All rooms are
/// filed while nothing is sent.
///
/// A plain value: it selects what to file, and records what has been filed.
struct Backlog {
    /// Rooms selected for filing, with all their messages.
    struct Selection {
        /// The rooms.
        fileprivate(set) var rooms: [RoomID] = []
        /// Their messages, room by room.
        fileprivate(set) var messages: [RecentMessage] = []
        fileprivate var bytes = 0
        private var roomSet: Set<RoomID> = []

        /// True if there is nothing to file.
        var isEmpty: Bool { rooms.isEmpty }

        func contains(_ room: RoomID) -> Bool { roomSet.contains(room) }

        /// Adds a room with all its unfiled messages. The room must not be selected yet.
        mutating func add(_ room: RoomID, _ messages: [RecentMessage]) {
            if messages.isEmpty { return }
            rooms.append(room)
            roomSet.insert(room)
            self.messages += messages
            bytes += messages.reduce(0) { $0 + $1.body.count }
        }
    }

    private struct Room {
        /// The room's newest messages, without gaps.
        var list = RecentMessageList()
        var bytes = 0
        /// The journal's row that holds the first message.
        let row: Int64

        /// Adds the newest message, and returns the number of messages.
        mutating func add(_ message: RecentMessage) -> Int {
            list.append(message)
            bytes += message.body.count
            return list.messages.count
        }
    }

    /// A room that has waited since its first message was written to a row. An entry is void once its room is filed:
    /// the room then has another row, or none.
    struct Entry {
        let room: RoomID
        let row: Int64
        let time: Timestamp
    }

    private let limits: Journal.Limits
    private var rooms: [RoomID: Room] = [:]
    /// The rooms that are quarantined, see ``RowFailure``. Their messages stay readable and are never selected.
    private var quarantined: [RoomID: Room] = [:]
    /// The rooms in the order of their first messages.
    private(set) var queue: [Entry] = []
    private var queueHead = 0
    private var full: [RoomID] = []
    /// The number of messages to file.
    private(set) var count = 0
    /// The number of rooms with messages.
    var roomCount: Int { rooms.count + quarantined.count }
    /// The rooms with messages.
    var roomIDs: [RoomID] { Array(rooms.keys) + quarantined.keys }
    private var bytes = 0

    init(_ limits: Journal.Limits) {
        self.limits = limits
    }

    // MARK: Looking up

    /// Returns a room's messages, in order. They are the newest of the room.
    func messages(of room: RoomID) -> [RecentMessage] {
        held(room)?.list.messages ?? []
    }

    /// Returns a room's newest message; `nil` if all are filed.
    func newest(of room: RoomID) -> RecentMessage? {
        held(room)?.list.messages.last
    }

    /// Returns the message that was sent to a room with a client message id; `nil` if it is filed or there is none.
    func message(_ key: ClientMessageKey, in room: RoomID) -> RecentMessage? {
        guard let room = held(room), let number = room.list.messages.first?.roomNumber else { return nil }
        return room.list.first(key, in: number)
    }

    private func held(_ room: RoomID) -> Room? {
        rooms[room] ?? (quarantined.isEmpty ? nil : quarantined[room])
    }

    // MARK: Rooms that are quarantined

    /// The number of bytes of messages of rooms that are quarantined.
    var quarantinedBytes: Int { quarantined.values.reduce(0) { $0 + $1.bytes } }

    /// Returns true if a room that is quarantined holds a message of a user.
    func hasQuarantinedMessage(of user: UserID) -> Bool {
        quarantined.values.contains { $0.list.messages.contains { $0.sender == user } }
    }

    /// Keeps a room's messages for readers, and stops filing them.
    mutating func quarantine(_ room: RoomID) {
        guard let held = rooms.removeValue(forKey: room) else { return }
        quarantined[room] = held
        count -= held.list.messages.count
        bytes -= held.bytes
        full.removeAll { $0 == room }
        dropVoidEntries()
    }

    // MARK: Filing

    /// Selects what must be filed for the limits to hold.
    ///
    /// - Parameters:
    ///   - row: Rooms whose first message is in an earlier row have waited too long.
    ///   - time: Rooms whose first message is older than this have also waited too long.
    func due(before row: Int64 = .min, _ time: Timestamp = .earliest) -> Selection {
        var selection = fullRooms()
        let start = (messages: selection.messages.count, bytes: selection.bytes)
        fill(&selection) { entry, selection in
            if count - selection.messages.count > limits.messages || bytes - selection.bytes > limits.bytes {
                return true
            }
            guard entry.row < row || entry.time < time else { return false }
            return selection.messages.count - start.messages < CommitLimits.filedMessages
                && selection.bytes - start.bytes < CommitLimits.filedBytes
        }
        return selection
    }

    /// Selects the rooms that have waited longest, until they have at least `most` messages.
    func oldest(_ most: Int) -> Selection {
        var selection = fullRooms()
        fill(&selection) { _, selection in selection.messages.count < most }
        return selection
    }

    /// Selects these rooms.
    func selection(of rooms: ArraySlice<RoomID>) -> Selection {
        var selection = Selection()
        for room in rooms { selection.add(room, messages(of: room)) }
        return selection
    }

    /// Returns the journal's first row that is still needed once `selection` is filed; `nil` if none is.
    func firstRow(after selection: Selection) -> Int64? {
        queue[queueHead...].first { !isVoid($0) && !selection.contains($0.room) }?.row
    }

    /// Selects full rooms, oldest first, up to the limit of one commit, and all rooms that are twice as full. Rooms
    /// that fill together become due together, and filing all of them in one commit would make it slow.
    private func fullRooms() -> Selection {
        var selection = Selection()
        for room in full {
            let messages = messages(of: room)
            guard selection.messages.count < CommitLimits.filedMessages || messages.count >= 2 * limits.messagesOfRoom
            else { continue }
            selection.add(room, messages)
        }
        return selection
    }

    /// Adds the rooms that have waited longest, while `isDue` returns true.
    private func fill(_ selection: inout Selection, while isDue: (Entry, Selection) -> Bool) {
        for entry in queue[queueHead...] {
            guard isDue(entry, selection) else { return }
            guard let room = rooms[entry.room], room.row == entry.row, !selection.contains(entry.room)
            else { continue }
            selection.add(entry.room, room.list.messages)
        }
    }

    private func isVoid(_ entry: Entry) -> Bool {
        rooms[entry.room]?.row != entry.row
    }

    // MARK: Recording commits

    /// Removes rooms that a commit has filed.
    mutating func remove(_ selection: Selection) {
        for id in selection.rooms { rooms[id] = nil }
        count -= selection.messages.count
        bytes -= selection.bytes
        full.removeAll { rooms[$0] == nil }
        dropVoidEntries()
    }

    /// Adds a message that a commit has written to a row, the newest of its room.
    ///
    /// - Parameter time: the time of the commit. A message's own time is later if the clock was set back.
    mutating func append(_ message: RecentMessage, row: Int64, at time: Timestamp) {
        let count = rooms[message.room, default: Room(row: row)].add(message)
        if count == 1 { queue.append(Entry(room: message.room, row: row, time: min(message.createdAt, time))) }
        if count == limits.messagesOfRoom { full.append(message.room) }
        self.count += 1
        bytes += message.body.count
    }

    private mutating func dropVoidEntries() {
        while queueHead < queue.count, isVoid(queue[queueHead]) { queueHead += 1 }
        // Amortised: an entry is moved or examined at most once for each entry that is dropped, because each room has
        // one entry that is not void.
        if queueHead > queue.count / 2 {
            queue.removeFirst(queueHead)
            queueHead = 0
        } else if queue.count - queueHead > 2 * rooms.count {
            queue = queue[queueHead...].filter { !isVoid($0) }
            queueHead = 0
        }
    }
}
