import Chat
import CoreMetrics
import Transport
import WebSocket
import Wire

/// A socket for a single room.
final class RoomSocket: LiveSocket {
    // The properties that pushes need come first, next to each other.
    let connection: Connection
    let worker: Worker
    var caller: Identity
    private(set) unowned var socket: WebSocketConnection!
    private let subscription: Subscription
    /// The reply that the subscription waits for; `nil` for none.
    private var reading: Reply<ReplaySlice>?
    var userIndex: Int32?

    private init(_ connection: Connection, worker: Worker, caller: Identity, subscription: Subscription) {
        self.connection = connection
        connection.takesPushes = true
        self.worker = worker
        self.caller = caller
        self.subscription = subscription
    }

    /// Carries a subscription on a connection that has just become a WebSocket.
    ///
    /// - Parameters:
    ///   - subscription: The subscription, in the WebSocket format that was negotiated.
    ///   - slice: The first slice of the replay. Its state goes into the first frame.
    /// - Returns: The handler for the connection.
    static func open(
        on connection: Connection, worker: Worker, caller: Identity, subscription: Subscription, slice: ReplaySlice
    ) -> WebSocketConnection {
        let live = RoomSocket(connection, worker: worker, caller: caller, subscription: subscription)
        let socket = WebSocketConnection(
            connection, limits: worker.services.configuration.webSocket,
            allowsCompression: subscription.format == .deflatedWebSocket,
            delegate: live)
        live.socket = socket
        socket.end = caller.end
        live.send(worker.subscribed(subscription, slice.state))
        worker.users.opened(live)
        worker.start(subscription, with: slice, on: live)
        return socket
    }

    var ownRoom: RoomID? { subscription.feed.room }
    var subscriptionCount: Int { 1 }

    /// Applies a new token. The socket ends if it does not allow the room.
    func callerChanged(from old: Identity) {
        guard caller.allows(room: subscription.feed.room) else {
            return worker.end([subscription], because: .roomNotAllowed)
        }
        worker.change(subscription, isAdmin: caller.isAdmin)
    }

    func serve(_ frame: ClientFrame) throws(Problem) {
        switch frame {
        case .typing(let room):
            guard room == nil || room == ownRoom else { throw .invalidField("room", must: "the room of this socket") }
            try announceTyping(in: subscription)
        case .token(let token): renew(token)
        case .subscribe, .subscribeMine: throw .unknownType("subscribe")
        case .unsubscribe, .unsubscribeMine: throw .unknownType("unsubscribe")
        }
    }

    func replay(_ subscription: Subscription, since rev: Int64) {
        worker.services.metrics.replays.increment()
        reading = worker.read(for: subscription, since: rev, client: connection.client) { [worker] result in
            switch result {
            case .success(let slice): subscription.replayed(slice)
            case .failure(let problem): worker.end([subscription], because: problem)
            }
        }
    }

    func ended(_ subscription: Subscription, because problem: Problem) {
        if [.roomDeleted, .banned, .roomNotAllowed].contains(problem.code) { return end(because: problem) }
        socket.close(problem.closeCode, problem.code.string)
    }

    func drained(_ socket: WebSocketConnection) {
        subscription.advance()
    }

    func closed(_ socket: WebSocketConnection) {
        worker.users.closed(self)
        worker.log.cancel(reading)
        worker.end(subscription)
        worker.countClose(of: socket)
    }
}
