import Synchronization
public import Wire

/// The subscribers of each room, over all loops of the process, and over all nodes if there are several.
///
/// A user counts once, whatever the number of sockets; a subscriber without a name counts by itself. A user who is
/// connected to several nodes counts once if each of these nodes lists its users of the room by name, see
/// ``listedUsers``. Changes are announced at the next flush, one ``interval`` after the first change, so that a storm of
/// subscribers causes few notices. Large rooms get notices less often, see ``framesPerSecond``.
public final class Presence: Sendable {
    /// Default of the minimum time between two notices in a room.
    public static let defaultInterval = Duration.seconds(1)
    /// Maximum number of frames that a room's notices cause in a second. A room of 10,000 gets one notice in ten
    /// seconds.
    public static let framesPerSecond = 1000
    /// Maximum number of users that are listed by name; larger rooms report only the number.
    public static let listedUsers = 200
    /// Default of the maximum number of kept reports of other nodes and users listed in them, together: 250,000, about
    /// 64 MiB. Beyond it a report is kept without its users, or not at all. A room without reports counts only the
    /// subscribers of this node.
    public static let defaultReportedLimit = 250_000
    /// Maximum number of changed rooms that are kept for ``takeReports()``.
    public static let unreportedLimit = 10_000

    private struct Room {
        /// The number of sockets of each user on this node.
        var users: [UserID: Int32] = [:]
        var unnamed: Int32 = 0
        /// The subscribers on other nodes; `nil` if there are none.
        var elsewhere: Elsewhere?
        /// True while the room waits for the next flush.
        var isWaiting = false
        /// The earliest time of the next notice; `nil` for any time.
        var due: ContinuousClock.Instant?

        /// The number of users and unnamed subscribers on this node.
        var here: Int { users.count + Int(unnamed) }
        var online: Int { here + (elsewhere?.online ?? 0) }

        /// Returns this node's report of the room for the other nodes.
        func report(_ room: RoomID) -> PresenceReport {
            PresenceReport(room: room, online: here, users: here <= listedUsers ? Set(users.keys) : nil)
        }

        /// Counts a subscriber that has joined (1) or left (-1).
        ///
        /// - Returns: True if the number on this node has changed.
        mutating func count(_ user: UserID?, by difference: Int32) -> Bool {
            let before = here
            if let user {
                let sockets = users[user, default: 0] + difference
                users[user] = sockets == 0 ? nil : sockets
            } else {
                unnamed += difference
            }
            guard here != before else { return false }
            if let user, elsewhere != nil { elsewhere!.count(user, isHere: here > before) }
            return true
        }

        /// Returns true if the room must be added to those that wait for the next flush.
        mutating func mustWait(since before: Int) -> Bool {
            // Only subscribers on this node are notified.
            guard online != before, here > 0, !isWaiting else { return false }
            isWaiting = true
            return true
        }
    }

    /// A room's subscribers on other nodes.
    private struct Elsewhere {
        private(set) var reports: [String: PresenceReport] = [:]
        /// The number of nodes that list each user.
        private(set) var users: [UserID: Int] = [:]
        /// The number of subscribers that are not listed by name.
        private var unlisted = 0
        /// The number of listed users who are on this node, too.
        private var shared = 0

        /// The number of subscribers that are not on this node.
        var online: Int { users.count + unlisted - shared }

        /// True if every other node lists its users of the room.
        var listsAll: Bool { reports.values.allSatisfy { $0.users != nil } }

        /// Records that a user has come to this node, or has left it.
        mutating func count(_ user: UserID, isHere: Bool) {
            if users[user] != nil { shared += isHere ? 1 : -1 }
        }

        /// Replaces the report of a node; `nil` removes it.
        mutating func put(_ report: PresenceReport?, of node: String, isHere: (UserID) -> Bool) {
            if let former = reports.removeValue(forKey: node) {
                unlisted -= former.unlisted
                for user in former.users ?? [] {
                    users[user]! -= 1
                    guard users[user] == 0 else { continue }
                    users[user] = nil
                    if isHere(user) { shared -= 1 }
                }
            }
            guard let report, report.online > 0 else { return }
            reports[node] = report
            unlisted += report.unlisted
            for user in report.users ?? [] {
                if users[user] == nil, isHere(user) { shared += 1 }
                users[user, default: 0] += 1
            }
        }
    }

