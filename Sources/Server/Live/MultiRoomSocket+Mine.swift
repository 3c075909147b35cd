import Chat
import Wire

/// `{"type":"subscribe","rooms":"mine"}`: a subscription to all rooms that the user is a member of, now or later.
///
/// Existing rooms start at their current position. A room that the user joins later starts just before the join. So a
/// room that a send creates starts with the message sent. The log reports membership changes only to loops that follow
/// the user.
extension MultiRoomSocket {
    func subscribeToMine(epoch: String?) throws(Problem) {
        guard mine == nil else { throw .alreadyFollowing }
        let user = try caller.named()
        try worker.checkBans(of: caller, in: nil, for: .read)
        guard SincePosition.isOfHistory(epoch, current: worker.epoch) else { throw .cursorUnknown }
        // Counts as one subscription, however many rooms there are: the limit is on clients' requests.
        try worker.admit(.subscriptions, by: user, from: address)
        mine = OwnRooms(limit: limit)
        // Before the list is requested, so that later commits are reported.
        worker.users.follow(user, self)
        list(.all)
    }

    func unsubscribeFromMine() throws(Problem) {
        guard mine != nil else { throw .notFollowing }
        dropOwn()
        endMine()
    }

    /// Stops following the user's rooms. The subscriptions stay.
    func endMine() {
        guard mine != nil else { return }
        mine = nil
        // The pending list is no longer needed.
        worker.log.cancel(listing)
        listing = nil
        if let user = caller.user { worker.users.unfollow(user, self) }
    }

    /// After a new token, requests the rooms that it allows and the old one did not.
    func subscribeToNewlyAllowed(since old: Identity) {
        guard mine != nil, old.rooms != nil, old.rooms != caller.rooms else { return }
        list(.newlyAllowed([old]))
    }

    // MARK: The list of rooms

    private func list(_ purpose: OwnRooms.Purpose) {
        guard let mine, let user = caller.user, mine.want(purpose) else { return }
        let (limit, patterns) = (limit, caller.rooms)
        listing = worker.log.ask(
            for: user, isAdmin: caller.isAdmin, client: .user(user),
            { .ownRooms(.memberships(limit: limit, $0), within: patterns) }
        ) { [weak self] result in
            // The client may have ended the subscription and started a new one.
            guard let self, self.mine === mine else { return }
            switch result {
            case .success(let found):
                take(found.rooms, hasMore: found.hasMore, for: purpose)
                if let next = mine.listed(for: purpose) { list(next) }
            case .failure(let problem):
                // Without the first list the subscription has not begun, and the client may try again. Without a list
                // for a new token, it continues with the existing rooms, and lists for later tokens are still
                // requested.
                if case .all = purpose {
                    try? unsubscribeFromMine()
                } else if let next = mine.listed(for: purpose) {
                    list(next)
                }
                send(.error(problem))
            }
        }
    }

    private func take(_ rooms: [RoomID], hasMore: Bool, for purpose: OwnRooms.Purpose) {
        guard let mine else { return }
        for room in rooms where mine.listApplies(to: room) && purpose.covers(room) {
            addOwn(room, since: nil)
        }
        if hasMore { tellLimit() }
    }

    /// Handles a change of the user's memberships.
    func membershipChanged(_ change: MembershipChange) {
        guard let mine else { return }
        mine.touch(change.room)
        mine.accept(change.room)
        switch change.kind {
        case .joined(let rev): addOwn(change.room, since: rev)
        case .left:
            guard mine.rooms.contains(change.room), let subscription = subscriptions[change.room] else { return }
            refuse(subscription, .notAMember)
        }
    }

    // MARK: Subscriptions

    /// Subscribes to one of the user's rooms, unless there is a subscription already or the token does not allow the
    /// room.
    private func addOwn(_ room: RoomID, since rev: Int64?) {
        guard let mine, caller.allows(room: room) else { return }
        if let subscription = subscriptions[room] {
            guard !subscription.isActive else { return }
            // The subscription ended before it had begun, and the user is a member again. If the client named the room
            // itself, it is told, since the replay it asked for does not come.
            refuse(subscription, subscription.end ?? .notAMember)
        }
        guard subscriptions.count < limit else {
            // The client gets an error for each newly joined room, since it may want to give up another one.
            if rev != nil { return send(.error(.tooManySubscriptions(limit: limit), room: room.string)) }
            return tellLimit()
        }
        mine.hasToldLimit = false
        mine.rooms.insert(room)
        add(room, since: rev)
    }

    /// Tells the client once that it is not subscribed to all of the user's rooms, and again only after another was
    /// added.
    private func tellLimit() {
        guard let mine, !mine.hasToldLimit else { return }
        mine.hasToldLimit = true
        send(.error(.tooManySubscriptions(limit: limit)))
    }
}
