import Chat
import Wire

/// `{"type":"subscribe","rooms":"mine"}`: a subscription to all rooms that the user is a member of, now or later.
///
/// A room that is the user's already begins now. One that becomes the user's later begins where it was just before, so
/// that a room that is made by a send begins with that message. That they do is told by the thread that commits, whoever
/// makes the user a member and wherever; only who follows is told.
extension RoomsSocket {
    func subscribeToMine(epoch: String?) throws(Problem) {
        guard mine == nil else { throw .alreadyFollowing }
        let user = try caller.named()
        try check(epoch: epoch)
        // One, however many rooms: what is limited is what clients ask for.
        try worker.admit(.subscriptions, by: user, from: address)
        mine = OwnRooms(limit: limit)
        // Before the list is asked for, so that what is committed after it was read is heard of.
        worker.follow(user, self)
        list(.all)
    }

    func unsubscribeFromMine() throws(Problem) {
        guard mine != nil else { throw .notFollowing }
        dropOwn()
        endMine()
    }

    /// Follows the user's rooms no longer; the subscriptions stay.
    func endMine() {
        guard mine != nil else { return }
        mine = nil
        // Nobody waits for the list any more.
        worker.cancel(listing)
        if let user = caller.user { worker.unfollow(user, self) }
    }

    /// The token is another one: rooms that it allows and the old one did not are looked for.
    func subscribeToNewlyAllowed(since old: Identity) {
        guard mine != nil, old.rooms != nil, old.rooms != caller.rooms else { return }
        list(.newlyAllowed([old]))
    }

    // MARK: The rooms there are

    private func list(_ purpose: OwnRooms.Purpose) {
        guard let mine, let user = caller.user, mine.want(purpose) else { return }
        let kind = Query.Kind.memberships(limit: limit, within: caller.rooms)
        listing = worker.ask(kind, of: nil, for: user, asker: .user(user)) { [weak self] result in
            // The client may have ended it, and begun anew.
            guard let self, self.mine === mine else { return }
            switch result {
            case .success(.memberships(let rooms, let hasMore)):
                take(rooms, hasMore: hasMore, for: purpose)
                if let next = mine.listed(for: purpose) { list(next) }
            case .success:
                preconditionFailure("the log answered another question")
            case .failure(let problem):
                // Without the list it has not begun, and the client may try again. Without one of what a new token
                // allows, it goes on with what there is, and what a further one allows is asked for all the same.
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
        for room in rooms where mine.listTells(of: room) && purpose.means(room) {
            addOwn(room, since: nil)
        }
        if hasMore { tellLimit() }
    }

    /// A membership of the user has begun or ended.
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

    /// Subscribes to a room of the user's, unless there is a subscription already, or the token is for others.
    private func addOwn(_ room: RoomID, since rev: Int64?) {
        guard let mine, caller.allows(room: room) else { return }
        if let subscription = subscriptions[room] {
            guard !subscription.isActive else { return }
            // It was ended before it had begun, and the user is a member again. Of one that the client has named it is told:
            // what it has asked to be given first does not come.
            refuse(subscription, subscription.end ?? .notAMember)
        }
        guard subscriptions.count < limit else {
            // Of a room that comes to be the user's now the client hears each time, for it may have others to spare.
            if rev != nil { return send(.error(.tooManySubscriptions(limit: limit), room: room.string)) }
            return tellLimit()
        }
        mine.hasToldLimit = false
        mine.rooms.insert(room)
        add(room, since: rev)
    }

    /// Tells the client that not all of the user's rooms are subscribed to: once, until there is room for another.
    private func tellLimit() {
        guard let mine, !mine.hasToldLimit else { return }
        mine.hasToldLimit = true
        send(.error(.tooManySubscriptions(limit: limit)))
    }
}
