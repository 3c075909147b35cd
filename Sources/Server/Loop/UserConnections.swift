import Chat
import Synchronization
import Transport
import Wire

/// A WebSocket or an event stream. It ends if its user is banned from the server, erased, or disconnected by an admin.
protocol UserConnection: AnyObject {
    /// The user who opened it; `nil` for a caller without a name.
    var user: UserID? { get }
    /// Its index in ``UserConnections/all``; `nil` if it is not registered.
    var userIndex: Int32? { get set }
    /// Tells the client the reason, and ends.
    func end(because problem: Problem)
}

/// The sockets and event streams of named users on one loop, and those of them that follow their user's rooms. Confined to
/// its loop.
final class UserConnections {
    private let loop: Loop
    private let openSockets: OpenSockets
    private let subscribedLoops: SubscribedLoops

    /// The connections, in no order. Only bans from the server, erasures and disconnections by an admin look for those of
    /// one user, so a dictionary by user is not worth its memory per connection (scenario D of `scripts/compare`).
    private(set) var all: [any UserConnection] = []
    /// The sockets that follow their user's rooms.
    private var followers: [UserID: [MultiRoomSocket]] = [:]

    init(on loop: Loop, _ openSockets: OpenSockets, _ subscribedLoops: SubscribedLoops) {
        self.loop = loop
        self.openSockets = openSockets
        self.subscribedLoops = subscribedLoops
    }

    /// Registers a socket or event stream. Balance it with ``closed(_:)``.
    func opened(_ connection: any UserConnection) {
        guard let user = connection.user else { return }
        connection.userIndex = Int32(all.count)
        all.append(connection)
        openSockets.add(1, of: user)
    }

    /// Unregisters a socket or event stream.
    func closed(_ connection: any UserConnection) {
        loop.clientLeft()
        guard let user = connection.user, let index = connection.userIndex else { return }
        connection.userIndex = nil
        // The last one moves to the free place.
        let last = all.removeLast()
        if index < all.count {
            all[Int(index)] = last
            last.userIndex = index
        }
        openSockets.add(-1, of: user)
    }

    // MARK: Memberships

    /// Reports the rooms that a user joins and leaves to a socket from now on, in commit order.
    ///
    /// Read the user's rooms after this call, so that no change falls in between. Balance it with ``unfollow(_:_:)``.
    func follow(_ user: UserID, _ socket: MultiRoomSocket) {
        if followers[user] == nil { subscribedLoops.follow(user, loop: loop.index) }
        followers[user, default: []].append(socket)
    }

    /// Stops reporting to a socket.
    func unfollow(_ user: UserID, _ socket: MultiRoomSocket) {
        followers[user]?.removeAll { $0 === socket }
        guard followers[user]?.isEmpty == true else { return }
        followers[user] = nil
        subscribedLoops.unfollow(user, loop: loop.index)
    }

    /// Forwards membership changes to the sockets that follow the users.
    func membershipsChanged(_ changes: [MembershipChange]) {
        for change in changes {
            for socket in followers[change.user] ?? [] { socket.membershipChanged(change) }
        }
    }

    /// Sends notices to the sockets that follow their users' rooms.
    func notify(_ notices: [OwnNotice]) {
        for notice in notices {
            for socket in followers[notice.user] ?? [] { socket.send(notice) }
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
