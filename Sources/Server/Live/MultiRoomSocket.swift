import Chat
import CoreMetrics
import Transport
import WebSocket
import Wire

/// A socket for many rooms, to which the client subscribes with frames.
///
/// A slow client costs one cursor for each room. Subscriptions send in turns as the client reads. They read the log one
/// after the other, one slice each, so that at most one slice waits for the client.
final class MultiRoomSocket: LiveSocket {
    // The properties that pushes need come first, next to each other.
    let connection: Connection
    let worker: Worker
    var caller: Identity
    private(set) unowned var socket: WebSocketConnection!
    var userIndex: Int32?
    /// The block of the client's address, for limits.
    let address: AddressBlock?
    private let format: PushFormat
    private(set) var subscriptions = SubscriptionTable()
    /// The subscription to the user's own rooms; `nil` unless requested.
    var mine: OwnRooms?
    /// The subscriptions that need to read the log, without duplicates, in order.
    private var readers: ArraySlice<Reader> = []
    /// The subscription whose read of the log is pending, and the reply that it waits for; `nil` for none.
    private var reading: (subscription: Subscription, reply: any PendingReply)?
    /// The reply that the list of the user's rooms waits for; `nil` for none.
    var listing: (any PendingReply)?

    /// A subscription that needs to read the log.
    private struct Reader {
        var subscription: Subscription
        /// The revision up to which it has every change; `nil` to start at the room's current one.
        var since: Int64?
    }

    private init(
        _ connection: Connection, worker: Worker, caller: Identity, address: AddressBlock?, format: PushFormat
    ) {
        self.connection = connection
        connection.takesPushes = true
        self.worker = worker
        self.caller = caller
        self.address = address
        self.format = format
    }

    /// Serves a connection that has just become a WebSocket.
    ///
    /// - Parameter format: The WebSocket format that was negotiated.
    /// - Returns: The handler for the connection.
    static func open(
        on connection: Connection, worker: Worker, caller: Identity, address: AddressBlock?, format: PushFormat
    ) -> WebSocketConnection {
        let live = MultiRoomSocket(
            connection, worker: worker, caller: caller, address: address, format: format)
        var limits = worker.services.configuration.webSocket
        limits.framesPerSecond = limits.framesPerSecondForRooms
        let socket = WebSocketConnection(
            connection, limits: limits, allowsCompression: format == .deflatedWebSocket, delegate: live)
        live.socket = socket
        socket.end = caller.end
        worker.users.opened(live)
        return socket
    }

    // MARK: The client's frames

    var ownRoom: RoomID? { nil }
    var subscriptionCount: Int { subscriptions.count }

    /// Leaves the rooms that the new token does not allow, and joins the user's rooms that it newly allows.
    func callerChanged(from old: Identity) {
        for subscription in subscriptions.all where !caller.allows(room: subscription.feed.room) {
            refuse(subscription, .roomNotAllowed)
        }
        for subscription in subscriptions.all { worker.change(subscription, isAdmin: caller.isAdmin) }
        subscribeToNewlyAllowed(since: old)
    }

    func serve(_ frame: ClientFrame) throws(Problem) {
        switch frame {
        case .subscribe(let room, let since, let epoch): try subscribe(to: room, since: since, epoch: epoch)
        case .subscribeMine(let epoch): try subscribeToMine(epoch: epoch)
        case .unsubscribe(let room): try unsubscribe(from: room)
        case .unsubscribeMine: try unsubscribeFromMine()
        case .typing(let room):
            let subscription = try subscription(to: room)
            // The client is not subscribed until it has been told so.
            guard subscription.hasStarted else { throw .notSubscribed }
            try announceTyping(in: subscription)
        case .token(let token): renew(token)
        }
    }

    /// Maximum number of rooms that the socket subscribes to.
    var limit: Int { worker.services.configuration.webSocket.subscriptions }

    private func subscribe(to room: RoomID, since: SincePosition?, epoch: String?) throws(Problem) {
        guard subscriptions[room] == nil else { throw .alreadySubscribed }
        guard caller.allows(room: room) else { throw .roomNotAllowed }
        guard subscriptions.count < limit else { throw .tooManySubscriptions(limit: limit) }
        try worker.admit(.subscriptions, by: caller.user, from: address)
        mine?.accept(room)
        // A revision of another history counts as one that the room has not reached, see `SincePosition.rev(inHistory:)`.
        let isKnown = SincePosition.isOfHistory(since?.epoch ?? epoch, current: worker.epoch)
        add(room, since: isKnown ? since?.rev : .max)
    }

    /// Adds a subscription to a room that has none. It begins when it has read the log.
    func add(_ room: RoomID, since rev: Int64?) {
        let subscription = worker.subscribe(to: room, as: caller, format: format, since: rev)
        subscriptions.insert(subscription)
        readers.append(Reader(subscription: subscription, since: rev))
        readNext()
    }

    private func unsubscribe(from room: RoomID) throws(Problem) {
        drop(try subscription(to: room))
        mine?.reject(room)
    }

