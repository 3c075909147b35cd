/// The subscription to the user's own rooms, for the inbox.
extension BackscrollClient {
    /// Subscribes an inbox to the user's own rooms.
    func follow(_ inbox: Inbox) async {
        guard !isClosed, following?.number != inbox.number else { return }
        following = Following(inbox: inbox, number: inbox.number)
        if let blocks { await inbox.setBlocked(blocks) }
        guard let socket, !isSuspended else { return connect() }
        await requestOwnRooms(on: socket)
    }

    /// Ends the subscription of an inbox. Rooms that are open stay subscribed.
    func unfollow(_ number: Int) async {
        guard let following, following.number == number else { return }
        self.following = nil
        if following.isRequested, let socket {
            await socket.send(ClientText.unsubscribeMine)
            for id in following.inherited { await socket.send(ClientText.unsubscribe(id)) }
        }
        if isIdle { lingerUntil { $0.isIdle } }
    }

    /// Resets the back-off, because the list of rooms was loaded and so the server can be reached.
    func isFollowed() {
        attempts = 0
        notBefore = .zero
    }

    /// Subscribes to the user's own rooms. Open rooms must be subscribed to first, so that they get their replay.
    func requestOwnRooms(on socket: any ClientSocket) async {
        guard let following, !following.isRequested else { return }
        self.following?.isRequested = true
        hasFollowed = true
        await following.inbox?.willConnect()
        await socket.send(ClientText.subscribeMine)
        await following.inbox?.connected()
        renewBlocks()
    }

    /// Brings the title of a room up to date in the list, if the inbox is open.
    func refreshListed(_ id: String) {
        guard let inbox = following?.inbox else { return }
        Task { await inbox.refresh(id) }
    }

    /// Leaves the subscription of a room to the inbox, if its list has the room.
    func bequeath(_ id: String, to inbox: Inbox) async {
        // The user may have joined on another device. No frame reports that while the room is open.
        var isListed = await inbox.lists(id)
        if !isListed {
            let error = await inbox.lookUp(id)
            // If the server does not answer, the subscription is kept.
            isListed = await inbox.lists(id) || error != nil
        }
        guard subscriptions[id] == nil, following?.isRequested == true, let socket else { return }
        if isListed {
            following?.inherited.insert(id)
            // If the socket has a subscription already, the server refuses this one, which changes nothing.
            await socket.send(ClientText.subscribe(to: id))
        } else {
            await socket.send(ClientText.unsubscribe(id))
        }
    }

    /// Handles an error of the user's own rooms, or of one of them without a screen.
    func repeatFollowing(after error: BackscrollClientError, of id: String?) {
        let codes: Set = ["unavailable", "overloaded", "rate_limited", "internal_error"]
        guard following?.isRequested == true, codes.contains(error.code), let socket else { return }
        Task { [options, weak self] in
            let pause = error.retryAfter ?? options.pause(afterFailures: 1)
            try? await options.clock.sleep(.seconds(pause))
            await self?.followAgain(id, on: socket)
        }
    }

    private func followAgain(_ id: String?, on former: any ClientSocket) async {
        guard following?.isRequested == true, let socket, (socket as AnyObject) === (former as AnyObject) else {
            return
        }
        guard let id else { return await socket.send(ClientText.subscribeMine) }
        guard subscriptions[id] == nil else { return }
        following?.inherited.insert(id)
        await socket.send(ClientText.subscribe(to: id))
    }

    /// Unsubscribes from one of the user's own rooms, so that the socket has space for a room with a screen. Returns
    /// false if there is none to give up.
    func makeSpace(for id: String, _ subscription: Subscription) async -> Bool {
        guard let inbox = following?.inbox, let socket else { return false }
        let oldest = await inbox.oldestRooms().first {
            subscriptions[$0] == nil && following?.givenUp.contains($0) == false
        }
        guard let oldest, subscriptions[id]?.number == subscription.number else { return false }
        following?.givenUp.insert(oldest)
        await socket.send(ClientText.unsubscribe(oldest))
        await socket.send(ClientText.subscribe(subscription, to: id))
        return true
    }
}
