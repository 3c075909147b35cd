import Chat
import Synchronization
import Transport
import WebSocket
import Wire

/// A WebSocket or an event stream. It ends if its user is banned from the server, erased, or disconnected by an admin.
protocol UserConnection: AnyObject {
    /// The user who opened it; `nil` for a caller without a name.
    var user: UserID? { get }
    /// Its index in ``Worker/userConnections``; `nil` if it is not registered.
    var userPlace: Int32? { get set }
    /// Tells the client the reason, and ends.
    func end(because problem: Problem)
}

/// The open sockets of each user on this loop.
extension Worker {
    /// Registers a socket or event stream. Balance it with ``closed(_:)``.
    func opened(_ connection: any UserConnection) {
        guard let user = connection.user else { return }
        connection.userPlace = Int32(userConnections.count)
        userConnections.append(connection)
        services.openSockets.add(1, of: user)
    }

    /// Unregisters a socket or event stream.
    func closed(_ connection: any UserConnection) {
        loop.clientLeft()
        guard let user = connection.user, let place = connection.userPlace else { return }
        connection.userPlace = nil
        // The last one moves to the free place.
        let last = userConnections.removeLast()
        if place < userConnections.count {
            userConnections[Int(place)] = last
            last.userPlace = place
        }
        services.openSockets.add(-1, of: user)
    }

    /// Ends a subscription whose socket or event stream has not opened.
    func abandon(_ subscription: Subscription) {
        loop.clientLeft()
        end(subscription)
    }

    /// Ends all sockets and event streams of a user, also those that are about to open: they are registered once they
    /// are open, but have joined their room's feed.
    func endConnections(of user: UserID, because problem: Problem) {
        for connection in userConnections where connection.user == user { connection.end(because: problem) }
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
    }

    /// Ends all sockets and event streams, so that their clients reconnect.
    private func endAll(because problem: Problem) {
        // Sockets end first, so that their clients do not get an error for each room.
        for connection in userConnections { connection.end(because: problem) }
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

/// The number of open sockets and event streams of each user, over all loops of the process.
final class OpenSockets: Sendable {
    private let counts = Mutex<[UserID: Int]>([:])

    /// Returns the number of open sockets of a user.
    func count(of user: UserID) -> Int { counts.withLock { $0[user] ?? 0 } }

    /// Adds a difference to the number of open sockets of a user.
    func add(_ difference: Int, of user: UserID) {
        counts.withLock { counts in
            let count = (counts[user] ?? 0) + difference
            counts[user] = count > 0 ? count : nil
        }
    }
}
