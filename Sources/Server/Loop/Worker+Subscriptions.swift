public import Chat
import CoreMetrics
public import Transport
import Wire

/// The lifecycle of the loop's subscriptions on any kind of connection.
extension Worker {
    /// Joins a room's feed, creating it if needed. From now on the room's commits reach this loop.
    ///
    /// The subscription sends nothing until ``start(_:with:on:)``. Read the room's state and check the user's access
    /// after this call, so that no message or revocation falls in between. Balance it with ``end(_:)``, even if it
    /// never starts.
    func subscribe(to room: RoomID, as caller: Identity, format: PushFormat, since rev: Int64?) -> Subscription {
        Subscription(
            feed: feeds[room] ?? makeFeed(of: room), format: format, user: caller.user, isAdmin: caller.isAdmin,
            since: rev)
    }

    private func makeFeed(of room: RoomID) -> Feed {
        services.live.subscribedLoops.add(room, loop: loop.index)
        let feed = Feed(room: room, in: feedContext)
        feeds[room] = feed
        return feed
    }

    /// Schedules a feed's remaining visits, after the loop's sockets and other feeds.
    func advanceLater(_ feed: Feed) {
        guard !advancing.contains(where: { $0 === feed }) else { return }
        advancing.append(feed)
        postAdvance()
    }

    private func postAdvance() {
        guard !isAdvancePosted, !advancing.isEmpty else { return }
        isAdvancePosted = true
        let worker = LoopBound(self, of: loop)
        loop.post {
            worker.value.isAdvancePosted = false
            worker.value.advanceFeeds()
        }
    }

    /// Lets feeds that wait for ``FeedContext/knowsAccess`` try again after ``resumePause``.
    func resumeFeedsLater() {
        guard !isResumeScheduled, feedContext.hasWaiting else { return }
        isResumeScheduled = true
        loop.after(Self.resumePause) { [unowned self] in
            isResumeScheduled = false
            resumeFeeds()
            resumeFeedsLater()
        }
    }

    /// Lets feeds that may not send messages try again.
    func resumeFeeds() {
        for feed in feedContext.takeWaiting() where !feed.resume() { advanceLater(feed) }
    }

    /// Time after which feeds try again to send: 100 ms.
    private static let resumePause = Duration.milliseconds(100)

    /// Continues the visits of the scheduled feeds in turns, within the time that posted work may take
    /// (``Loop/workSlice``). A longer time would delay other sockets. A shorter time would delay the messages of large
    /// rooms while many new clients connect.
    func advanceFeeds() {
        let end = ContinuousClock.now + Loop.workSlice
        while !advancing.isEmpty {
            let feed = advancing.removeFirst()
            // A feed that may not send waits elsewhere, see `resumeFeedsLater`.
            if !feed.advance(), !feed.isWaiting {
                advancing.append(feed)
                yieldProcessor()
            }
            if ContinuousClock.now >= end { break }
        }
        postAdvance()
    }

    /// Counts the bytes that feeds have pushed in a turn. This is not done for each write, because all loops count in
    /// one place.
    func countPushedBytes() {
        guard feedContext.pushedBytes > 0 else { return }
        services.metrics.deliveredBytes.increment(by: Int64(feedContext.pushedBytes))
        feedContext.pushedBytes = 0
    }

    /// Starts a subscription whose client has been told the room's state.
    ///
    /// - Parameter slice: The first slice of the replay.
    func start(_ subscription: Subscription, with slice: ReplaySlice, on carrier: any SubscriptionCarrier) {
        services.metrics.subscribers.increment()
        joined(subscription)
        subscription.start(with: slice, on: carrier)
    }

    /// Returns the first frame of a subscription, with the room's state.
    func subscribed(_ subscription: Subscription, _ state: RoomState) -> ServerFrame {
        .subscribed(room: subscription.feed.room, head: state.head, rev: state.rev, epoch: epoch)
    }

