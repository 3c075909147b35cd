import Synchronization
public import Wire

/// Read marks that have moved since the last notices. All loops of the process share it.
///
/// Notices are sent at the next flush, one ``interval`` after the first mark has moved, and carry each user's latest
/// mark. Large rooms get fewer notices: at most ``framesPerRoom`` frames in a flush, so that notices never delay
/// messages. The rest is dropped.
public final class ReadNotices: Sendable {
    /// Default of the minimum time between two notices of one user in a room.
    public static let defaultInterval = Duration.seconds(1)
    /// Maximum number of frames that a room's notices cause in a flush. One notice is always allowed.
    public static let framesPerRoom = 20_000

    /// The time from the first move to the flush.
    public let interval: Duration
    private let marks = Mutex<[RoomID: [UserID: Int64]]>([:])

    /// Creates a table without moved marks.
    public init(interval: Duration = defaultInterval) {
        self.interval = interval
    }

    /// Records that a user's mark has moved.
    ///
    /// - Returns: True if the caller must schedule ``flush(audience:)`` after ``interval``.
    public func moved(_ user: UserID, in room: RoomID, to seq: Int64) -> Bool {
        marks.withLock { marks in
            let isFirst = marks.isEmpty
            // Two loops may report two commits in the opposite order.
            marks[room, default: [:]][user, default: seq].raise(to: seq)
            return isFirst
        }
    }

    /// Takes the moved marks for which notices are due.
    ///
    /// - Parameter audience: Returns the approximate number of a room's subscribers.
    /// - Returns: The notices to send.
    public func flush(audience: (RoomID) -> Int) -> [(room: RoomID, user: UserID, seq: Int64)] {
        let marks = marks.withLock { marks in
            defer { marks = [:] }
            return marks
        }
        return marks.flatMap { room, users in
            users.prefix(max(1, Self.framesPerRoom / max(1, audience(room)))).map { (room, $0.key, $0.value) }
        }
    }
}

extension Int64 {
    fileprivate mutating func raise(to value: Int64) {
        self = Swift.max(self, value)
    }
}
