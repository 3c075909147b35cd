package import Chat
import Synchronization
package import Wire

/// The bans and erasures that this node knows, with the number of the last event of access that it has applied.
///
/// Commits that change access append an ``AccessEvent`` to the table `events`. They lock the one row of the table
/// `server` for that, last of all rows, so events have no gaps and are committed in order. The row counts the events,
/// and those that take access away. A batch of sends is stored only if the node knows all events that take access away.
///
/// Each thread may read the new events on its own connection. It tells the feeds of this node what other nodes have
/// changed, before anybody else learns that the events are applied. Reads are applied one after the other: one that
/// began before another was applied is made again.
package final class AccessState: Sendable {
    /// The name of this node, random for each start.
    package let node: String
    /// The bans in force.
    package let bans = BanTable()
    /// The time until which everything is known that must be known to send messages to subscribers.
    package let term: AccessTerm
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
    /// The node's time, by which bans end.
    package let clock: @Sendable () -> Timestamp

    /// Creates the state of a node that has read nothing yet.
    ///
    /// - Parameters:
    ///   - age: The time for which a node knows enough after it has asked for new events.
    ///   - clock: The node's time, by which bans end.
    package init(
        node: String, age: Duration, clock: @escaping @Sendable () -> Timestamp, term: AccessTerm = AccessTerm()
    ) {
        self.node = node
        self.age = age
        self.clock = clock
        self.term = term
    }

    /// Tells these feeds from now on what other nodes have changed.
    package func report(to feeds: NodeFeeds) {
        state.withLock { $0.feeds = feeds }
    }

    /// Records that no more was known to the database than this node knows, when it was asked.
    ///
    /// - Parameter revocations: The number of revocations that the node knew; `nil` for those that it knows now.
    package func isCurrent(at start: ContinuousClock.Instant, knowing revocations: Int64? = nil) {
        // A lower number than known, after a restore, is found by the next read.
        guard revocations.map({ $0 == self.revocations }) ?? true else { return }
        term.extend(to: start + age)
    }

    /// The last event that is applied.
    package var event: Int64 { state.withLock(\.event) }

    /// The number of revocations up to the last event that is applied, see ``AccessEvent/isRevocation``.
    package var revocations: Int64 { state.withLock(\.revocations) }

    /// The users who are being erased.
    package var erasing: Set<UserID> { state.withLock(\.erasing) }

    /// An event as it is stored.
    package struct Stored: Sendable {
        /// Its number.
        package var id: Int64
        /// The node that made it.
        package var node: String
        /// Its changes.
        package var event: AccessEvent
        /// The bans that it names, as they are now, also those that have ended; `nil` for one that was lifted.
        package var bans: [BanTable.Key: Ban?]

        /// Creates an event.
        package init(id: Int64, node: String, event: AccessEvent, bans: [BanTable.Key: Ban?]) {
            self.id = id
            self.node = node
            self.event = event
            self.bans = bans
        }
    }

    /// The node's knowledge when a read began.
    package struct Known: Sendable {
        /// The last event that was applied.
        package let event: Int64
        /// The number of reads that were applied.
        let reads: Int
    }

    /// The result of a read in one transaction.
    package enum Found: Sendable {
        /// There are no events after those that were known.
        case nothing
        /// All events after those that were known.
        case events([Stored], upTo: Int64, revocations: Int64)
        /// All bans and erasures at the last event, because earlier events are missing.
        case everything(bans: [BanTable.Key: Ban], erasing: Set<UserID>, event: Int64, revocations: Int64)
    }

    /// The present knowledge. Take it before a read.
    package var known: Known { state.withLock { Known(event: $0.event, reads: $0.reads) } }

    /// Applies what a read has found: bans and erasures, and tells the feeds what other nodes have changed. If events
    /// were missing, all subscriptions end.
    ///
    /// - Parameters:
    ///   - known: The knowledge before the read.
    ///   - start: The time before the read.
    /// - Returns: False, with nothing applied, if another read was applied since. Read again then.
    package func apply(_ found: Found, after known: Known, from start: ContinuousClock.Instant) -> Bool {
        switch found {
        case .nothing: break
        case .events(let stored, let latest, let revocations):
            guard apply(stored, upTo: latest, revocations, after: known.reads) else { return false }
        case .everything(let stored, let erasing, let event, let revocations):
            let isApplied = state.withLock { state in
                guard state.reads == known.reads else { return false }
                bans.replace(by: stored)
                // Before the events count as applied.
                state.feeds?.missedEvents()
                state.order = AccessOrder()
                (state.event, state.revocations, state.erasing) = (event, revocations, erasing)
                state.reads += 1
                return true
            }
            guard isApplied else { return false }
        }
        isCurrent(at: start)
        return true
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
