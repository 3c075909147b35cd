import Synchronization
public import Wire

/// Read marks that have moved, until the rooms' subscribers are told: one for all loops of the process.
///
/// They are told at the next beat, a second after the first of them has moved: of each user and room just where the
/// mark is by then. And in a room of thousands notices are rare: at a beat they make at most ``framesPerRoom`` frames,
/// so that they never keep messages waiting; the others are dropped.
public final class ReadNotices: Sendable {
    /// The time between two notices of a user in a room, at least, unless somebody says otherwise.
    public static let defaultInterval = Duration.seconds(1)
    /// The most frames that a room's notices make at a beat; one notice is always allowed.
    public static let framesPerRoom = 20_000

    /// After how long a beat has to come when it is asked for.
    public let interval: Duration
    private let marks = Mutex<[RoomID: [UserID: Int64]]>([:])

    /// No mark has moved yet.
    public init(interval: Duration = defaultInterval) {
        self.interval = interval
    }

    /// A user's mark has moved.
    ///
    /// - Returns: whether to call ``beat(audience:)`` after ``interval``.
    public func moved(_ user: UserID, in room: RoomID, to seq: Int64) -> Bool {
        marks.withLock { marks in
            let isFirst = marks.isEmpty
            // Two loops may tell of two commits in another order.
            marks[room, default: [:]][user, default: seq].raise(to: seq)
            return isFirst
        }
    }

    /// The time has come to tell what has moved.
    ///
    /// - Parameter audience: about how many subscribers a room has.
    /// - Returns: what to tell.
    public func beat(audience: (RoomID) -> Int) -> [(room: RoomID, user: UserID, seq: Int64)] {
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
