import Chat
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
        guard let presence = services.presence else { return }
        if presence.join(subscription.feed.room, as: subscription.user) { awaitBeat(of: presence) }
    }

    /// Counts a subscriber that has left.
    func left(_ subscription: Subscription) {
        guard let presence = services.presence else { return }
        if presence.leave(subscription.feed.room, as: subscription.user) { awaitBeat(of: presence) }
    }

    private func awaitBeat(of presence: Presence) {
        loop.after(presence.interval) { [unowned self] in
            let (changes, again) = presence.beat(at: .now)
            if again { awaitBeat(of: presence) }
            services.dispatcher.notify(
                changes.map { EncodedNotice(.presence(room: $0.room, online: $0.online), in: $0.room) })
        }
    }

    /// Returns the notices for a subscriber that has caught up: live, and the number of subscribers if presence is on.
    func live(_ subscription: Subscription) -> [ServerFrame] {
        let room = subscription.feed.room
        let live = ServerFrame.live(room: room, rev: subscription.rev)
        guard let presence = services.presence else { return [live] }
        let online = presence.online(in: room)
        subscription.toldOnline = Int32(online)
        return [live, .presence(room: room, online: online)]
    }

    /// Schedules a notice that a user's read mark has moved, for the next beat.
    func readMarkMoved(_ user: UserID, in room: RoomID, to seq: Int64) {
        guard let notices = services.readNotices, notices.moved(user, in: room, to: seq) else { return }
        loop.after(notices.interval) { [unowned self] in
            // The kernel spreads connections evenly over the loops.
            let marks = notices.beat { (feeds[$0]?.count ?? 0) * services.configuration.threads }
            services.dispatcher.notify(
                marks.map { EncodedNotice(.read(room: $0.room, user: $0.user, seq: $0.seq), in: $0.room) })
        }
    }

    /// Tells the room's other subscribers that a user is typing, within the rate limit.
    func typing(_ user: UserID, in feed: Feed) {
        // The kernel spreads connections evenly over the loops.
        let audience = feed.count * services.configuration.threads
        guard services.typing.admits(user, in: feed.room, audience: audience, at: .now) else { return }
        services.dispatcher.notify([EncodedNotice(.typing(room: feed.room, user: user), in: feed.room)])
    }
}
