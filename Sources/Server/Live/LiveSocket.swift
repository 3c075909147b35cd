import Chat
import CoreMetrics
import Transport
import WebSocket
import Wire

/// A room's own socket: pushes what changes in the room, and hears little from the client.
final class LiveSocket: WebSocketDelegate, SubscriptionCarrier {
    private let worker: Worker
    private let room: RoomID
    private var caller: Identity
    // The connection holds the socket, and the socket holds this.
    private unowned var socket: WebSocketConnection!
    private var subscription: Subscription!

    /// Opens the socket on a connection whose upgrade has been answered.
    private init(worker: Worker, room: RoomID, caller: Identity) {
        self.worker = worker
        self.room = room
        self.caller = caller
    }

    /// Subscribes a connection that has just become a WebSocket.
    ///
    /// - Parameters:
    ///   - caller: who has asked; the socket ends when the token does.
    ///   - format: one for WebSockets, as the handshake has agreed.
    ///   - slice: the first slice of the replay; its state is what the client is told first.
    /// - Returns: what the connection is to be handed to.
    static func open(
        on connection: Connection, worker: Worker, caller: Identity, feed: Feed, format: PushFormat, since: Int64?,
        slice: ReplaySlice
    ) -> WebSocketConnection {
        let live = LiveSocket(worker: worker, room: feed.room, caller: caller)
        let socket = WebSocketConnection(
            connection, limits: worker.services.configuration.webSocket,
            allowsCompression: format == .deflatedWebSocket,
            delegate: live)
        socket.end = caller.end
        live.socket = socket
        live.subscription = Subscription(feed: feed, format: format, rev: since ?? slice.rev, carrier: live)
        worker.services.metrics.subscribers.increment()
        live.send(
            .subscribed(room: feed.room, head: slice.state.head, rev: slice.state.rev, epoch: worker.services.log.epoch)
        )
        live.subscription.start(with: slice)
        return socket
    }

    private func send(_ frame: ServerFrame) {
        var json: [UInt8] = []
        frame.encode(into: &json)
        socket.send(.text, json.span)
    }

    // MARK: The client's frames

    func received(text: [UInt8], on socket: WebSocketConnection) {
        do throws(ClientFrame.Refusal) {
            switch try ClientFrame.decode(text.span) {
            case .typing(nil): break
            case .typing(let other?) where other == room: break
            case .typing(let other?):
                send(.error(.invalidField("room", must: "the room of this socket"), room: other.string))
            case .token(let token): renew(token)
            case .subscribe: send(.error(.unknownType("subscribe"), room: room.string))
            case .unsubscribe: send(.error(.unknownType("unsubscribe"), room: room.string))
            case .subscribeMine: send(.error(.unknownType("subscribe_mine"), room: room.string))
            }
        } catch {
            switch error {
            case .notJSON(let problem): socket.close(.invalidPayloadData, problem.detail)
            case .notObject(let problem): socket.close(.policyViolation, problem.detail)
            case .unservable(let problem, let room): send(.error(problem, room: room ?? self.room.string))
            }
        }
    }

    /// Goes on with a new token. One that will not do changes nothing: the old one holds until its end.
    private func renew(_ token: String) {
        // Nobody has a token to renew in open mode.
        guard worker.authenticator != nil else { return }
        do throws(Problem) {
            let renewed = try worker.identity(of: token)
            guard renewed.user == caller.user else { throw .tokenInvalid("The token is another user's.") }
            guard renewed.allows(room: room) else { throw .roomNotAllowed }
            caller = renewed
            socket.end = renewed.end
        } catch {
            send(.error(error, room: room.string))
        }
    }

    func received(binary: [UInt8], on socket: WebSocketConnection) {
        socket.close(.unsupportedData, "frames are JSON, as text")
    }

    // MARK: The subscription's bytes

    var isCongested: Bool { socket.connection.isCongested || !socket.isOpen }

    func send(_ frames: Span<UInt8>) {
        worker.services.metrics.deliveredBytes.increment(by: Int64(frames.count))
        socket.send(frames: frames)
    }

    func sendLive(room: RoomID, rev: Int64) {
        send(.live(room: room, rev: rev))
    }

    func replay(_ subscription: Subscription, since rev: Int64) {
        worker.services.metrics.replays.increment()
        let kind = Query.Kind.replay(since: rev, format: subscription.format, bytes: Subscription.replayLimit)
        worker.ask(kind, of: room) { [weak self] result in
            guard let self, subscription.isActive else { return }
            switch result {
            case .success(.replay(let slice)): subscription.replayed(slice)
            case .success: preconditionFailure("the log answered another question")
            case .failure: socket.close(.tryAgainLater, "the history cannot be read at the moment")
            }
        }
    }

    func drained(_ socket: WebSocketConnection) {
        subscription.advance()
    }

    func closed(_ socket: WebSocketConnection) {
        subscription.cancel()
        worker.release(subscription.feed)
        worker.services.metrics.subscribers.decrement()
        worker.services.metrics.webSocketCloses.count((socket.closeCode ?? .abnormalClosure).rawValue)
    }
}
