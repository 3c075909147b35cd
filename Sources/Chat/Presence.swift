import Synchronization
public import Wire

/// Who is subscribed to which room, over all loops of the process.
///
/// A user counts once, however many sockets it has; a subscriber without a name counts as somebody of its own. That a
/// number has changed is told at the next beat, a second after the first change, so that a storm of subscribers is a
/// few notices; and in a room of thousands more rarely, see ``framesPerSecond``.
public final class Presence: Sendable {
    /// The time between two notices in a room, at least, unless somebody says otherwise.
    public static let defaultInterval = Duration.seconds(1)
    /// The most frames that a room's notices make in a second: a room of 10,000 has one in ten seconds.
    public static let framesPerSecond = 1000
    /// The most users that are listed by name; a room with more has just a number.
    public static let listedUsers = 200

    private struct Room {
        /// The number of sockets that each user has.
        var users: [UserID: Int32] = [:]
        var unnamed: Int32 = 0
        /// True if it is among those that wait for the next beat.
        var isWaiting = false
        /// The time when the next notice may come; `nil` for at once.
        var due: ContinuousClock.Instant?

        var online: Int { users.count + Int(unnamed) }

        /// Counts a subscriber in (1) or out (-1).
        ///
        /// - Returns: whether the room has to wait for the next beat from now on.
        mutating func count(_ user: UserID?, by difference: Int32) -> Bool {
            let before = online
            if let user {
                let sockets = users[user, default: 0] + difference
                users[user] = sockets == 0 ? nil : sockets
            } else {
                unnamed += difference
            }
            guard online != before, !isWaiting else { return false }
            isWaiting = true
            return true
        }
    }

    private struct State {
        var rooms: [RoomID: Room] = [:]
        /// The rooms whose number has changed since the beat before.
        var waiting: [RoomID] = []
        /// True if somebody has been asked for the next beat.
        var isAwaited = false

        /// Has a room wait for the next beat.
        ///
        /// - Returns: whether somebody has to be asked for one.
        mutating func wait(_ room: RoomID) -> Bool {
            waiting.append(room)
            defer { isAwaited = true }
            return !isAwaited
        }
    }

    /// After how long a beat has to come when it is asked for.
    public let interval: Duration
    private let state = Mutex(State())

    /// Nobody is anywhere.
    public init(interval: Duration = defaultInterval) {
        self.interval = interval
    }

    /// A subscriber has come.
    ///
    /// - Parameter user: who it is, if that is known.
    /// - Returns: whether to call ``beat(at:)`` after ``interval``.
    public func join(_ room: RoomID, as user: UserID?) -> Bool {
        state.withLock { state in
            state.rooms[room, default: Room()].count(user, by: 1) && state.wait(room)
        }
    }

    /// A subscriber that had come has gone.
    ///
    /// - Returns: whether to call ``beat(at:)`` after ``interval``.
    public func leave(_ room: RoomID, as user: UserID?) -> Bool {
        state.withLock { state in
            let hasChanged = state.rooms[room]?.count(user, by: -1) ?? false
            // Of an empty room there is nobody to be told.
            if state.rooms[room]?.online == 0 { state.rooms[room] = nil }
            return hasChanged && state.rooms[room] != nil && state.wait(room)
        }
    }

    /// The time has come to tell what has changed.
    ///
    /// - Returns: the rooms of which to tell those who know another number; and whether to call again after ``interval``.
    public func beat(at now: ContinuousClock.Instant) -> (changes: [(room: RoomID, online: Int)], again: Bool) {
        state.withLock { state in
            var changes: [(room: RoomID, online: Int)] = []
            var waiting: [RoomID] = []
            for room in state.waiting {
                guard var entry = state.rooms[room], entry.isWaiting else { continue }
                if let due = entry.due, due > now {
                    waiting.append(room)
                    continue
                }
                // Also when the number is again what it was: who came meanwhile has been told another.
                entry.isWaiting = false
                entry.due = now + max(interval, .seconds(1) * entry.online / Self.framesPerSecond)
                state.rooms[room] = entry
                changes.append((room, entry.online))
            }
            state.waiting = waiting
            state.isAwaited = !waiting.isEmpty
            return (changes, state.isAwaited)
        }
    }

    /// How many are subscribed to a room.
    public func online(in room: RoomID) -> Int {
        state.withLock { $0.rooms[room]?.online ?? 0 }
    }

    /// Who is subscribed to a room: its users in the order of their bytes, those without a name left out.
    public func present(in room: RoomID) -> RoomPresence {
        let (online, users) = state.withLock { state -> (Int, [UserID]?) in
            guard let entry = state.rooms[room] else { return (0, []) }
            return (entry.online, entry.online <= Self.listedUsers ? Array(entry.users.keys) : nil)
        }
        let sorted = users?.sorted { $0.string.utf8.lexicographicallyPrecedes($1.string.utf8) }
        return RoomPresence(room: room, online: online, users: sorted)
    }
}
