public import Wire

/// A position in the list of a user's rooms, which is sorted by latest activity: just after a room.
///
/// Clients return it as they received it. Its text is `EPOCH:MILLISECONDS:ROOM`: neither epochs nor room ids contain a
/// colon, and none of it has to be escaped in a URL.
public struct InboxCursor: Sendable, Hashable, CustomStringConvertible {
    /// The epoch of the history.
    public var epoch: String
    /// The latest activity of the room.
    public var activity: Activity

    /// The latest activity of a room, which the list is sorted by.
    public struct Activity: Sendable, Hashable, Comparable {
        /// Milliseconds since 1970, not negative.
        public var milliseconds: Int64
        /// The room.
        public var room: RoomID

        /// Creates the activity of `room` at a time. Times before 1970 become 1970.
        public init(milliseconds: Int64, room: RoomID) {
            self.milliseconds = max(0, milliseconds)
            self.room = room
        }

        /// Returns true if `a` comes before `b` in the list: if it is later, or at the same time with the smaller room
        /// id by bytes. No two rooms compare equal.
        public static func < (a: Activity, b: Activity) -> Bool {
            a.milliseconds == b.milliseconds ? a.room.string < b.room.string : a.milliseconds > b.milliseconds
        }
    }

    /// Creates the position after the room with this activity.
    public init(epoch: String, activity: Activity) {
        self.epoch = epoch
        self.activity = activity
    }

    /// Parses a cursor.
    ///
    /// - Throws: 400 `invalid_cursor` if the server cannot have issued it.
    public init(parsing string: String) throws(Problem) {
        let parts = string.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, SincePosition.isEpoch(parts[0]), let time = Int64(clampingDigits: parts[1]),
            let room = try? RoomID(parts[2])
        else { throw .invalidCursor("cursor", detail: "The cursor must come from an answer of this list.") }
        self.init(epoch: String(parts[0]), activity: Activity(milliseconds: time, room: room))
    }

    /// The cursor as sent to clients.
    public var description: String { "\(epoch):\(activity.milliseconds):\(activity.room)" }
}
