import Chat
import Transport
import WebSocket
import Wire

/// Lost access of users and sockets on this loop.
extension Worker {
    /// Ends a subscription whose socket or event stream has not opened.
    func abandon(_ subscription: Subscription) {
        loop.clientLeft()
        end(subscription)
    }

    /// Ends all sockets and event streams of a user, also those that are about to open: they are registered once they
    /// are open, but have joined their room's feed.
    func endConnections(of user: UserID, because problem: Problem) {
        for connection in users.all where connection.user == user { connection.end(because: problem) }
        for feed in Array(feeds.values) {
            end(feed.subscribers.filter { $0.user == user && !$0.hasStarted }, because: problem)
        }
    }

    /// Ends connections and subscriptions on this loop whose access was revoked.
    func accessEnded(_ ends: [AccessEnd]) {
        for end in ends {
            switch end {
            case .roomDeleted(let room):
                if let feed = feeds[room] { self.end(feed.subscribers, because: .roomDeleted) }
            case .banned(let ban, let room?):
                guard let feed = feeds[room] else { continue }
                // Bans from single rooms do not apply to admins.
                let ended = feed.subscribers.filter { $0.user == ban.user && !$0.isAdmin }
                self.end(ended, because: .banned(ban, isFromRoom: true))
            case .banned(let ban, nil):
                endConnections(of: ban.user, because: .banned(ban, isFromRoom: false))
            case .erased(let user):
                endConnections(of: user, because: .disconnected)
            case .removed(let user, let room):
                recheckSubscriptions(of: user, to: room, asMember: true)
            case .becamePrivate(let room):
                recheckSubscriptions(of: nil, to: room)
            case .unknown:
                endAll(because: .unavailable("The server was away from its database. Connect again."))
            }
        }
        feedContext.handledEnd()
        resumeFeeds()
    }

    /// Ends all sockets and event streams, so that their clients reconnect.
    private func endAll(because problem: Problem) {
        // Sockets end first, so that their clients do not get an error for each room.
        for connection in users.all { connection.end(because: problem) }
        // Connections of callers without a name are not registered. Their subscriptions end one by one.
        for feed in Array(feeds.values) { end(feed.subscribers.filter { $0.user == nil }, because: problem) }
    }

    /// Refuses a banned user an action that the log itself does not check.
    ///
    /// - Throws: 403 `banned`.
    func checkBans(of caller: Identity, in room: RoomID?, for use: BanTable.Use) throws(Problem) {
        if let problem = services.log.bans.refusal(
            of: caller.user, in: room, isAdmin: caller.isAdmin, for: use, at: .now())
        {
            throw problem
        }
    }
}

extension Problem {
    /// The close code of a WebSocket that ends for this reason.
    var closeCode: CloseCode {
        switch code {
        case .notAMember, .banned, .roomNotAllowed: .notMember
        case .roomDeleted: .roomDeleted
        case .disconnected: .tokenExpired
        default: .tryAgainLater
        }
    }
}