    private func subscription(to room: RoomID?) throws(Problem) -> Subscription {
        guard let room else { throw .invalidField("room", must: "a string") }
        guard let subscription = subscriptions[room] else { throw .notSubscribed }
        return subscription
    }

    /// Removes a subscription. Nothing of its room is sent afterwards.
    func drop(_ subscription: Subscription) {
        subscriptions.remove(subscription.feed.room)
        mine?.rooms.remove(subscription.feed.room)
        readers.removeAll { $0.subscription === subscription }
        worker.end(subscription)
        if reading?.subscription === subscription {
            cancelReading()
            readNext()
        }
    }

    /// Removes the subscriptions to the user's own rooms.
    func dropOwn() {
        guard let mine else { return }
        // First, so that none of them begins to read the log, and the list is searched only once.
        readers.removeAll { mine.rooms.contains($0.subscription.feed.room) }
        for room in mine.rooms { subscriptions[room].map(drop) }
    }

    private func cancelReading() {
        worker.log.cancel(reading?.reply)
        reading = nil
    }

    /// Removes a subscription and sends the reason. If the client does not know of the subscription, it is not told
    /// that the user may not read the room.
    func refuse(_ subscription: Subscription, _ problem: Problem) {
        let room = subscription.feed.room
        let isUnknown = mine?.rooms.contains(room) == true && !subscription.hasStarted
        drop(subscription)
        if !(isUnknown && problem.isOfMembership) { send(.error(problem, room: room.string)) }
    }

    func ended(_ subscription: Subscription, because problem: Problem) {
        refuse(subscription, problem)
    }

    // MARK: Reading the log

    func replay(_ subscription: Subscription, since rev: Int64) {
        worker.services.metrics.replays.increment()
        readers.append(Reader(subscription: subscription, since: rev))
        readNext()
    }

    /// Reads a slice for the subscription that has waited longest, once the client has read the earlier ones.
    private func readNext() {
        guard reading == nil, !isCongested, let reader = readers.popFirst() else { return }
        let client = address?.client ?? connection.client
        let reply = worker.read(for: reader.subscription, since: reader.since, client: client) { [weak self] result in
            guard let self else { return }
            reading = nil
            if reader.subscription.isActive {
                take(result, for: reader)
            } else if let end = reader.subscription.end,
                subscriptions[reader.subscription.feed.room] === reader.subscription
            {
                // The subscription ended before it started, and the client does not know yet.
                refuse(reader.subscription, end)
            }
            readNext()
        }
        reading = (reader.subscription, reply)
    }

    private func take(_ result: Result<ReplaySlice, Problem>, for reader: Reader) {
        let subscription = reader.subscription
        do throws(Problem) {
            let slice = try result.get()
            guard !subscription.hasStarted else { return subscription.replayed(slice) }
            if let since = reader.since, since > slice.state.rev { throw .cursorUnknown }
            send(worker.subscribed(subscription, slice.state))
            worker.start(subscription, with: slice, on: self)
        } catch {
            refuse(subscription, error)
        }
    }

    // MARK: Turns

    func drained(_ socket: WebSocketConnection) {
        // Readers go first, so that a subscription with much to send does not delay them.
        readNext()
        for _ in 0..<subscriptions.count {
            guard !isCongested else { return }
            subscriptions.next().advance()
        }
    }

    func closed(_ socket: WebSocketConnection) {
        worker.users.closed(self)
        endMine()
        cancelReading()
        for subscription in subscriptions.all { worker.end(subscription) }
        worker.countClose(of: socket)
    }
}

extension Problem {
    /// True if the problem means that the user may not read the room.
    fileprivate var isOfMembership: Bool { [.notAMember, .roomNotFound, .roomDeleted, .banned].contains(code) }
}

/// The subscriptions of one socket, by room, served in turns.
struct SubscriptionTable {
    /// All subscriptions, in no particular order.
    private(set) var all: [Subscription] = []
    private var indices: [RoomID: Int] = [:]
    private var turn = 0

    var count: Int { all.count }

    subscript(room: RoomID) -> Subscription? { indices[room].map { all[$0] } }

    /// Adds a subscription to a room that has none.
    mutating func insert(_ subscription: Subscription) {
        assert(indices[subscription.feed.room] == nil)
        indices[subscription.feed.room] = all.count
        all.append(subscription)
    }

    /// Removes the subscription to a room in constant time. The last one takes its index.
    @discardableResult
    mutating func remove(_ room: RoomID) -> Subscription? {
        guard let index = indices.removeValue(forKey: room) else { return nil }
        let removed = all[index]
        let last = all.removeLast()
        if last !== removed {
            all[index] = last
            indices[last.feed.room] = index
        }
        return removed
    }

    /// Returns the next subscription in turn: each one once in as many calls as there are subscriptions. The table must
    /// not be empty.
    mutating func next() -> Subscription {
        turn = turn + 1 < all.count ? turn + 1 : 0
        return all[turn]
    }
}
