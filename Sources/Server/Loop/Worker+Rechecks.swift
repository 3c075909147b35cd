import Chat
import Wire

/// Subscriptions of those who may not read their room any more.
extension Worker {
    /// Asks of each user with a subscription to a room on this loop whether it may still read the room, and ends what
    /// those have who may not. Until that is known they hear nothing of what is said there: what is committed after this
    /// call does not reach who may not have it, however long the log takes to say so. Admins may read every room. Whoever
    /// subscribes to a private room after this call is asked when it begins; into an open one anybody may come back.
    ///
    /// - Parameters:
    ///   - only: the user who is asked about; `nil` for all.
    ///   - asMember: whether the user must be a member, also of a room that anybody may read.
    ///   - problem: what the clients are told; sockets of the room's own are closed with 4403.
    func recheckSubscriptions(of only: UserID?, to room: RoomID, asMember: Bool, because problem: Problem) {
        guard let feed = feeds[room] else { return }
        let subscriptions = feed.subscribers.filter { !$0.isAdmin && (only == nil || $0.user == only) }
        // Those of now: who is made a member again meanwhile may have others by then.
        for (user, asked) in Dictionary(grouping: subscriptions, by: \.user) {
            for subscription in asked { subscription.hold() }
            let kind = asMember ? user.map { Query.Kind.member($0) } : nil
            ask(kind ?? .state, of: room, for: user, asker: Asker(user, or: .connection(0))) { [self] result in
                switch result {
                case .success(.members(let found)) where found.members.isEmpty: end(asked, because: problem)
                case .success: for subscription in asked { subscription.release() }
                // When it cannot be learnt, the clients come back, and it is asked again.
                case .failure(let failure): end(asked, because: failure == .roomNotFound ? problem : failure)
                }
            }
        }
    }

    /// A new token has made a subscription an admin's, or has it be one no more: then it ends if its user may not read the
    /// room.
    func change(_ subscription: Subscription, isAdmin: Bool) {
        guard subscription.isAdmin != isAdmin else { return }
        subscription.isAdmin = isAdmin
        if !isAdmin {
            recheckSubscriptions(
                of: subscription.user, to: subscription.feed.room, asMember: false, because: .notAMember)
        }
    }
}
