import BackscrollTimeline
import Wire

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A client of a Backscroll server, for one user.
///
/// ```swift
/// let client = BackscrollClient(server: url, user: .token { try await backend.chatToken() })
/// let room = try await client.room("lobby").open(at: .read)
/// for await change in room.changes { list.apply(change) }
/// ```
///
/// All open rooms share one WebSocket. The client connects when the first room is opened, comes back after every loss
/// with growing, random pauses, and resumes each room where it was. It disconnects a little after the last room was
/// closed.
public actor BackscrollClient {
    /// The user of a client.
    public enum User: Sendable {
        /// A name, for a server in open mode.
        case name(String)
        /// A closure that returns a new JSON Web Token. It is called before the first request, before a token ends, and
        /// after the server has refused one; never twice at a time.
        case token(@Sendable () async throws -> String)
    }

    let options: ClientOptions
    private let server: Result<ServerAddress, BackscrollClientError>
    private let user: User
    private let transport: any ClientTransport

    private var token: (text: String, claims: TokenClaims)?
    private var renewal: Task<Result<String, BackscrollClientError>, Never>?
    private var isClosed = false

    /// The rooms that have a ``Room``, by id.
    private var rooms: [String: WeakRoom] = [:]
    /// Number of rooms that were made.
    private var roomCount = 0

    // The socket

    private var subscriptions: [String: Subscription] = [:]
    private var socket: (any ClientSocket)?
    /// The task that connects, and reads from the socket.
    private var loop: Task<Void, Never>?
    /// The pause before the next attempt to connect.
    private var pause: Task<Void, Never>?
    /// Number of attempts since the last replay that ended.
    private var attempts = 0
    /// The time before which the server does not want to see the client again.
    private var notBefore = Duration.zero
    /// True if the next attempt need not wait: the first one, or one that a signal asked for.
    private var isHurried = true
    private var isSuspended = false
    private var isInBackground = false
    private var lingering: Task<Void, Never>?

    /// Creates a client. It connects to nothing yet.
    ///
    /// - Parameters:
    ///   - server: The server's URL, `http` or `https`. Calls fail with ``BackscrollClientError/invalidServer`` if it is
    ///     no such URL.
    ///   - user: The user.
    ///   - options: The bounds and the surroundings.
    public init(server: URL, user: User, options: ClientOptions = ClientOptions()) {
        do throws(BackscrollClientError) {
            self.server = .success(try ServerAddress(server))
        } catch {
            self.server = .failure(error)
        }
        self.user = user
        self.options = options
        #if canImport(Glibc)
        transport = options.transport ?? SocketTransport()
        #else
        transport = options.transport ?? URLSessionTransport()
        #endif
    }

    // MARK: Rooms

    /// Returns a room. While a room is kept, the same one is returned again.
    ///
    /// - Throws: `invalid_room` for an id that no room has; an error of the user's token.
    public func room(_ id: String) async throws(BackscrollClientError) -> Room {
        do {
            _ = try RoomID(id)
        } catch {
            throw BackscrollClientError(error)
        }
        let me = try await userID()
        if isClosed { throw .isClosed }
        if let room = rooms[id]?.room { return room }
        roomCount += 1
        let room = Room(id: id, me: me, client: self, generation: roomCount)
        rooms[id] = WeakRoom(room: room)
        return room
    }

    /// Closes all rooms and the socket. Later calls fail with ``BackscrollClientError/closed``.
    public func close() async {
        isClosed = true
        renewal?.cancel()
        for room in rooms.values { await room.room?.close() }
        rooms = [:]
        subscriptions = [:]
        lingering?.cancel()
        pause?.cancel()
        await socket?.close(code: 1000)
        loop?.cancel()
        await loop?.value
    }

    /// Forgets a room that was closed.
    func leave(_ id: String, number: SubscriptionNumber) async {
        if rooms[id]?.room == nil { rooms[id] = nil }
        guard let subscription = subscriptions[id], subscription.number <= number else { return }
        subscriptions[id] = nil
        if subscription.phase != .wanted { await socket?.send(ClientText.unsubscribe(id)) }
        if subscriptions.isEmpty { lingerUntil { $0.subscriptions.isEmpty } }
    }

    /// Forgets a room that has ended, so that the next call of ``room(_:)`` makes a new one.
    func forget(_ room: Room, number: SubscriptionNumber) async {
        if rooms[room.id]?.room === room { rooms[room.id] = nil }
        await leave(room.id, number: number)
    }

    // MARK: Signals

    /// Tells that the app came to the front. The client connects at once if it waits, else checks the socket.
    public func enterForeground() async {
        isInBackground = false
        isSuspended = false
        for room in rooms.values { await room.room?.setAppActive(true) }
        await networkPathChanged()
    }

    /// Tells that the app went to the background: nothing is marked as read, and the socket closes after
    /// ``ClientOptions/linger``.
    public func enterBackground() async {
        isInBackground = true
        for room in rooms.values { await room.room?.setAppActive(false) }
        lingerUntil { $0.isInBackground }
    }

    /// Tells that the device's network has changed. The client connects at once if it waits, else checks the socket.
    public func networkPathChanged() async {
        if let socket {
            await check(socket)
        } else {
            attempts = 0
            isHurried = true
            pause?.cancel()
            connect()
        }
    }

    private func lingerUntil(_ isOver: @escaping @Sendable (isolated BackscrollClient) -> Bool) {
        lingering?.cancel()
        lingering = Task { [options, weak self] in
            do { try await options.clock.sleep(options.linger) } catch { return }
            await self?.suspend(if: isOver)
        }
    }

    private func suspend(if isOver: (isolated BackscrollClient) -> Bool) async {
        guard isOver(self) else { return }
        isSuspended = isInBackground
        pause?.cancel()
        await socket?.close(code: 1001)
    }

    // MARK: Requests

    /// Sends a request and returns the content of its answer.
    func request(
        _ method: String, _ target: String, body: [UInt8]? = nil, headerFields: [String: String] = [:]
    ) async throws(BackscrollClientError) -> [UInt8] {
        if isClosed { throw .isClosed }
        let server = try server.get()
        var hasRenewed = false
        while true {
            var request = TransportRequest(
                method: method, server: server, target: target, fields: options.headerFields, body: body ?? [],
                subprotocols: [], timeout: options.requestTimeout)
            request.fields.merge(headerFields) { $1 }
            if body != nil { request.fields["Content-Type"] = "application/json" }
            let token = try await authorize(&request)
            if let token { request.fields["Authorization"] = "Bearer \(token)" }
            let response: TransportResponse
            do {
                response = try await transport.send(request)
            } catch {
                throw BackscrollClientError(error)
            }
            if (200...299).contains(response.status) { return response.body }
            let error = BackscrollClientError(response)
            guard let token, error.status == 401, !hasRenewed else { throw error }
            hasRenewed = true
            forgetToken(token)
        }
    }

    /// Sends a request and reads the object in its answer.
    func object(
        _ method: String, _ target: String, body: [UInt8]? = nil, headerFields: [String: String] = [:]
    ) async throws(BackscrollClientError) -> JSONFields {
        let content = try await request(method, target, body: body, headerFields: headerFields)
        do {
            return try JSONFields(content)
        } catch {
            throw BackscrollClientError(
                code: BackscrollClientError.invalidAnswer, message: "The answer cannot be read: \(error.detail)")
        }
    }

    /// Sends a request and reads the message in its answer.
    func message(
        _ method: String, _ target: String, body: [UInt8]? = nil, headerFields: [String: String] = [:]
    ) async throws(BackscrollClientError) -> ChatMessage {
        let content = try await request(method, target, body: body, headerFields: headerFields)
        do {
            return ChatMessage(try Message(decoding: content))
        } catch {
            throw BackscrollClientError(
                code: BackscrollClientError.invalidAnswer, message: "The answer cannot be read: \(error.detail)")
        }
    }

    func page(of room: String, _ query: RoomMachine.Query) async throws(BackscrollClientError) -> RoomMachine.Page {
        let fields = try await object("GET", "/v1/rooms/\(room)/messages?\(query)")
        let integers = fields.integers
        do {
            guard let hasBefore = fields.booleans["has_before"], let hasAfter = fields.booleans["has_after"],
                let head = integers["head"], let rev = integers["rev"], let epoch = fields.strings["epoch"]
            else {
                throw BackscrollClientError(
                    code: BackscrollClientError.invalidAnswer, message: "The page lacks a field.")
            }
            return try RoomMachine.Page(
                messages: fields.messages, hasBefore: hasBefore, hasAfter: hasAfter, head: head, rev: rev, epoch: epoch,
                read: integers["read"], unread: integers["unread"], firstUnread: integers["first_unread"])
        } catch let error as BackscrollClientError {
            throw error
        } catch {
            throw BackscrollClientError(
                code: BackscrollClientError.invalidAnswer, message: "The page cannot be read: \(error)")
        }
    }

    // MARK: The user

    /// Returns the user's id.
    public func userID() async throws(BackscrollClientError) -> String {
        switch user {
        case .name(let name): return name
        case .token:
            _ = try await currentToken()
            guard let token else { throw .isClosed }
            return token.claims.user
        }
    }

    /// Adds the user's name to a request in open mode. Returns the token otherwise.
    private func authorize(_ request: inout TransportRequest) async throws(BackscrollClientError) -> String? {
        switch user {
        case .name(let name):
            request.target += (request.target.contains("?") ? "&" : "?") + "user=" + percentEncoded(name)
            return nil
        case .token:
            return try await currentToken()
        }
    }

    /// Returns a token that has not ended, as far as this device's clock tells.
    private func currentToken() async throws(BackscrollClientError) -> String {
        if let token {
            let expiry = token.claims.expiry ?? .max
            if expiry > options.clock.milliseconds() / 1000 { return token.text }
        }
        return try await renewedToken()
    }

    /// Asks for a new token. Calls at the same time share one.
    private func renewedToken() async throws(BackscrollClientError) -> String {
        guard case .token(let make) = user else { throw .isClosed }
        if let renewal { return try await renewal.value.get() }
        let task = Task<Result<String, BackscrollClientError>, Never> {
            do {
                return .success(try await make())
            } catch {
                return .failure(
                    BackscrollClientError(
                        code: BackscrollClientError.tokenUnavailable, message: "The app has no token: \(error)"))
            }
        }
        renewal = task
        let result = await task.value
        renewal = nil
        let text = try result.get()
        guard var claims = TokenClaims(text) else {
            throw BackscrollClientError(
                code: BackscrollClientError.tokenUnavailable,
                message: "The app's token is no JSON Web Token with a `sub`.", status: 401)
        }
        // A new token that has ended already means that this device's clock is wrong. The server tells when it ends.
        if let expiry = claims.expiry, expiry <= options.clock.milliseconds() / 1000 { claims.expiry = nil }
        token = (text, claims)
        return text
    }

    /// Makes the next request ask for a new token, unless another one has already.
    private func forgetToken(_ text: String) {
        if token?.text == text { token = nil }
    }

    // MARK: Subscriptions

    /// Subscribes a room from a position on. The room is told what comes, with this number.
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
        subscription.phase = .requested
        subscriptions[room.id] = subscription
        if hadOne { await socket.send(ClientText.unsubscribe(room.id)) }
        await socket.send(ClientText.subscribe(subscription, to: room.id))
    }

    /// Tells others that the user types.
    func sendTyping(in room: String) async {
        guard subscriptions[room]?.phase == .subscribed else { return }
        await socket?.send(ClientText.typing(room))
    }

    // MARK: The socket

    private func connect() {
        guard loop == nil, mayConnect else { return }
        loop = Task { await run() }
    }

    private var mayConnect: Bool {
        !isClosed && !isSuspended && subscriptions.values.contains { $0.phase == .wanted }
    }

    /// Connects and reads, as long as a room wants it.
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
                await takeFailure(error)
            }
        }
        loop = nil
        // A room may have come while the last socket ended.
        connect()
    }

    /// Waits a random part of a time that doubles with each attempt in vain, and at least as long as the server asked for.
    private func pauseBeforeAttempt() async {
        var seconds = 0.0
        if attempts > 0 {
            let longest = options.longestPause.inSeconds
            let grown = options.firstPause.inSeconds * Double(1 << min(attempts - 1, 20))
            seconds = min(grown, longest) * (0.5 + 0.5 * options.random())
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
        // Not every platform lets a socket have the header.
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
        let upkeep = [Task { await keepChecking(socket) }, Task { await keepRenewing(socket) }]
        for id in subscriptions.keys {
            guard let subscription = subscriptions[id], subscription.phase == .wanted else { continue }
            subscriptions[id]?.phase = .requested
            await socket.send(ClientText.subscribe(subscription, to: id))
        }
        var lastError: BackscrollClientError?
        var end = (code: 1006, reason: "")
        reading: while let event = try? await socket.receive() {
            switch event {
            case .text(let text):
                guard let event = try? ServerEvent(text) else {
                    await socket.close(code: 1007)
                    break reading
                }
                if case .error(let error, nil) = event { lastError = error }
                await take(event)
            case .closed(let code, let reason):
                end = (code, reason)
                break reading
            }
        }
        self.socket = nil
        for task in upkeep { task.cancel() }
        await takeEnd(code: end.code, reason: end.reason, lastError)
    }

    private func take(_ event: ServerEvent) async {
        guard let id = event.room, let subscription = subscriptions[id] else { return }
        let room = subscription.room
        let number = subscription.number
        switch event {
        case .subscribed:
            subscriptions[id]?.phase = .subscribed
            await room?.take(.connected, number: number)
        case .error(let error, _):
            return await take(error, of: id, subscription)
        case .live:
            attempts = 0
            notBefore = .zero
        default:
            break
        }
        // Frames before `subscribed` belong to an earlier subscription of this socket.
        guard subscriptions[id]?.phase == .subscribed else { return }
        await room?.take(.frame(event.frame), number: number)
    }

    /// Takes an error of one room (docs/live.md, "Many rooms on one socket").
    private func take(_ error: BackscrollClientError, of id: String, _ subscription: Subscription) async {
        let room = subscription.room
        switch error.code {
        case "already_subscribed", "not_subscribed", "unknown_type", "invalid_field":
            break
        case "cursor_unknown":
            subscriptions[id] = nil
            await room?.take(.frame(.init(.error(code: error.code), room: id)), number: subscription.number)
        case "unavailable", "overloaded", "rate_limited", "internal_error":
            subscriptions[id] = nil
            let pause = error.retryAfter ?? 0
            Task { [options] in
                try? await options.clock.sleep(.seconds(pause))
                await room?.take(.disconnected, number: subscription.number)
            }
        default:
            subscriptions[id] = nil
            await room?.end(error)
        }
    }

    /// Takes the end of the socket (docs/live.md, "Ends").
    private func takeEnd(code: Int, reason: String, _ lastError: BackscrollClientError?) async {
        let ended = subscriptions.filter { $0.value.phase != .wanted }
        for id in ended.keys { subscriptions[id] = nil }
        let error =
            lastError
            ?? BackscrollClientError(code: reason.isEmpty ? "closed_\(code)" : reason, message: "The socket closed.")
        switch (code, user) {
        case (4403, _), (4404, _), (4400, _), (4401, .name):
            for subscription in ended.values { await subscription.room?.end(error) }
            return
        case (4401, .token):
            token = nil
        default:
            break
        }
        if let seconds = error.retryAfter { notBefore = options.clock.elapsed() + .seconds(seconds) }
        for subscription in ended.values { await subscription.room?.take(.disconnected, number: subscription.number) }
    }

    /// Takes an attempt in vain. Rooms end if a further one cannot help.
    private func takeFailure(_ error: BackscrollClientError) async {
        if let seconds = error.retryAfter { notBefore = options.clock.elapsed() + .seconds(seconds) }
        if error.status == 401, case .token = user { token = nil }
        let isFinal = error.code == BackscrollClientError.invalidServer || error.code == "banned"
        guard isFinal else { return }
        let rooms = subscriptions.values.map(\.room)
        subscriptions = [:]
        for room in rooms { await room?.end(error) }
    }

    // MARK: Upkeep

    private func keepChecking(_ socket: any ClientSocket) async {
        while (try? await options.clock.sleep(options.pingInterval)) != nil {
            guard await check(socket) else { return }
        }
    }

    /// Closes a socket that does not answer a ping in time.
    @discardableResult
    private nonisolated func check(_ socket: any ClientSocket) async -> Bool {
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

    /// Sends a new token before the old one ends, so that the socket stays open.
    private func keepRenewing(_ socket: any ClientSocket) async {
        while let expiry = token?.claims.expiry {
            let left = Double(expiry) - Double(options.clock.milliseconds()) / 1000
            let wait = max(left - options.renewalMargin.inSeconds, left * 0.75, 1)
            do { try await options.clock.sleep(.seconds(wait)) } catch { return }
            if let text = try? await renewedToken() { await socket.send(ClientText.token(text)) }
        }
    }
}

/// A room that its user keeps.
private struct WeakRoom {
    weak var room: Room?
}
