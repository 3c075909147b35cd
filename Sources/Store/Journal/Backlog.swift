import Wire

/// What the journal holds that has not been filed: that is not in its room's place among the messages yet.
///
/// A message that is put in its place changes a page of its room's messages and a page of their client message ids, and
/// where many rooms are busy every message has two pages of its own to write. So a commit appends its messages to the
/// journal, a page or two for all of them, and each commit files one or two rooms that have gathered a few messages
/// meanwhile: side by side, those share their pages.
///
/// A plain value: it says what is to be filed, and is told what has been.
struct Backlog {
    /// When rooms are filed.
    struct Limits {
        /// The most messages, but for those of one commit.
        var messages: Int
        /// The most bytes of messages, but for those of one commit.
        var bytes: Int
        /// A room is filed when it has this many, whatever the others have: it gains no more by waiting, and the commit
        /// that files it is not held up for long.
        var messagesOfRoom: Int
    }

    /// What one commit adds to what it sends: rooms to be filed whole.
    struct Filing {
        /// The rooms.
        fileprivate(set) var rooms: [RoomID] = []
        /// Their messages, room by room.
        fileprivate(set) var messages: [RecentMessage] = []
        fileprivate var bytes = 0
        private var roomSet: Set<RoomID> = []

        /// Whether there is nothing to file.
        var isEmpty: Bool { rooms.isEmpty }

        /// Whether a room is to be filed.
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

    private let limits: Limits
    private var rooms: [RoomID: Room] = [:]
    /// The rooms in the order of their first messages. An entry whose row is not its room's any more is void.
    private var queue: [(room: RoomID, row: Int64)] = []
    private var queueHead = 0
    private var full: [RoomID] = []
    /// How many messages there are.
    private(set) var count = 0
    private var bytes = 0

    init(limits: Limits) {
        self.limits = limits
    }

    // MARK: Looking up

    /// The messages of a room, which are its newest, in order.
    func messages(of room: RoomID) -> [RecentMessage] {
        rooms[room]?.list.messages ?? []
    }

    /// The newest message of a room, if it is here.
    func newest(of room: RoomID) -> RecentMessage? {
        rooms[room]?.list.messages.last
    }

    /// The message that was sent to a room under a client message id.
    func message(_ key: ClientMessageKey, in room: RoomID) -> RecentMessage? {
        guard let room = rooms[room], let number = room.list.messages.first?.roomNumber else { return nil }
        return room.list.first(key, in: number)
    }

    // MARK: Filing

    /// What is to be filed for the limits to hold.
    func due() -> Filing {
        var filing = Filing()
        fill(&filing, until: { self.count - $0.messages.count <= limits.messages && bytes - $0.bytes <= limits.bytes })
        return filing
    }

    /// The rooms that have waited for longest, of `most` messages or a few more.
    func oldest(_ most: Int) -> Filing {
        var filing = Filing()
        fill(&filing, until: { $0.messages.count >= most })
        return filing
    }

    /// The first row of the journal that is still needed when `filing` is done; `nil` when none is.
    func firstRow(after filing: Filing) -> Int64? {
        queue[queueHead...].first { rooms[$0.room]?.row == $0.row && !filing.contains($0.room) }?.row
    }

    private func fill(_ filing: inout Filing, until isEnough: (Filing) -> Bool) {
        for room in full { filing.add(room, messages(of: room)) }
        for entry in queue[queueHead...] {
            if isEnough(filing) { return }
            guard let room = rooms[entry.room], room.row == entry.row, room.list.messages.count < limits.messagesOfRoom
            else { continue }
            filing.add(entry.room, room.list.messages)
        }
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
    mutating func append(_ message: RecentMessage, row: Int64) {
        let count = rooms[message.room, default: Room(row: row)].add(message)
        if count == 1 { queue.append((message.room, row)) }
        if count == limits.messagesOfRoom { full.append(message.room) }
        self.count += 1
        bytes += message.body.count
    }

    private mutating func dropVoidEntries() {
        while queueHead < queue.count, rooms[queue[queueHead].room]?.row != queue[queueHead].row { queueHead += 1 }
        // Moved once at most, each.
        if queueHead > queue.count / 2 {
            queue.removeFirst(queueHead)
            queueHead = 0
        }
    }
}
