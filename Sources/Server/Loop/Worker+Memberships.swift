import Chat
import Transport
import Wire

/// Memberships of users, for the sockets that follow them.
extension Worker {
    /// Reports the rooms that a user joins and leaves to a socket from now on, in commit order.
    ///
    /// Read the user's rooms after this call, so that no change falls in between. Balance it with ``unfollow(_:_:)``.
    func follow(_ user: UserID, _ socket: RoomsSocket) {
        if followers[user] == nil { services.subscribedLoops.follow(user, loop: loop.index) }
        followers[user, default: []].append(socket)
    }

    /// Stops reporting to a socket.
    func unfollow(_ user: UserID, _ socket: RoomsSocket) {
        followers[user]?.removeAll { $0 === socket }
        guard followers[user]?.isEmpty == true else { return }
        followers[user] = nil
        services.subscribedLoops.unfollow(user, loop: loop.index)
    }

    /// Forwards membership changes to the sockets that follow the users.
    func membershipsChanged(_ changes: [MembershipChange]) {
        for change in changes {
            for socket in followers[change.user] ?? [] { socket.membershipChanged(change) }
        }
    }
}
