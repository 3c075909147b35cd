import Chat
import CoreMetrics
import Transport
import WebSocket
import Wire

/// A WebSocket that carries subscriptions: the common part of sockets for a single room and for many rooms.
protocol LiveSocket: WebSocketDelegate, SubscriptionCarrier, UserConnection {
    /// The underlying connection. Feeds push to it directly, since with thousands of subscribers every object on the
    /// way is a cache miss.
    var connection: Connection { get }
    var worker: Worker { get }
    /// The caller who opened the socket or renewed its token last.
    var caller: Identity { get set }
    // Unowned, because the connection owns the WebSocket, which owns the conforming object.
    var socket: WebSocketConnection! { get }
    /// The room of a room's own socket; `nil` for a socket with many rooms.
    var ownRoom: RoomID? { get }

    /// The number of subscriptions.
    var subscriptionCount: Int { get }

    /// Applies the rights of a new token. `old` is the previous caller.
    func callerChanged(from old: Identity)

    /// Handles a client's frame.
    ///
    /// - Throws: The reason if it cannot. The client is told, and the socket stays open.
    func serve(_ frame: ClientFrame) throws(Problem)
}

extension LiveSocket {
    var user: UserID? { caller.user }

    /// Sends a frame other than a message.
    func send(_ frame: ServerFrame) {
        var json: [UInt8] = []
        frame.encode(into: &json)
        socket.send(.text, json.span)
    }

    /// Sends a frame to the user's own devices.
    func send(_ notice: OwnNotice) {
        socket.send(.text, notice.json.span)
    }

    // MARK: The client's frames

    func received(text: [UInt8], on socket: WebSocketConnection) {
        do throws(ClientFrame.Refusal) {
            let frame = try ClientFrame.decode(text)
            do throws(Problem) {
                try serve(frame)
            } catch {
                throw .unservable(error, room: frame.room?.string)
            }
        } catch {
            switch error {
            case .notJSON(let problem): socket.close(.invalidPayloadData, problem.detail)
            case .notObject(let problem): socket.close(.policyViolation, problem.detail)
            case .unservable(let problem, let room): send(.error(problem, room: room ?? ownRoom?.string))
            }
        }
    }

    /// Renews the token. An invalid one changes nothing: the old one is valid until its end.
    func renew(_ token: String) {
        // Open mode has no tokens.
        guard worker.authenticator != nil else { return }
        do throws(Problem) {
            let renewed = try worker.identity(of: token)
            guard renewed.user == caller.user else { throw .tokenInvalid("The token is another user's.") }
            let old = caller
            // Each subscription is then decided on anew, which costs as much as a frame that subscribes.
            let isChanged = renewed.isAdmin != old.isAdmin || renewed.rooms != old.rooms
            guard !isChanged || socket.spend(subscriptionCount) else { return }
            caller = renewed
            socket.end = renewed.end
            worker.applyClaims(of: renewed)
            callerChanged(from: old)
        } catch {
            send(.error(error, room: ownRoom?.string))
        }
    }

    func received(binary: [UInt8], on socket: WebSocketConnection) {
        socket.close(.unsupportedData, "frames are JSON, as text")
    }

    /// Tells the room's other subscribers that the caller is typing.
    ///
    /// - Throws: 401 if the caller has no name.
    func announceTyping(in subscription: Subscription) throws(Problem) {
        let user = try caller.named()
        try worker.checkBans(of: caller, in: subscription.feed.room, for: .change)
        worker.typing(user, isAdmin: subscription.isAdmin, in: subscription.feed)
    }

    // MARK: The subscriptions' bytes

    var isCongested: Bool { connection.isCongested || !connection.isOpen || !connection.takesPushes }
    var outlet: UInt64? { connection.outlet }

    func send(_ frames: Span<UInt8>) {
        guard connection.takesPushes else { return }
        worker.services.metrics.deliveredBytes.increment(by: Int64(frames.count))
        connection.write(frames)
    }

    func closing(_ socket: WebSocketConnection) {
        connection.takesPushes = false
    }

    func sendLive(_ subscription: Subscription) {
        var frames: [UInt8] = []
        for notice in worker.live(subscription) { PushEncoding.appendFrame(notice, to: &frames) }
        guard connection.takesPushes else { return }
        connection.write(frames)
    }

    func end(because problem: Problem) {
        send(.error(problem, room: ownRoom?.string))
        socket.close(problem.closeCode, problem.code.string)
    }
}

extension ClientFrame {
    /// The room that the frame names; `nil` for none.
    fileprivate var room: RoomID? {
        switch self {
        case .subscribe(let room, _, _), .unsubscribe(let room): room
        case .typing(let room): room
        case .subscribeMine, .unsubscribeMine, .token: nil
        }
    }
}

extension Connection {
    /// The client of a caller without a name on this connection.
    var client: QueryClient { .connection(UInt64(UInt(bitPattern: ObjectIdentifier(self)))) }
}
