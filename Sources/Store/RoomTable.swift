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
        /// Whether it is for members only.
        var isPrivate = false
    }

    private var rooms: [RoomID: Room] = [:]
    private let limit: Int

    /// An empty table that will remember `limit` rooms, beside those of the commit under way.
    init(limit: Int) {
        self.limit = limit
    }

    /// What is known of a room.
    subscript(_ room: RoomID) -> Room? {
        get { rooms[room] }
        set { rooms[room] = newValue }
    }

    /// Forgets all rooms when there are more than the limit: which are busy shows again soon enough.
    ///
    /// Not to be called within a commit, in whose middle nothing but this table says where its rooms are.
    mutating func keepWithinLimit() {
        if rooms.count > limit { rooms = [:] }
    }
}
