import Chat
import Synchronization
import Wire

/// The bans and erasures that this node knows, with the number of the last event of access that it has applied.
///
/// Commits that change access append an ``AccessEvent`` to the table `events`. They lock the one row of the table
/// `server` for that, last of all rows, so events have no gaps and are committed in order. The row counts the events,
/// and those that take access away. A batch of sends is stored only if the node knows all events that take access away.
///
/// Each thread may catch up on its own connection. It tells the feeds of this node what other nodes have changed, before
/// anybody else learns that the events are applied. Reads are applied one after the other: one that began before
/// another was applied is made again.
final class AccessState: Sendable {
    /// The name of this node, random for each start.
    let node: String
    /// The bans in force.
    let bans = BanTable()
    /// The time until which everything is known that must be known to send messages to subscribers.
    let term = AccessTerm()
    /// The time for which that is known after it was asked for.
    private let age: Duration

    private struct State {
        /// The last event that is applied.
        var event: Int64 = 0
        /// The number of events up to it that take access away.
        var revocations: Int64 = 0
        var erasing: Set<UserID> = []
        /// The number of reads that were applied.
        var reads = 0
        var order = AccessOrder()
        /// Learns what other nodes have changed; `nil` before there are subscriptions.
        var feeds: NodeFeeds?
    }

    // The feeds are told with the lock held, so that they hear of changes in order.
    private let state = Mutex(State())
    private let clock: @Sendable () -> Timestamp

    /// Creates the state of a node that has read nothing yet.
    init(node: String, _ configuration: StoreConfiguration) {
        self.node = node
        clock = configuration.clock
        age = configuration.accessAge
    }

    /// Tells these feeds from now on what other nodes have changed.
    func report(to feeds: NodeFeeds) {
        state.withLock { $0.feeds = feeds }
    }

    /// Records that no more was known to the database than this node knows, when it was asked.
    ///
    /// - Parameter revocations: The number of revocations that the node knew; `nil` for those that it knows now.
    func isCurrent(at start: ContinuousClock.Instant, knowing revocations: Int64? = nil) {
        // A lower number than known, after a restore, is found by the next read.
        guard revocations.map({ $0 == self.revocations }) ?? true else { return }
        term.extend(to: start + age)
    }

    /// The last event that is applied.
    var event: Int64 { state.withLock(\.event) }

    /// The number of events that take access away, up to the last event that is applied.
    var revocations: Int64 { state.withLock(\.revocations) }

    /// The users who are being erased.
    var erasing: Set<UserID> { state.withLock(\.erasing) }

    struct Stored: Sendable {
        var id: Int64
        /// The node that made it.
        var node: String
        var event: AccessEvent
        /// The bans that it names, as they are now, also those that have ended; `nil` for one that was lifted.
        var bans: [BanTable.Key: Ban?]
    }

    /// Reads all bans and erasures.
    func load(_ db: PostgresConnection) throws {
        let start = ContinuousClock.now
        try db.inSnapshot {
            let (event, revocations) = try db.accessProgress()
            _ = try load(db, at: event, revocations, after: 0)
        }
        isCurrent(at: start)
    }

    /// Reads all bans and erasures in a snapshot, and applies them.
    ///
    /// - Parameters:
    ///   - event: The snapshot's last event.
    ///   - reads: The number of reads that were applied before the snapshot began.
    /// - Returns: False, with nothing applied, if more were applied since.
    private func load(
        _ db: PostgresConnection, at event: Int64, _ revocations: Int64, after reads: Int
    ) throws -> Bool {
        let erasing = try db.unfinishedErasures()
        let stored = try BanTable.stored(db, at: clock())
        return state.withLock { state in
            guard state.reads == reads else { return false }
            bans.replace(by: stored)
            // Before the events count as applied.
            state.feeds?.missedEvents()
            state.order = AccessOrder()
            (state.event, state.revocations, state.erasing) = (event, revocations, erasing)
            state.reads += 1
            return true
        }
    }

    /// Reads the events that are new, applies their bans and erasures, and tells the feeds those of other nodes.
    ///
    /// If events are missing, because they are deleted after ``PostgresCaretaker/eventTime``, all bans and erasures are
    /// read again, and all subscriptions end.
    ///
    /// - Throws: ``PostgresError``.
    func catchUp(_ db: PostgresConnection) throws {
        var isApplied = false
        while !isApplied {
            let start = ContinuousClock.now
            let (known, reads) = state.withLock { ($0.event, $0.reads) }
            isApplied = try db.inSnapshot {
                let (latest, revocations) = try db.accessProgress()
                if latest == known { return true }
                let stored = try db.events(after: known)
                guard Int64(stored.count) == latest - known else {
                    return try load(db, at: latest, revocations, after: reads)
                }
                return apply(stored, upTo: latest, revocations, after: reads)
            }
            if isApplied { isCurrent(at: start) }
        }
    }

