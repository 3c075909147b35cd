import Chat
import Wire

/// What subscribers are told beside messages.
extension Worker {
    /// Brings notices to this loop's subscribers.
    func notify(_ notices: [FramedNotice]) {
        for notice in notices { feeds[notice.room]?.notify(notice) }
    }

    /// A subscriber is typing, of which the others hear unless they have just heard it.
    func typing(_ user: UserID, in feed: Feed) {
        // The kernel spreads connections evenly over the loops.
        let audience = feed.subscribers.count * services.configuration.threads
        guard services.typing.admits(user, in: feed.room, audience: audience, at: .now) else { return }
        services.dispatcher.notify([FramedNotice(.typing(room: feed.room, user: user), in: feed.room)])
    }
}
