package import Chat
import Wire

/// Decides which changes of stored events the observer hears. The last change that it hears of a user's membership in a
/// room agrees with the database.
///
/// A node reports its own commits to the observer at once, and those of other nodes when it reads their events. A
/// commit of another node may therefore be reported after a later commit of this node. The later commit is then
/// reported again. Its event is found in the same read or in the next one, because it was committed before the earlier
/// commit was reported.
///
/// A plain value.
package struct AccessOrder {
    /// The changes of one event that the observer hears.
    package struct News: Equatable {
        package var memberships: [MembershipChange] = []
        package var ends: [AccessEnd] = []
    }

    private struct Pair: Hashable {
        let user: UserID
        let room: RoomID

        init(_ change: MembershipChange) { (user, room) = (change.user, change.room) }
    }

    /// Creates a value that has seen no events.
    package init() {}

    /// The memberships that other nodes have changed in the last read.
    private var recent: Set<Pair> = []

    /// Takes the events of one read, in order.
    ///
    /// - Returns: The changes to report, in order.
    package mutating func news(of events: [AccessState.Stored], on node: String) -> [News] {
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
