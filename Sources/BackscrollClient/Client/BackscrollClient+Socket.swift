import BackscrollTimeline
import Wire

/// The socket, and the rooms' subscriptions on it.
extension BackscrollClient {
    // MARK: Subscriptions

    /// Forgets a room.
    func leave(_ id: String, number: SubscriptionNumber) async {
        if openRooms[id]?.room == nil { openRooms[id] = nil }
        guard let subscription = subscriptions[id], subscription.number <= number else { return }
        subscriptions[id] = nil
        if let inbox = following?.inbox, following?.isRequested == true {
            Task { [weak self] in await self?.bequeath(id, to: inbox) }
        } else if subscription.phase != .wanted {
            await socket?.send(ClientText.unsubscribe(id))
        }
        if isIdle { lingerUntil { $0.isIdle } }
    }

    /// True if no room and no inbox needs the socket.
    var isIdle: Bool { subscriptions.isEmpty && following == nil }

    /// Subscribes a room from a position on. The room gets its events with this number.
    func subscribe(_ room: Room, number: SubscriptionNumber, since: Int64, epoch: String) async {
        if isClosed { return }
        let known = subscriptions[room.id]
        if let known, known.number >= number { return }
        var subscription = Subscription(room: room, number: number, since: since, epoch: epoch)
        guard let socket, !isSuspended else {
            subscriptions[room.id] = subscription
            return connect()
        }
        let hadOne = known.map { $0.phase != .wanted } ?? false
        following?.inherited.remove(room.id)
        subscription.phase = .requested
        subscriptions[room.id] = subscription
        if hasFollowed { return await replace(room.id, on: socket) }
        if hadOne { await socket.send(ClientText.unsubscribe(room.id)) }
        await socket.send(ClientText.subscribe(subscription, to: room.id))
    }

    /// Subscribes to a room that the subscription to `mine`, the user's own rooms, may have, or may have had until now.
    ///
    /// A `subscribed` frame that is on its way may belong to `mine`, so frames before the first mark are not the
    /// room's. The server may also add the room to `mine` just before it reads the request, and then refuses the
    /// request. The frames between the marks therefore wait: a `subscribed` of `mine` has no replay, and the room would
    /// resume after changes that it does not have.
    private func replace(_ id: String, on socket: any ClientSocket) async {
        markCount += 1
        let marks = Subscription.Marks(number: markCount)
        subscriptions[id]?.marks = marks
        subscriptions[id]?.phase = .requested
        guard let subscription = subscriptions[id] else { return }
        await socket.send(ClientText.unsubscribe(id))
        await socket.send(ClientText.unsubscribe(marks.first))
        await socket.send(ClientText.subscribe(subscription, to: id))
        await socket.send(ClientText.unsubscribe(marks.last))
    }

    /// Handles the server's answer to a mark. At the last mark of a room its request is known to be accepted.
    private func reach(_ mark: String) async {
        guard
            let (id, subscription) = subscriptions.first(where: { $1.marks?.first == mark || $1.marks?.last == mark }),
            let marks = subscription.marks
        else { return }
        if mark == marks.first {
            subscriptions[id]?.marks?.isBetween = true
            return
        }
        subscriptions[id]?.marks = nil
        for event in marks.events {
            // The room may have asked for another subscription meanwhile, to which these do not belong.
            guard let own = subscriptions[id], own.number == subscription.number, own.marks == nil else { return }
            await receive(event, of: id, own)
        }
    }

    /// Tells other users that the user types.
    func sendTyping(in room: String) async {
        guard subscriptions[room]?.phase == .subscribed else { return }
        await socket?.send(ClientText.typing(room))
    }

    // MARK: The socket

    func connect() {
        guard loop == nil, mayConnect else { return }
        loop = Task { await run() }
    }

    private var mayConnect: Bool {
        guard !isClosed, !isSuspended else { return false }
        return following?.isRequested == false || subscriptions.values.contains { $0.phase == .wanted }
    }

    /// Connects and reads, as long as a room needs the socket.
    private func run() async {
        while mayConnect {
            await pauseBeforeAttempt()
            guard mayConnect else { break }
            attempts += 1
            do throws(BackscrollClientError) {
                let socket = try await openSocket()
                guard mayConnect else {
                    await socket.close(code: 1001)
                    break
                }
                await serve(socket)
            } catch {
                await connectingFailed(error)
            }
        }
        await endResuming()
        loop = nil
        // A room may have been opened while the last socket ended.
        connect()
    }

