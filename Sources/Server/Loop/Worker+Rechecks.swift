import Chat
import Wire

/// Checks of subscriptions whose users may have lost access.
extension Worker {
    /// Checks for each user with a subscription to the room on this loop whether the user may still read it, and ends
    /// the subscriptions of those who may not. Until the answer is known they receive nothing, so messages committed
    /// after this call never reach users without access. Admins may read every room. Subscriptions that begin after
    /// this call are checked when they begin.
    ///
    /// - Parameters:
    ///   - only: The user to check; `nil` for all.
    ///   - asMember: True if users must be members, even if the room is open.
    ///   - problem: The reason sent to clients. A room's own sockets close with 4403.
    func recheckSubscriptions(of only: UserID?, to room: RoomID, asMember: Bool, because problem: Problem) {
        guard let feed = feeds[room] else { return }
        let subscriptions = feed.subscribers.filter { !$0.isAdmin && (only == nil || $0.user == only) }
        // Only the current subscriptions: a user who is added again meanwhile may have new ones by then.
        for (user, asked) in Dictionary(grouping: subscriptions, by: \.user) {
            for subscription in asked { subscription.hold() }
            let kind = asMember ? user.map { Query.Kind.member($0) } : nil
            ask(kind ?? .state, of: room, for: user, asker: Asker(user, or: .connection(0))) { [self] result in
                switch result {
                case .success(.members(let found)) where found.members.isEmpty: end(asked, because: problem)
                case .success: for subscription in asked { subscription.release() }
                // If the check fails, the clients reconnect and are checked then.
                case .failure(let failure): end(asked, because: failure == .roomNotFound ? problem : failure)
                }
            }
        }
    }

    /// Updates a subscription after a new token. If its user is no longer an admin, it ends unless the user may read
    /// the room.
    func change(_ subscription: Subscription, isAdmin: Bool) {
        guard subscription.isAdmin != isAdmin else { return }
        subscription.isAdmin = isAdmin
        if !isAdmin {
            recheckSubscriptions(
                of: subscription.user, to: subscription.feed.room, asMember: false, because: .notAMember)
        }
    }
}
