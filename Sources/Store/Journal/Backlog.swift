import Wire

/// The messages of the journal that are not filed yet, which means that they are not in the table of messages.
///
/// Filing a message writes a page of its room's messages and a page of their client message ids. With many busy rooms, each
/// message would cost two pages. So a commit appends its messages to the journal, which takes a page or two for all of them,
/// and they gather there until messages of one room can be filed together.
///
/// Once the journal is full, each commit files about as many messages as it adds: all those of the rooms that have waited for
/// longest. A room is filed earlier when it has many messages, when one of them is changed, or when it has waited for too
/// long, because the journal keeps all rows from the oldest unfiled message on. All rooms are filed while nothing is sent.
///
/// A plain value: it decides what is due, and records what has been filed.
struct Backlog {
    /// The limits beyond which rooms are filed.
    struct Limits {
        /// Maximum number of messages, apart from those of one commit.
        var messages: Int
        /// Maximum number of bytes of messages, apart from those of one commit.
        var bytes: Int
        /// Number of messages at which a room is full. A commit files one full room, and every room with twice as many.
        var messagesOfRoom: Int
    }

    /// Number of messages after which a commit files no further room, counted apart for full rooms and for rooms that have
    /// waited for too long.
    static let messagesOfFiling = 256
    /// Number of bytes after which a commit files no further room that has waited for too long: 1 MiB.
    static let bytesOfFiling = 1024 * 1024

    /// What one commit adds to what it sends: rooms to be filed whole.
    struct Filing {
        /// The rooms.
        fileprivate(set) var rooms: [RoomID] = []
        /// Their messages, room by room.
        fileprivate(set) var messages: [RecentMessage] = []
        fileprivate var bytes = 0
        private var roomSet: Set<RoomID> = []

        /// True if there is nothing to file.
        var isEmpty: Bool { rooms.isEmpty }

        /// Returns whether a room is to be filed.
        func contains(_ room: RoomID) -> Bool { roomSet.contains(room) }

        /// Adds a room that is not there, with all messages of it that have not been filed.
        mutating func add(_ room: RoomID, _ messages: [RecentMessage]) {
            if messages.isEmpty { return }
            rooms.append(room)
            roomSet.insert(room)
            self.messages += messages
            bytes += messages.reduce(0) { $0 + $1.body.count }
        }
    }

    private struct Room {
        /// Consecutive ones, the newest of the room.
        var list = RecentMessageList()
        var bytes = 0
        /// The journal's row that holds the first one.
        let row: Int64

        init(row: Int64) {
            self.row = row
        }

        /// Adds the newest message, and says how many there are then.
        mutating func add(_ message: RecentMessage) -> Int {
            list.append(message)
            bytes += message.body.count
            return list.messages.count
        }
    }

    /// A room that waits since its first message was put in this row, at this time. Void when that is not its room's row any
    /// more.
    private struct Entry {
        let room: RoomID
        let row: Int64
        let time: Timestamp
    }

    private let limits: Limits
    private var rooms: [RoomID: Room] = [:]
    /// Rooms that are set aside, see ``RowFailure``. Their messages can be read, and are never due.
    private var aside: [RoomID: Room] = [:]
    /// The rooms in the order of their first messages.
    private var queue: [Entry] = []
    private var queueHead = 0
    /// The number of entries, void ones among them, which tests hold against the number of rooms.
    var queueCount: Int { queue.count }
    private var full: [RoomID] = []
    /// The number of messages that are to be filed.
    private(set) var count = 0
    /// The number of rooms that have any messages.
    var roomCount: Int { rooms.count + aside.count }
    /// The rooms that have any messages.
    var roomIDs: [RoomID] { Array(rooms.keys) + aside.keys }
    private var bytes = 0

    init(limits: Limits) {
        self.limits = limits
    }

    // MARK: Looking up

    /// The messages of a room, which are its newest, in order.
    func messages(of room: RoomID) -> [RecentMessage] {
        held(room)?.list.messages ?? []
    }

    /// The newest message of a room, if it is here.
    func newest(of room: RoomID) -> RecentMessage? {
        held(room)?.list.messages.last
    }

    /// The message that was sent to a room under a client message id.
    func message(_ key: ClientMessageKey, in room: RoomID) -> RecentMessage? {
        guard let room = held(room), let number = room.list.messages.first?.roomNumber else { return nil }
        return room.list.first(key, in: number)
    }

    private func held(_ room: RoomID) -> Room? {
        rooms[room] ?? (aside.isEmpty ? nil : aside[room])
    }