    /// Waits before the next attempt: with exponential back-off, and at least as long as the server asked for.
    private func pauseBeforeAttempt() async {
        var seconds = 0.0
        if attempts > 0 {
            seconds = options.pause(afterFailures: attempts)
        } else if !isHurried {
            // The clients of a server that restarts must not all come back at once.
            seconds = options.firstPause.inSeconds * options.random()
        }
        isHurried = false
        seconds = max(seconds, (notBefore - options.clock.elapsed()).inSeconds)
        guard seconds > 0 else { return }
        let nap = Task<Void, Never> { [options] in try? await options.clock.sleep(.seconds(seconds)) }
        pause = nap
        await nap.value
        pause = nil
    }

    private func openSocket() async throws(BackscrollClientError) -> any ClientSocket {
        var request = TransportRequest(
            method: "GET", server: try server.get(), target: "/v1/live", fields: options.headerFields, body: [],
            subprotocols: ["backscroll.v1"], timeout: options.socketTimeout)
        let token = try await authorize(&request)
        // Not every platform can send the Authorization header with a WebSocket.
        if let token { request.subprotocols.append("bearer.\(token)") }
        do {
            return try await transport.connect(request)
        } catch {
            throw error.response.map { BackscrollClientError($0) } ?? BackscrollClientError(error)
        }
    }

    /// Serves the rooms on a socket until it ends.
    private func serve(_ socket: any ClientSocket) async {
        self.socket = socket
        hasFollowed = false
        let upkeep = [Task { await keepChecking(socket) }, Task { await keepRenewing(socket) }]
        for id in subscriptions.keys {
            guard let subscription = subscriptions[id], subscription.phase == .wanted else { continue }
            subscriptions[id]?.phase = .requested
            await socket.send(ClientText.subscribe(subscription, to: id))
        }
        await requestOwnRooms(on: socket)
        var lastError: BackscrollClientError?
        var end = (code: 1006, reason: "")
        reading: while let event = try? await socket.receive() {
            switch event {
            case .text(let text):
                guard let event = try? ServerEvent(text) else {
                    await socket.close(code: 1007)
                    break reading
                }
                // An error that ends the socket is its last frame.
                lastError = if case .error(let error, nil) = event { error } else { nil }
                await receive(event)
            case .closed(let code, let reason):
                end = (code, reason)
                break reading
            }
        }
        self.socket = nil
        for task in upkeep { task.cancel() }
        await socketEnded(code: end.code, reason: end.reason, lastError)
    }

    private func receive(_ event: ServerEvent) async {
        if case .error(_, let id?) = event, id.hasPrefix(Subscription.Marks.prefix) { return await reach(id) }
        if case .block(let user, let isBlocked) = event { return await noteBlock(of: user, isBlocked) }
        let own = event.room.flatMap { subscriptions[$0] }
        if following?.isRequested == true {
            await following?.inbox?.receive(event, since: own.flatMap { $0.marks == nil ? $0.since : nil })
        }
        guard let id = event.room, let subscription = subscriptions[id] else {
            if case .error(let error, let id) = event { repeatFollowing(after: error, of: id) }
            return
        }
        guard let marks = subscription.marks else { return await receive(event, of: id, subscription) }
        guard marks.isBetween else { return }
        if case .error(let error, _) = event, error.code == "already_subscribed" {
            await receive(error, of: id, subscription)
        } else {
            subscriptions[id]?.marks?.events.append(event)
        }
    }

    /// Handles a frame of a room's own subscription.
    private func receive(_ event: ServerEvent, of id: String, _ subscription: Subscription) async {
        let room = subscription.room
        let number = subscription.number
        switch event {
        case .subscribed:
            subscriptions[id]?.phase = .subscribed
            let isResuming = subscription.isResuming
            subscriptions[id]?.isResuming = false
            if !isResuming { await room?.receive(.connected, number: number) }
        case .error(let error, _):
            return await receive(error, of: id, subscription)
        case .live:
            attempts = 0
            notBefore = .zero
            subscriptions[id]?.isReplaying = false
        case .message(let message) where subscription.phase == .subscribed && subscription.isReplaying:
            subscriptions[id]?.replayed = message.rev
        default:
            break
        }
        // Frames before `subscribed` belong to an earlier subscription of this socket.
        guard subscriptions[id]?.phase == .subscribed else { return }
        await room?.receive(.frame(event.frame), number: number)
    }

    /// Handles an error of one room (docs/live.md, "Many rooms on one socket").
    private func receive(_ error: BackscrollClientError, of id: String, _ subscription: Subscription) async {
        let room = subscription.room
        switch error.code {
        case "already_subscribed" where hasFollowed:
            // `mine` has subscribed to it since it was unsubscribed from.
            if let socket { await replace(id, on: socket) }
        case "already_subscribed", "not_subscribed", "unknown_type", "invalid_field":
            break
        case "too_many_subscriptions" where await makeSpace(for: id, subscription):
            break
        case "cursor_unknown":
            subscriptions[id] = nil
            await room?.receive(.frame(.init(.error(code: error.code), room: id)), number: subscription.number)
        case "unavailable", "overloaded", "rate_limited", "internal_error":
            subscriptions[id] = nil
            let pause = error.retryAfter ?? 0
            Task { [options] in
                try? await options.clock.sleep(.seconds(pause))
                await room?.receive(.disconnected, number: subscription.number)
            }
        default:
            subscriptions[id] = nil
            await room?.end(error)
        }
    }

