package import Chat
import Synchronization
import Wire

/// An observer between the log and the server's observer. It decides which batches the feeds of this node are given:
/// commits of this node, and changes that looks have found.
///
/// Its methods are called on any thread of the log.
package final class NodeFeeds: LogObserver {
    private let observer: any LogObserver
    private let subscribers: SubscribedLoops?
    private let positions = Mutex(FeedPositions())
    private let wake: @Sendable () -> Void

    /// Creates an observer that passes on to another.
    ///
    /// - Parameters:
    ///   - observer: Gets everything that the log reports, except batches that the feeds must not be given.
    ///   - subscribers: The rooms with subscribers on this node; `nil` if there are never any.
    ///   - wake: Called when a commit of this node makes a room wait for a look. It must not block.
    package init(_ observer: any LogObserver, subscribers: SubscribedLoops?, wake: @escaping @Sendable () -> Void) {
        self.observer = observer
        self.subscribers = subscribers
        self.wake = wake
    }

    private func hasSubscribers(_ room: RoomID) -> Bool { subscribers?.hasSubscribers(room) ?? false }

    /// True if a room waits for a look.
    package var hasDue: Bool { positions.withLock(\.hasDue) }

    // MARK: This node's commits and reads

    package func membershipsChanged(_ changes: [MembershipChange]) {
        observer.membershipsChanged(changes)
    }

    package func accessEnded(_ ends: [AccessEnd]) {
        observer.accessEnded(ends)
    }

    package func fetched(_ replies: [any PendingReply]) {
        observer.fetched(replies)
    }

    package func abandoned(_ tickets: [Ticket]) -> Set<Ticket> {
        observer.abandoned(tickets)
    }

    package func committed(_ outcomes: [Outcome], _ batches: [Batch]) {
        if batches.isEmpty { return observer.committed(outcomes, batches) }
        let (wanted, hasDue) = positions.withLock { positions in
            (batches.filter { positions.committed($0) }, positions.hasDue)
        }
        observer.committed(outcomes, wanted)
        if hasDue { wake() }
    }

    /// Records the answers to queries before the observer gets them: a subscription's first slice begins the position
    /// of its room.
    package func answered(_ queries: ArraySlice<Query>) {
        if subscribers == nil { return }
        for query in queries {
            guard case .room(let room, .replay(_, _, _, let reply)) = query.kind,
                case .success(let slice)? = reply.result, !slice.hasMore
            else { continue }
            let (batch, hasDue) = positions.withLock { ($0.replayed(room, to: slice.state), $0.hasDue) }
            if let batch { observer.committed([], [batch]) }
            if hasDue { wake() }
        }
    }

    // MARK: Other nodes' commits

    /// Tells the server's observer what an event of access has changed.
    package func applied(memberships: [MembershipChange], ends: [AccessEnd]) {
        if !memberships.isEmpty { observer.membershipsChanged(memberships) }
        if !ends.isEmpty { observer.accessEnded(ends) }
    }

    /// Ends all subscriptions and sockets, because events of access were missed. A check of access would not be enough:
    /// a socket for its user's rooms may lack some, and a user may have been erased or banned.
    package func missedEvents() {
        observer.accessEnded([.unknown])
    }

    /// Records hints about rooms.
    package func hinted(_ hints: Hints) {
        positions.withLock { positions in
            if hints.isEverything { positions.lookAtAll() }
            for (room, rev) in hints.rooms {
                positions.hinted(room, at: rev, hasSubscribers: hasSubscribers)
            }
        }
    }

    /// Returns the rooms to compare with the database.
    package func sweep() -> [FeedPositions.Look] {
        positions.withLock { $0.sweep(hasSubscribers: hasSubscribers) }
    }

    /// Takes rooms to look at. Each needs ``looked(_:)`` or ``failed(_:)``.
    package func takeLooks(_ limit: Int) -> [FeedPositions.Look] {
        positions.withLock { $0.takeLooks(limit, hasSubscribers: hasSubscribers) }
    }

    /// Gives the feeds what looks have found.
    ///
    /// - Parameter answers: For each look its answer; `nil` if nothing has changed.
    package func looked(_ answers: [(look: FeedPositions.Look, answer: FeedPositions.Answer?)]) {
        let batches = positions.withLock { positions in
            answers.compactMap { positions.looked($0.look, $0.answer) }
        }
        if !batches.isEmpty { observer.committed([], batches) }
    }

    /// Makes rooms wait for another look.
    package func failed(_ looks: [FeedPositions.Look]) {
        positions.withLock { positions in
            for look in looks { positions.failed(look) }
        }
    }
}
