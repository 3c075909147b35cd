import Wire

/// Where the rooms are that were written to lately, so that a send need not look.
struct RoomTable {
    /// A room, as of the last commit and what the one under way adds.
    struct Room {
        /// Its number in the database.
        let number: Int64
        /// The highest `seq`.
        var head: Int64
        /// The latest revision.
        var rev: Int64
        /// The time when its newest message was stored.
        var latest: Timestamp
        /// True if it is for members only. Also true of a deleted room, so that one look tells whether a submission may
        /// be refused for the room's sake.
        var isPrivate = false
        /// True if it has been deleted.
        private(set) var isDeleted = false
        /// The number of the filter that has all of its client message ids; 0 when none has.
        var filter: UInt32 = 0
        /// The number of client message ids that were looked up in the database since it is in the table.
        var lookups: Int32 = 0
        /// Its place in the table.
        fileprivate(set) var index = -1
        /// The number of the commit that has changed it last, and where its batch is in that.
        private var commit: UInt64 = 0
        private var batch = 0

        init(number: Int64, head: Int64, rev: Int64, latest: Timestamp, isPrivate: Bool = false) {
            self.number = number
            self.head = head
            self.rev = rev
            self.latest = latest
            self.isPrivate = isPrivate
        }

        /// The room is deleted, for ever.
        mutating func markDeleted() {
            isDeleted = true
            isPrivate = true
        }

        /// Where its batch is in a commit; `nil` when it has none.
        func batch(in commit: UInt64) -> Int? {
            self.commit == commit ? batch : nil
        }

        /// Remembers where its batch is in a commit.
        mutating func setBatch(_ index: Int, in commit: UInt64) {
            self.commit = commit
            batch = index
        }
    }

    private var indices: [RoomID: Int] = [:]
    private var rooms: [Room] = []
    private let limit: Int
    /// The number of the commit under way.
    private(set) var commit: UInt64 = 0

    /// An empty table that will remember `limit` rooms, beside those of the commit under way.
    init(limit: Int) {
        self.limit = limit
    }

    /// What is known of a room.
    subscript(_ id: RoomID) -> Room? {
        indices[id].map { rooms[$0] }
    }

    /// Adds a room that is not there.
    ///
    /// - Returns: the room, with its place.
    @discardableResult
    mutating func add(_ id: RoomID, _ room: Room) -> Room {
        var room = room
        room.index = rooms.count
        indices[id] = rooms.count
        rooms.append(room)
        return room
    }

    /// Remembers what a room of the table is now.
    mutating func update(_ room: Room) {
        rooms[room.index] = room
    }

    /// Another commit begins.
    mutating func beginCommit() {
        commit += 1
    }

    /// Forgets all rooms when there are more than the limit: which are busy shows again soon enough.
    ///
    /// Not to be called within a commit, in whose middle nothing but this table says where its rooms are.
    mutating func keepWithinLimit() {
        guard rooms.count > limit else { return }
        indices = [:]
        rooms = []
    }
}