    /// Handles the end of the socket (docs/live.md, "Ends").
    private func socketEnded(code: Int, reason: String, _ lastError: BackscrollClientError?) async {
        let ended = subscriptions.filter { $0.value.phase != .wanted }
        let inbox = following?.isRequested == true ? following?.inbox : nil
        following?.isRequested = false
        following?.inherited = []
        following?.givenUp = []
        for id in ended.keys { subscriptions[id] = nil }
        let error =
            lastError
            ?? BackscrollClientError(
                ofSocket: reason.isEmpty ? "closed_\(code)" : reason, message: "The socket closed.")
        switch (code, user) {
        case (4403, _), (4404, _), (4400, _), (4401, .name):
            for subscription in ended.values { await subscription.room?.end(error) }
            await inbox?.end(error)
            return
        case (4401, .token):
            token = nil
        default:
            break
        }
        if let seconds = error.retryAfter { notBefore = options.clock.elapsed() + .seconds(seconds) }
        await inbox?.disconnected()
        for (id, subscription) in ended where !resume(id, subscription) {
            await subscription.room?.receive(.disconnected, number: subscription.number)
        }
    }

    /// Continues a replay that has brought messages on the next socket, without a pause for its failures. Otherwise each
    /// part of a long replay on a bad network would wait longer than the one before. Returns false for other ends.
    private func resume(_ id: String, _ subscription: Subscription) -> Bool {
        guard let rev = subscription.replayed, rev > subscription.since, subscription.isReplaying, !isSuspended,
            !isClosed,
            subscription.room != nil, subscriptions[id] == nil
        else { return false }
        attempts = 0
        var next = Subscription(
            room: subscription.room, number: subscription.number, since: rev, epoch: subscription.epoch)
        next.isResuming = true
        subscriptions[id] = next
        return true
    }

    /// Tells rooms whose replay cannot be continued now that their socket has ended.
    private func endResuming() async {
        for (id, subscription) in subscriptions where subscription.isResuming {
            // The room may have been closed, or opened again, meanwhile.
            guard subscriptions[id]?.isResuming == true else { continue }
            subscriptions[id] = nil
            await subscription.room?.receive(.disconnected, number: subscription.number)
        }
    }

    /// Handles a failed attempt to connect. If further attempts cannot succeed, the rooms and the inbox end.
    private func connectingFailed(_ error: BackscrollClientError) async {
        if let seconds = error.retryAfter { notBefore = options.clock.elapsed() + .seconds(seconds) }
        if error.status == 401, case .token = user { token = nil }
        let isFinal = error.code == BackscrollClientError.invalidServer || error.code == "banned"
        guard isFinal else {
            await endResuming()
            return await following?.inbox?.connectionFailed() ?? ()
        }
        let rooms = subscriptions.values.map(\.room)
        subscriptions = [:]
        for room in rooms { await room?.end(error) }
        await following?.inbox?.end(error)
    }

    // MARK: Upkeep

    private func keepChecking(_ socket: any ClientSocket) async {
        while (try? await options.clock.sleep(options.pingInterval)) != nil {
            guard await check(socket) else { return }
        }
    }

    /// Closes a socket that does not answer a ping in time.
    @discardableResult
    nonisolated func check(_ socket: any ClientSocket) async -> Bool {
        await withTaskGroup(of: Bool.self) { [options] group in
            group.addTask {
                await socket.ping()
                return true
            }
            group.addTask {
                try? await options.clock.sleep(options.pongTimeout)
                return false
            }
            let hasAnswered = await group.next() ?? true
            // This ends the ping as well.
            if !hasAnswered { await socket.close(code: 1001) }
            group.cancelAll()
            return hasAnswered
        }
    }

    /// Sends a new token before the old one expires, so that the socket stays open.
    private func keepRenewing(_ socket: any ClientSocket) async {
        while let expiry = token?.claims.expiry {
            let left = Double(expiry) - Double(options.clock.milliseconds()) / 1000
            let wait = max(left - options.renewalMargin.inSeconds, left * 0.75, 1)
            do { try await options.clock.sleep(.seconds(wait)) } catch { return }
            if let text = try? await renewedToken() { await socket.send(ClientText.token(text)) }
        }
    }
}