    // MARK: Rooms that are set aside

    /// The bytes of messages of rooms that are set aside.
    var asideBytes: Int { aside.values.reduce(0) { $0 + $1.bytes } }

    /// Returns whether a room that is set aside holds a message of a user.
    func hasAsideMessage(of user: UserID) -> Bool {
        aside.values.contains { $0.list.messages.contains { $0.sender == user } }
    }

    /// Keeps the messages of a room for readers, and files them no more.
    mutating func setAside(_ room: RoomID) {
        guard let held = rooms.removeValue(forKey: room) else { return }
        aside[room] = held
        count -= held.list.messages.count
        bytes -= held.bytes
        full.removeAll { $0 == room }
        dropVoidEntries()
    }

    // MARK: Filing

    /// What is to be filed for the limits to hold.
    ///
    /// - Parameters:
    ///   - row: rooms whose first message is in an earlier row have waited for too long,
    ///   - time: and so have those whose first message is older.
    func due(before row: Int64 = .min, _ time: Timestamp = .earliest) -> Filing {
        var filing = fullRooms()
        let start = (messages: filing.messages.count, bytes: filing.bytes)
        fill(&filing) { entry, filing in
            if count - filing.messages.count > limits.messages || bytes - filing.bytes > limits.bytes { return true }
            guard entry.row < row || entry.time < time else { return false }
            return filing.messages.count - start.messages < Self.messagesOfFiling
                && filing.bytes - start.bytes < Self.bytesOfFiling
        }
        return filing
    }

    /// The rooms that have waited for longest, of `most` messages or a few more.
    func oldest(_ most: Int) -> Filing {
        var filing = fullRooms()
        fill(&filing) { _, filing in filing.messages.count < most }
        return filing
    }

    /// All messages of these rooms.
    func filing(of rooms: ArraySlice<RoomID>) -> Filing {
        var filing = Filing()
        for room in rooms { filing.add(room, messages(of: room)) }
        return filing
    }

    /// The first row of the journal that is still needed when `filing` is done; `nil` when none is.
    func firstRow(after filing: Filing) -> Int64? {
        queue[queueHead...].first { !isVoid($0) && !filing.contains($0.room) }?.row
    }

    /// The first of the rooms that are full.
    ///
    /// Rooms that fill together are due together; to file all of them at once would hold the commit up for each of them.
    private func fullRooms() -> Filing {
        var filing = Filing()
        for room in full {
            let messages = messages(of: room)
            guard filing.messages.count < Self.messagesOfFiling || messages.count >= 2 * limits.messagesOfRoom
            else { continue }
            filing.add(room, messages)
        }
        return filing
    }

    /// Adds the rooms that have waited for longest, as long as `isDue`.
    private func fill(_ filing: inout Filing, while isDue: (Entry, Filing) -> Bool) {
        for entry in queue[queueHead...] {
            guard isDue(entry, filing) else { return }
            guard let room = rooms[entry.room], room.row == entry.row, !filing.contains(entry.room) else { continue }
            filing.add(entry.room, room.list.messages)
        }
    }

    private func isVoid(_ entry: Entry) -> Bool {
        rooms[entry.room]?.row != entry.row
    }

    // MARK: What has happened

    /// A commit has filed these rooms.
    mutating func remove(_ filing: Filing) {
        for id in filing.rooms { rooms[id] = nil }
        count -= filing.messages.count
        bytes -= filing.bytes
        full.removeAll { rooms[$0] == nil }
        dropVoidEntries()
    }

    /// A commit has written this message, the newest of its room, in this row of the journal.
    ///
    /// - Parameter time: the present. Messages may bear a later one, when the clock was set back.
    mutating func append(_ message: RecentMessage, row: Int64, at time: Timestamp) {
        let count = rooms[message.room, default: Room(row: row)].add(message)
        if count == 1 { queue.append(Entry(room: message.room, row: row, time: min(message.createdAt, time))) }
        if count == limits.messagesOfRoom { full.append(message.room) }
        self.count += 1
        bytes += message.body.count
    }

    private mutating func dropVoidEntries() {
        while queueHead < queue.count, isVoid(queue[queueHead]) { queueHead += 1 }
        // Each is moved, or looked at, once for one that goes. One entry of each room is not void.
        if queueHead > queue.count / 2 {
            queue.removeFirst(queueHead)
            queueHead = 0
        } else if queue.count - queueHead > 2 * rooms.count {
            queue = queue[queueHead...].filter { !isVoid($0) }
            queueHead = 0
        }
    }
}
