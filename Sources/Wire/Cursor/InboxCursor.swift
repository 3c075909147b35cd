/// A place in the list of a user's rooms, latest activity first: behind a room.
///
/// Clients hand it back as they got it. It is `EPOCH:MILLISECONDS:ROOM`, which can be read: neither epochs nor room ids have
/// a colon, and none of it has to be escaped in a URL.
public struct InboxCursor: Sendable, Hashable, CustomStringConvertible {
    /// The epoch of the history.
    public var epoch: String
    /// The time when there was last activity in the room.
    public var activity: Activity

    /// The time when there was last activity in a room, and which room that is: what the list is ordered by.
    public struct Activity: Sendable, Hashable, Comparable {
        /// Milliseconds since 1970, not negative.
        public var milliseconds: Int64
        /// The room.
        public var room: RoomID

        /// Activity in `room` at a time; what was before 1970 was then.
        public init(milliseconds: Int64, room: RoomID) {
            self.milliseconds = max(0, milliseconds)
            self.room = room
        }

        /// Returns whether `a` comes before `b` in the list: the later one does, and of the same time the one whose id
        /// comes first by its bytes. So no two rooms have the same place.
        public static func < (a: Activity, b: Activity) -> Bool {
            a.milliseconds == b.milliseconds ? a.room.string < b.room.string : a.milliseconds > b.milliseconds
        }
    }

    /// A place behind the room that there was this activity in.
    public init(epoch: String, activity: Activity) {
        self.epoch = epoch
        self.activity = activity
    }

    /// Reads a cursor.
    ///
    /// - Throws: 400 `invalid_cursor` when it is none that the server has given.
    public init(parsing string: String) throws(Problem) {
        let parts = string.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, SincePosition.isEpoch(parts[0]), let time = Int64(clampingDigits: parts[1]),
            let room = try? RoomID(parts[2])
        else { throw .invalidCursor("cursor", detail: "The cursor must be one that an answer of this list has had.") }
        self.init(epoch: String(parts[0]), activity: Activity(milliseconds: time, room: room))
    }

    /// The cursor as clients get it.
    public var description: String { "\(epoch):\(activity.milliseconds):\(activity.room)" }
}
