import Chat
import Transport
import Wire

/// Which rooms users join and leave, for the sockets that follow them.
extension Worker {
    /// From now on a socket hears which rooms a user joins and leaves, in the order in which that is committed.
    ///
    /// Ask which rooms the user has after this call: then nothing falls in between. Balance it with ``unfollow(_:_:)``.
    func follow(_ user: UserID, _ socket: RoomsSocket) {
        if followers[user] == nil { services.subscribedLoops.follow(user, loop: loop.index) }
        followers[user, default: []].append(socket)
    }

    /// A socket hears no more of it.
    func unfollow(_ user: UserID, _ socket: RoomsSocket) {
        followers[user]?.removeAll { $0 === socket }
        guard followers[user]?.isEmpty == true else { return }
        followers[user] = nil
        services.subscribedLoops.unfollow(user, loop: loop.index)
    }

    /// Users have joined and left rooms.
    func membershipsChanged(_ changes: [MembershipChange]) {
        for change in changes {
            for socket in followers[change.user] ?? [] { socket.membershipChanged(change) }
        }
    }
}
