import Chat
import CoreMetrics
import Transport
import WebSocket
import Wire

/// A socket for many rooms: the client subscribes and unsubscribes by frames.
///
/// It costs a cursor for each room, however slow its client is. The subscriptions share what the client takes, by
/// turns; and they read the log one after the other, a slice each, so that no more than a slice waits for the client.
final class RoomsSocket: LiveSocket {
    // What pushes need is in front, side by side.
    let connection: Connection
    let worker: Worker
    var caller: Identity
    private(set) unowned var socket: WebSocketConnection!
    /// Where the client is, as limits count it.
    let address: AddressBlock?
    private let format: PushFormat
    private let faults: FaultPlan?
    /// What stands between subscriptions and the socket when the request has asked for faults, by the room.
    private var faulty: [RoomID: FaultyCarrier] = [:]
    private(set) var subscriptions = SubscriptionTable()
    /// What there is because the rooms are the user's; `nil` while the client has not asked for that.
    var mine: OwnRooms?
    /// The subscriptions that have to read the log, each once, in the order in which they get to.
    private var readers: ArraySlice<Reader> = []
    /// The subscription for which the log is read, and the number of that read; `nil` for none.
    private var reading: (subscription: Subscription, number: UInt64)?
    /// The list of the user's rooms that is awaited; 0 for none.
    var listing: UInt64 = 0

    /// A subscription that has to read the log.
    private struct Reader {
        var subscription: Subscription
        /// Up to where it has everything; `nil` when it begins with where the room is.
        var since: Int64?
    }

    private init(
        _ connection: Connection, worker: Worker, caller: Identity, address: AddressBlock?, format: PushFormat,
        faults: FaultPlan?
    ) {
        self.connection = connection
        connection.takesPushes = true
        self.worker = worker
        self.caller = caller
        self.address = address
        self.format = format
        self.faults = faults
    }

    /// Serves a connection that has just become a WebSocket.
    ///
    /// - Parameter format: one for WebSockets, as the handshake has agreed.
    /// - Returns: what the connection is to be handed to.
    static func open(
        on connection: Connection, worker: Worker, caller: Identity, address: AddressBlock?, format: PushFormat,
        faults: FaultPlan?
    ) -> WebSocketConnection {
        let live = RoomsSocket(
            connection, worker: worker, caller: caller, address: address, format: format, faults: faults)
        var limits = worker.services.configuration.webSocket
        limits.framesPerSecond = limits.framesPerSecondForRooms
        let socket = WebSocketConnection(
            connection, limits: limits, allowsCompression: format == .deflatedWebSocket, delegate: live)
        live.socket = socket
        socket.end = caller.end
        worker.opened(live, by: caller.user)
        return socket
    }

    // MARK: The client's frames

    var ownRoom: RoomID? { nil }

    /// Rooms that the new token is not for are left.
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
            // Until the client has been told that it is subscribed it is not.
            guard subscription.hasStarted else { throw .notSubscribed }
            try announceTyping(in: subscription)
        case .token(let token): renew(token)
        }
    }

    /// The most rooms that the socket is subscribed to.
    var limit: Int { worker.services.configuration.webSocket.subscriptions }

    private func subscribe(to room: RoomID, since: SincePosition?, epoch: String?) throws(Problem) {
        guard subscriptions[room] == nil else { throw .alreadySubscribed }
        guard caller.allows(room: room) else { throw .roomNotAllowed }
        guard subscriptions.count < limit else { throw .tooManySubscriptions(limit: limit) }
        try check(epoch: since?.epoch ?? epoch)
        try worker.admit(.subscriptions, by: caller.user, from: address)
        mine?.accept(room)
        add(room, since: since?.rev)
    }

    /// Refuses a history that is not this one.
    func check(epoch: String?) throws(Problem) {
        if let epoch, epoch != worker.epoch(faults) { throw .cursorUnknown }
    }

    /// Adds a subscription to a room that has none, which begins when it gets to read the log.
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

    /// Forgets a subscription, after which nothing of its room is sent.
    func drop(_ subscription: Subscription) {
        subscriptions.remove(subscription.feed.room)
        mine?.rooms.remove(subscription.feed.room)
        readers.removeAll { $0.subscription === subscription }
        worker.end(subscription)
        faulty[subscription.feed.room] = nil
        if reading?.subscription === subscription {
            cancelReading()
            readNext()
        }
    }

    /// Forgets the subscriptions that there are because the rooms are the user's.
    func dropOwn() {
        guard let mine else { return }
        // At once, so that none of them gets to read the log, and the list is not gone through for each.
        readers.removeAll { mine.rooms.contains($0.subscription.feed.room) }
        for room in mine.rooms { subscriptions[room].map(drop) }
    }

    private func cancelReading() {
        reading.map { worker.cancel($0.number) }
        reading = nil
    }

    /// Forgets a subscription and says why, unless it is one that the client has neither asked for nor heard of.
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

    /// Reads a slice for the subscription that has waited longest, when the client has taken what was read before.
    private func readNext() {
        guard reading == nil, !isCongested, let reader = readers.popFirst() else { return }
        let asker = address?.asker ?? connection.asker
        let number = worker.read(for: reader.subscription, since: reader.since, asker: asker) { [weak self] result in
            guard let self else { return }
            reading = nil
            if reader.subscription.isActive {
                take(result, for: reader)
            } else if let end = reader.subscription.end,
                subscriptions[reader.subscription.feed.room] === reader.subscription
            {
                // It was ended before it had begun, when there was nobody yet to be told.
                refuse(reader.subscription, end)
            }
            readNext()
        }
        reading = (reader.subscription, number)
    }

    private func take(_ result: Result<ReplaySlice, Problem>, for reader: Reader) {
        let subscription = reader.subscription
        do throws(Problem) {
            let slice = try result.get()
            guard !subscription.hasStarted else { return subscription.replayed(slice) }
            if let since = reader.since, since > slice.state.rev { throw .cursorUnknown }
            send(worker.subscribed(subscription, slice.state, faults))
            let faulty = faults?.carrier(of: subscription, before: self, on: connection)
            if let faulty { self.faulty[subscription.feed.room] = faulty }
            worker.start(subscription, with: slice, on: faulty ?? self)
        } catch {
            refuse(subscription, error)
        }
    }

    // MARK: Turns

    func drained(_ socket: WebSocketConnection) {
        // Those that read go first: one that has much to send at once must not keep them from it.
        readNext()
        for _ in 0..<subscriptions.count {
            guard !isCongested else { return }
            subscriptions.next().advance()
        }
    }

    func closed(_ socket: WebSocketConnection) {
        worker.closed(self, of: caller.user)
        endMine()
        cancelReading()
        for subscription in subscriptions.all { worker.end(subscription) }
        countClose()
    }
}

extension Problem {
    /// True if it says that the user may not read the room.
    fileprivate var isOfMembership: Bool { [.notAMember, .roomNotFound, .roomDeleted, .banned].contains(code) }
}