    private struct State {
        var rooms: [RoomID: Room] = [:]
        /// The rooms whose number has changed since the last flush.
        var waiting: [RoomID] = []
        /// True if a flush is scheduled.
        var isAwaited = false
        /// The rooms whose subscribers on this node have changed since the last reports; empty without other nodes.
        var unreported: Set<RoomID> = []
        /// True if there were too many of them.
        var reportsAll = false
        /// The number of reports of other nodes, and of users listed in them.
        var reported = 0
        /// The rooms that each other node has reported subscribers of.
        var nodes: [String: Set<RoomID>] = [:]

        /// Records that the subscribers of a room have changed on this node.
        mutating func report(_ room: RoomID) {
            if reportsAll { return }
            unreported.insert(room)
            if unreported.count > unreportedLimit { (unreported, reportsAll) = ([], true) }
        }

        /// Adds a room to those that wait for the next flush.
        ///
        /// - Returns: True if a flush must be scheduled.
        mutating func wait(_ room: RoomID) -> Bool {
            waiting.append(room)
            defer { isAwaited = true }
            return !isAwaited
        }
    }

    /// The time from the first change to the flush.
    public let interval: Duration
    /// True if there are other nodes, which get reports.
    private let isShared: Bool
    private let reportedLimit: Int
    private let state = Mutex(State())

    /// Creates a table without subscribers.
    ///
    /// - Parameters:
    ///   - isShared: True if ``takeReports()`` is called for other nodes.
    ///   - reportedLimit: Maximum number of reports of other nodes, and of users listed in them.
    public init(
        interval: Duration = defaultInterval, isShared: Bool = false, reportedLimit: Int = defaultReportedLimit
    ) {
        self.interval = interval
        self.isShared = isShared
        self.reportedLimit = reportedLimit
    }

    /// Counts a new subscriber.
    ///
    /// - Parameter user: The subscriber's name, if known.
    /// - Returns: True if the caller must schedule ``flush(at:)`` after ``interval``.
    public func join(_ room: RoomID, as user: UserID?) -> Bool {
        state.withLock { state in
            let before = state.rooms[room]?.online ?? 0
            guard state.rooms[room, default: Room()].count(user, by: 1) else { return false }
            if isShared { state.report(room) }
            return state.rooms[room]!.mustWait(since: before) && state.wait(room)
        }
    }

    /// Counts a subscriber that has left.
    ///
    /// - Returns: True if the caller must schedule ``flush(at:)`` after ``interval``.
    public func leave(_ room: RoomID, as user: UserID?) -> Bool {
        state.withLock { state in
            guard let before = state.rooms[room]?.online, state.rooms[room]!.count(user, by: -1) else { return false }
            if isShared { state.report(room) }
            if state.rooms[room]!.online == 0 {
                state.rooms[room] = nil
                return false
            }
            return state.rooms[room]!.mustWait(since: before) && state.wait(room)
        }
    }