    /// Applies events, unless others were applied after the first `reads` reads.
    private func apply(_ stored: [Stored], upTo latest: Int64, _ revocations: Int64, after reads: Int) -> Bool {
        var erasing: [UserID: Bool] = [:]
        var changes: [BanTable.Key: Ban?] = [:]
        var deletedRooms: [RoomID] = []
        for stored in stored {
            changes.merge(stored.bans) { $1 }
            for change in stored.event.changes {
                switch change {
                case .erasing(let user): erasing[user] = true
                case .erased(let user): erasing[user] = false
                case .deleted(let room): deletedRooms.append(room)
                default: break
                }
            }
        }
        return state.withLock { state in
            guard state.reads == reads else { return false }
            for (user, isErasing) in erasing {
                if isErasing { state.erasing.insert(user) } else { state.erasing.remove(user) }
            }
            // Under the lock, so that an older state of a ban never replaces a newer one.
            if !changes.isEmpty { bans.change(changes, at: clock()) }
            for room in deletedRooms { bans.remove(room) }
            for news in state.order.news(of: stored, on: node) {
                state.feeds?.applied(memberships: news.memberships, ends: news.ends)
            }
            (state.event, state.revocations) = (latest, revocations)
            state.reads += 1
            return true
        }
    }
}

extension AccessState.Stored {
    /// The memberships that it changed.
    var memberships: [MembershipChange] {
        event.changes.compactMap { change in
            switch change {
            case .joined(let user, let room, let rev): MembershipChange(user: user, room: room, kind: .joined(rev: rev))
            case .left(let user, let room): MembershipChange(user: user, room: room, kind: .left)
            default: nil
            }
        }
    }

    /// The access that it took away.
    var ends: [AccessEnd] {
        event.changes.compactMap { change in
            switch change {
            case .deleted(let room): .roomDeleted(room)
            case .removed(let user, let room): .removed(user, from: room)
            case .becamePrivate(let room): .becamePrivate(room)
            case .erasing(let user): .erased(user)
            case .ban(let user, let room):
                if let ban = bans[BanTable.Key(room: room, user: user)] ?? nil, ban.scope == .all {
                    .banned(ban, from: room)
                } else {
                    nil
                }
            case .joined, .left, .restricted, .erased: nil
            }
        }
    }
}

/// Decides which changes of stored events the observer hears. The last change that it hears of a user's membership in a
/// room agrees with the database.
///
/// A node reports its own commits to the observer at once, and those of other nodes when it reads their events. A
/// commit of another node may therefore be reported after a later commit of this node. The later commit is then
/// reported again. Its event is found in the same read or in the next one, because it was committed before the earlier
/// commit was reported.
///
/// A plain value.
struct AccessOrder {
    /// The changes of one event that the observer hears.
    struct News: Equatable {
        var memberships: [MembershipChange] = []
        var ends: [AccessEnd] = []
    }

    private struct Pair: Hashable {
        let user: UserID
        let room: RoomID

        init(_ change: MembershipChange) { (user, room) = (change.user, change.room) }
    }

    /// The memberships that other nodes have changed in the last read.
    private var recent: Set<Pair> = []

    /// Takes the events of one read, in order.
    ///
    /// - Returns: The changes to report, in order.
    mutating func news(of events: [AccessState.Stored], on node: String) -> [News] {
        var changed: Set<Pair> = []
        defer { recent = changed }
        return events.compactMap { event in
            var news = News(memberships: event.memberships)
            if event.node == node {
                news.memberships.removeAll { !recent.contains(Pair($0)) && !changed.contains(Pair($0)) }
            } else {
                news.ends = event.ends
                for change in news.memberships { changed.insert(Pair(change)) }
            }
            return news == News() ? nil : news
        }
    }
}

/// Statements about changes of access.
extension PostgresConnection {
    fileprivate func inSnapshot<R>(_ body: () throws -> R) throws -> R {
        try runSoon("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            if isInTransaction { _ = try? run("ROLLBACK") }
            throw error
        }
    }

    fileprivate func accessProgress() throws -> (events: Int64, revocations: Int64) {
        try first("SELECT events, revocations FROM server") { ($0.integer(0), $0.integer(1)) } ?? (0, 0)
    }

    fileprivate func events(after first: Int64) throws -> [AccessState.Stored] {
        var stored = try all("SELECT id, node, payload FROM events WHERE id > $1 ORDER BY id", first) { row in
            AccessState.Stored(
                id: row.integer(0), node: row.text(1), event: AccessEvent(text: row.text(2)), bans: [:])
        }
        for index in stored.indices {
            for case .ban(let user, let room) in stored[index].event.changes {
                let number = try room.map { try row(of: $0, locking: false)?.number } ?? RowKey.server
                // Also one that has ended by this node's clock, which may be ahead, or be set back.
                let ban = try number.flatMap { try self.ban(of: user, from: $0, at: .earliest) }
                stored[index].bans[BanTable.Key(room: room, user: user)] = .some(ban)
            }
        }
        return stored
    }

    /// Appends an event of a node. It locks the row of `server` until the end of the transaction, which must change no
    /// other row afterwards.
    ///
    /// - Returns: The number of the transaction.
    func append(_ event: AccessEvent, of node: String, at time: Timestamp) throws -> String {
        // The schema makes the row.
        let (id, transaction) = try first(
            """
            UPDATE server SET events = events + 1, revocations = revocations + $1
            RETURNING events, pg_current_xact_id()::text
            """, event.isRevocation
        ) { ($0.integer(0), $0.text(1)) }!
        try runSoon(
            "INSERT INTO events (id, node, revocation, payload, at) VALUES ($1, $2, $3, $4, $5)", id, node,
            event.isRevocation, event.text, time)
        return transaction
    }
}
