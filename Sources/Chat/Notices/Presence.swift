import Synchronization
public import Wire

/// The subscribers of each room, over all loops of the process.
///
/// A user counts once, whatever the number of sockets; a subscriber without a name counts by itself. Changes are
/// announced at the next beat, one ``interval`` after the first change, so that a storm of subscribers causes few
/// notices. Large rooms get them less often, see ``framesPerSecond``.
public final class Presence: Sendable {
    /// Default of the minimum time between two notices in a room.
    public static let defaultInterval = Duration.seconds(1)
    /// Maximum number of frames that a room's notices cause in a second. A room of 10,000 gets one notice in ten
    /// seconds.
    public static let framesPerSecond = 1000
    /// Maximum number of users that are listed by name; larger rooms report only the number.
    public static let listedUsers = 200

    private struct Room {
        /// The number of sockets of each user.
        var users: [UserID: Int32] = [:]
        var unnamed: Int32 = 0
        /// True while the room waits for the next beat.
        var isWaiting = false
        /// The earliest time of the next notice; `nil` for any time.
        var due: ContinuousClock.Instant?

        var online: Int { users.count + Int(unnamed) }

        /// Counts a subscriber in (1) or out (-1).
        ///
        /// - Returns: True if the room must be added to those that wait for the next beat.
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
        /// The rooms whose number has changed since the last beat.
        var waiting: [RoomID] = []
        /// True if a beat is scheduled.
        var isAwaited = false

        /// Adds a room to those that wait for the next beat.
        ///
        /// - Returns: True if a beat must be scheduled.
        mutating func wait(_ room: RoomID) -> Bool {
            waiting.append(room)
            defer { isAwaited = true }
            return !isAwaited
        }
    }

    /// The time from the first change to the beat.
    public let interval: Duration
    private let state = Mutex(State())

    /// Creates a table without subscribers.
    public init(interval: Duration = defaultInterval) {
        self.interval = interval
    }

    /// Counts a new subscriber.
    ///
    /// - Parameter user: The subscriber's name, if known.
    /// - Returns: True if the caller must schedule ``beat(at:)`` after ``interval``.
    public func join(_ room: RoomID, as user: UserID?) -> Bool {
        state.withLock { state in
            state.rooms[room, default: Room()].count(user, by: 1) && state.wait(room)
        }
    }

    /// Counts a subscriber out.
    ///
    /// - Returns: True if the caller must schedule ``beat(at:)`` after ``interval``.
    public func leave(_ room: RoomID, as user: UserID?) -> Bool {
        state.withLock { state in
            let hasChanged = state.rooms[room]?.count(user, by: -1) ?? false
            // An empty room has nobody to notify.
            if state.rooms[room]?.online == 0 { state.rooms[room] = nil }
            return hasChanged && state.rooms[room] != nil && state.wait(room)
        }
    }

    /// Takes the changes for which notices are due.
    ///
    /// - Returns: The rooms and their numbers, and whether to schedule another beat after ``interval``. Subscribers
    ///   that already know a room's number need no notice.
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
                // The number may be the same as before, but users who joined meanwhile were told another one.
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

    /// Returns the number of subscribers of a room.
    public func online(in room: RoomID) -> Int {
        state.withLock { $0.rooms[room]?.online ?? 0 }
    }

    /// Returns the subscribers of a room: its users in byte order, without those who have no name.
    public func present(in room: RoomID) -> RoomPresence {
        let (online, users) = state.withLock { state -> (Int, [UserID]?) in
            guard let entry = state.rooms[room] else { return (0, []) }
            return (entry.online, entry.online <= Self.listedUsers ? Array(entry.users.keys) : nil)
        }
        let sorted = users?.sorted { $0.string.utf8.lexicographicallyPrecedes($1.string.utf8) }
        return RoomPresence(room: room, online: online, users: sorted)
    }
}
