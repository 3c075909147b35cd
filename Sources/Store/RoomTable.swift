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
        /// When its newest message was stored.
        var latest: Timestamp
    }

    private var rooms: [RoomID: Room] = [:]
    private let limit: Int

    /// An empty table that will remember `limit` rooms.
    init(limit: Int) {
        self.limit = limit
    }

    /// What is known of a room.
    subscript(_ room: RoomID) -> Room? {
        get { rooms[room] }
        set {
            // Which rooms are busy shows again soon enough.
            if rooms.count >= limit, newValue != nil, rooms[room] == nil { rooms = [:] }
            rooms[room] = newValue
        }
    }
}