    /// Reads a slice of the messages that a subscription lacks, or without `rev` only the room's state. `then` is
    /// called on this loop; the subscription may have ended by then. For a started subscription a missing room means
    /// that the user lost access: `not_a_member`.
    ///
    /// - Parameter client: The client for a subscription without a user.
    /// - Returns: The reply, for ``cancel(_:)``.
    func read(
        for subscription: Subscription, since rev: Int64?, client: @autoclosure () -> QueryClient,
        then: @escaping (Result<ReplaySlice, Problem>) -> Void
    ) -> Reply<ReplaySlice> {
        let (room, format) = (subscription.feed.room, subscription.format)
        return log.ask(
            for: subscription.user, isAdmin: subscription.isAdmin, client: QueryClient(subscription.user, or: client()),
            { .room(room, .replay(since: rev, format: format, bytes: Subscription.replayLimit, $0)) }
        ) { result in
            switch result {
            case .failure(.roomNotFound) where subscription.isActive && subscription.hasStarted:
                then(.failure(.notAMember))
            default: then(result)
            }
        }
    }

    /// Ends a subscription, started or not, and drops its feed if that has no other. Does nothing if it has ended.
    func end(_ subscription: Subscription) {
        guard subscription.isActive else { return }
        if subscription.hasStarted {
            services.metrics.subscribers.decrement()
            left(subscription)
        }
        subscription.cancel()
        let feed = subscription.feed
        guard feed.isIdle, feeds[feed.room] === feed else { return }
        feeds[feed.room] = nil
        services.live.subscribedLoops.remove(feed.room, loop: loop.index)
    }

    /// Ends the given subscriptions, except those that have ended, and tells their clients why.
    func end(_ subscriptions: [Subscription], because problem: Problem) {
        for subscription in subscriptions where subscription.isActive {
            end(subscription)
            subscription.tellEnd(because: problem)
        }
    }

    // MARK: Lost access

    /// Checks for each user with a subscription to the room on this loop whether the user may still read it, and ends
    /// the subscriptions of those who may not. Until the answer is known they receive nothing, so messages committed
    /// after this call never reach users without access. Admins may read every room. Subscriptions that begin after
    /// this call are checked when they begin.
    ///
    /// - Parameters:
    ///   - only: The user to check; `nil` for all.
    ///   - asMember: True if users must be members, even if the room is open.
    func recheckSubscriptions(of only: UserID?, to room: RoomID, asMember: Bool = false) {
        guard let feed = feeds[room] else { return }
        let subscriptions = feed.subscribers.filter { !$0.isAdmin && (only == nil || $0.user == only) }
        // Only the current subscriptions: a user who is added again meanwhile may have new ones by then.
        for (user, asked) in Dictionary(grouping: subscriptions, by: \.user) {
            recheck(asked, of: user, to: room, asMember: asMember)
        }
    }

    /// Checks whether a user may still read a room, and ends these subscriptions if not.
    private func recheck(_ asked: [Subscription], of user: UserID?, to room: RoomID, asMember: Bool) {
        for subscription in asked { subscription.hold() }
        let client = QueryClient(user, or: .connection(0))
        func decide(_ mayStay: Result<Bool, Problem>) {
            switch mayStay {
            case .success(true): for subscription in asked { subscription.release() }
            case .success(false): end(asked, because: .notAMember)
            // If the check fails, the clients reconnect and are checked then.
            case .failure(let failure): end(asked, because: failure == .roomNotFound ? .notAMember : failure)
            }
        }
        if asMember, let user {
            log.ask(for: user, client: client, { .room(room, .member(user, $0)) }) { decide($0.map { $0 != nil }) }
        } else {
            log.ask(for: user, client: client, { .room(room, .state($0)) }) { decide($0.map { _ in true }) }
        }
    }

    /// Updates a subscription after a new token. If its user is no longer an admin, it ends unless the user may read
    /// the room.
    func change(_ subscription: Subscription, isAdmin: Bool) {
        guard subscription.isAdmin != isAdmin else { return }
        subscription.isAdmin = isAdmin
        // Only this one: a socket may have a thousand rooms, and a room thousands of subscribers to look through.
        if !isAdmin { recheck([subscription], of: subscription.user, to: subscription.feed.room, asMember: false) }
    }
}

/// Feeds write to the loop's sockets by the numbers of ``Connection/outlet``.
extension Loop: Outlets {}
