import Chat
import Wire

/// A cache of the rooms that were written to lately, so that a send needs no lookup.
struct RoomTable {
    /// A room, as of the last commit and the changes of the current one.
    struct Room {
        /// Its number in the database.
        let number: Int64
        /// The state that the rules ask about.
        var facts: RoomFacts
        var head: Int64 { facts.head }
        var rev: Int64 { facts.rev }
        var latest: Timestamp { facts.latest }
        /// The number of the ``ClientMessageFilter`` that has all of its client message ids; 0 if none has.
        var filter: UInt32 = 0
        /// The number of client message ids that were looked up in the database since the room was cached.
        var lookups: Int32 = 0
        /// Its index in the table.
        fileprivate(set) var index = -1
        /// The number of the commit that last changed it, and the index of its batch there.
        private var commit: UInt64 = 0
        private var batch = 0

        init(number: Int64, _ facts: RoomFacts) {
            self.number = number
            self.facts = facts
        }

        /// Returns the index of its batch in a commit; `nil` if it has none.
        func batch(in commit: UInt64) -> Int? {
            self.commit == commit ? batch : nil
        }

        mutating func setBatch(_ index: Int, in commit: UInt64) {
            self.commit = commit
            batch = index
        }
    }

    private var indices: [RoomID: Int] = [:]
    private var rooms: [Room] = []
    private let limit: Int
    /// The number of the current commit.
    private(set) var commit: UInt64 = 0

    /// Creates an empty table of at most `limit` rooms, apart from those of the current commit.
    init(limit: Int) {
        self.limit = limit
    }

    /// A cached room; `nil` if it is not in the table.
    subscript(_ id: RoomID) -> Room? {
        indices[id].map { rooms[$0] }
    }

    /// Adds a room that is not in the table.
    ///
    /// - Returns: the room, with its index.
    @discardableResult
    mutating func add(_ id: RoomID, _ room: Room) -> Room {
        var room = room
        room.index = rooms.count
        indices[id] = rooms.count
        rooms.append(room)
        return room
    }

    /// Replaces the state of a room of the table.
    mutating func update(_ room: Room) {
        rooms[room.index] = room
    }

    mutating func beginCommit() {
        commit += 1
    }

    /// Removes all rooms if there are more than the limit. The busy ones soon return.
    ///
    /// Must not be called during a commit, because only this table has the changes of its rooms.
    mutating func keepWithinLimit() {
        guard rooms.count > limit else { return }
        indices = [:]
        rooms = []
    }
}