    /// Takes the changes for which notices are due.
    ///
    /// - Returns: The rooms and their numbers, and whether to schedule another flush after ``interval``. Subscribers
    ///   that already know a room's number need no notice.
    public func flush(at now: ContinuousClock.Instant) -> (changes: [(room: RoomID, online: Int)], again: Bool) {
        state.withLock { state in
            var changes: [(room: RoomID, online: Int)] = []
            var waiting: [RoomID] = []
            for room in state.waiting {
                guard var entry = state.rooms[room], entry.isWaiting else { continue }
                guard entry.here > 0 else {
                    state.rooms[room]!.isWaiting = false
                    continue
                }
                if let due = entry.due, due > now {
                    waiting.append(room)
                    continue
                }
                // The number may be the same as before, but users who joined meanwhile were told another one.
                entry.isWaiting = false
                entry.due = now + max(interval, .seconds(1) * entry.here / Self.framesPerSecond)
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
            let online = entry.online
            guard online <= Self.listedUsers, entry.elsewhere?.listsAll ?? true else { return (online, nil) }
            let others = entry.elsewhere?.users.keys.filter { entry.users[$0] == nil } ?? []
            return (online, entry.users.keys + others)
        }
        let sorted = users?.sorted { $0.string.utf8.lexicographicallyPrecedes($1.string.utf8) }
        return RoomPresence(room: room, online: online, users: sorted)
    }

    /// Returns true for a subscriber of a room, on this node or among those whom other nodes list by name.
    public func isPresent(_ user: UserID, in room: RoomID) -> Bool {
        state.withLock { state in
            guard let entry = state.rooms[room] else { return false }
            return entry.users[user] != nil || entry.elsewhere?.users[user] != nil
        }
    }

    // MARK: Other nodes

    /// Time after which a node that has reported nothing is no longer counted. A node without changes reports each
    /// second that it is alive.
    public static let silence = Duration.seconds(10)

    /// Returns the present state of the rooms whose subscribers on this node have changed since the last call; `nil` if
    /// there are more than ``unreportedLimit``. Then the node must report all rooms, with ``takeAllReports()``.
    public func takeReports() -> [PresenceReport]? {
        state.withLock { state in
            if state.reportsAll { return nil }
            defer { state.unreported = [] }
            return state.unreported.map {
                state.rooms[$0]?.report($0) ?? PresenceReport(room: $0, online: 0, users: [])
            }
        }
    }

    /// Returns all rooms with subscribers on this node, for others that may have lost earlier reports.
    public func takeAllReports() -> [PresenceReport] {
        state.withLock { state in
            (state.unreported, state.reportsAll) = ([], false)
            return state.rooms.compactMap { $1.here > 0 ? $1.report($0) : nil }
        }
    }

    /// Stores the reports of another node. Each replaces the earlier one of its room.
    ///
    /// - Returns: True if the caller must schedule ``flush(at:)`` after ``interval``.
    public func learn(_ reports: [PresenceReport], of node: String) -> Bool {
        state.withLock { state in
            var isFirst = false
            for report in reports {
                isFirst = put(report, of: node, in: report.room, &state) || isFirst
                if state.rooms[report.room]?.elsewhere?.reports[node] != nil {
                    state.nodes[node, default: []].insert(report.room)
                } else {
                    state.nodes[node]?.remove(report.room)
                }
            }
            return isFirst
        }
    }

    /// Forgets the other nodes that are not among `nodes`.
    ///
    /// - Returns: True if the caller must schedule ``flush(at:)`` after ``interval``.
    public func keep(_ nodes: Set<String>) -> Bool {
        state.withLock { state in
            var isFirst = false
            for (node, rooms) in state.nodes where !nodes.contains(node) {
                state.nodes[node] = nil
                for room in rooms { isFirst = put(nil, of: node, in: room, &state) || isFirst }
            }
            return isFirst
        }
    }

    private func put(_ report: PresenceReport?, of node: String, in room: RoomID, _ state: inout State) -> Bool {
        var entry = state.rooms[room] ?? Room()
        let former = entry.elsewhere?.reports[node]
        var report = report
        let free = reportedLimit - state.reported + (former?.weight ?? 0)
        if report?.weight ?? 0 > free { report?.users = nil }
        if report?.weight ?? 0 > free { report = nil }
        if report == former { return false }
        state.reported += (report?.weight ?? 0) - (former?.weight ?? 0)
        let before = entry.online
        var elsewhere = entry.elsewhere ?? Elsewhere()
        elsewhere.put(report, of: node) { entry.users[$0] != nil }
        entry.elsewhere = elsewhere.reports.isEmpty ? nil : elsewhere
        let mustWait = entry.mustWait(since: before)
        state.rooms[room] = entry.online == 0 ? nil : entry
        return mustWait && state.wait(room)
    }
}

/// A node's report of a room's subscribers, for the other nodes.
public struct PresenceReport: Sendable, Hashable {
    /// The room.
    public var room: RoomID
    /// The number of users and anonymous subscribers; 0 after the last one has left.
    public var online: Int
    /// The users; `nil` if there are more than ``Presence/listedUsers`` subscribers, or if the report is kept without
    /// its users.
    public var users: Set<UserID>?

    /// Creates a report.
    public init(room: RoomID, online: Int, users: Set<UserID>?) {
        self.room = room
        self.online = online
        self.users = users
    }

    /// The number of subscribers that are not among ``users``.
    fileprivate var unlisted: Int { max(0, online - (users?.count ?? 0)) }

    /// The report's share of ``Presence/defaultReportedLimit``; 0 if the report is not kept.
    fileprivate var weight: Int { online > 0 ? 1 + (users?.count ?? 0) : 0 }
}
