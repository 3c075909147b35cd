import Chat
import Store
import Transport
import Wire

/// Notices to subscribers, in addition to messages.
extension Worker {
    /// Passes notices to this loop's subscribers.
    func notify(_ notices: [EncodedNotice]) {
        for notice in notices {
            guard let feed = feeds[notice.room] else { continue }
            if !feed.notify(notice) { advanceLater(feed) }
        }
    }

    /// Counts a new subscriber.
    func joined(_ subscription: Subscription) {
        guard let presence = services.notices.presence else { return }
        if presence.join(subscription.feed.room, as: subscription.user) { scheduleFlush(of: presence) }
    }

    /// Counts a subscriber that has left.
    func left(_ subscription: Subscription) {
        guard let presence = services.notices.presence else { return }
        if presence.leave(subscription.feed.room, as: subscription.user) { scheduleFlush(of: presence) }
    }

    private func scheduleFlush(of presence: Presence) {
        loop.after(presence.interval) { [unowned self] in
            let (changes, again) = presence.flush(at: .now)
            if again { scheduleFlush(of: presence) }
            services.live.dispatcher.notify(
                changes.map { EncodedNotice(.presence(room: $0.room, online: $0.online), in: $0.room) })
        }
    }

    /// Returns the notices for a subscriber that has caught up: live, and the number of subscribers if presence is on.
    func live(_ subscription: Subscription) -> [ServerFrame] {
        let room = subscription.feed.room
        let live = ServerFrame.live(room: room, rev: subscription.rev)
        guard let presence = services.notices.presence else { return [live] }
        let online = presence.online(in: room)
        subscription.toldOnline = Int32(online)
        return [live, .presence(room: room, online: online)]
    }

    /// Schedules a notice that a user's read mark has moved, here and on other nodes.
    func readMarkMoved(_ user: UserID, in room: RoomID, to seq: Int64) {
        guard services.notices.readNotices != nil else { return }
        services.notices.nodes?.addRead(user, in: room, to: seq)
        awaitNotice(of: user, in: room, to: seq)
    }

    /// Schedules a notice for the next flush.
    private func awaitNotice(of user: UserID, in room: RoomID, to seq: Int64) {
        guard let notices = services.notices.readNotices, notices.moved(user, in: room, to: seq) else { return }
        loop.after(notices.interval) { [unowned self] in
            // The kernel spreads connections evenly over the loops.
            let marks = notices.flush { (feeds[$0]?.count ?? 0) * services.configuration.threads }
            let isForAll = services.configuration.readReceipts
            services.live.dispatcher.notify(
                marks.map { room, user, seq in
                    // The user's own devices follow the mark in any case.
                    EncodedNotice(.read(room: room, user: user, seq: seq), in: room, only: isForAll ? nil : user)
                })
        }
    }

    /// Tells the room's other subscribers that a user is typing, within the rate limit.
    func typing(_ user: UserID, isAdmin: Bool, in feed: Feed) {
        let room = feed.room
        guard admitsTyping(user, in: room, subscribers: feed.count) else { return }
        guard room.isDirect else { return announceTyping(user, in: room) }
        // Only the log knows whether the other one blocks the user.
        log.ask(for: user, isAdmin: isAdmin, client: .user(user), { .room(room, .isBlocked($0)) }) {
            [unowned self] result in
            if case .success(false) = result { announceTyping(user, in: room) }
        }
    }

    private func announceTyping(_ user: UserID, in room: RoomID) {
        services.notices.nodes?.addTyping(user, in: room)
        services.live.dispatcher.notify([EncodedNotice(.typing(room: room, user: user), in: room)])
    }

    private func admitsTyping(_ user: UserID, in room: RoomID, subscribers: Int) -> Bool {
        // The kernel spreads connections evenly over the loops.
        let audience = subscribers * services.configuration.threads
        return services.notices.typing.admits(user, in: room, audience: audience, at: .now)
    }

    /// Sends a frame to the sockets that follow a user's rooms, on all of the user's devices, here and on other nodes.
    func notifyOwn(_ frame: ServerFrame, of user: UserID) {
        let notice = OwnNotice(frame, of: user)
        services.notices.nodes?.addOwn(notice)
        services.live.dispatcher.notifyOwn([notice])
    }

    // MARK: Other nodes

    /// Passes on the notices of another node, within the limits that hold here.
    func heard(_ notices: NodeNotices) {
        services.live.dispatcher.notifyOwn(notices.own)
        for (key, seq) in notices.read { awaitNotice(of: key.user, in: key.room, to: seq) }
        let typing = notices.typing.filter {
            admitsTyping($0.user, in: $0.room, subscribers: feeds[$0.room]?.count ?? 0)
        }
        services.live.dispatcher.notify(
            typing.map { EncodedNotice(.typing(room: $0.room, user: $0.user), in: $0.room) })
    }

    /// Schedules a flush after other nodes have reported their subscribers.
    func presenceChanged() {
        if let presence = services.notices.presence { scheduleFlush(of: presence) }
    }
}
