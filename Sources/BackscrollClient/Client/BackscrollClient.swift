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
/// All open rooms and the inbox share one WebSocket. The client connects when the first of them is opened. After every
/// lost connection it reconnects with growing, random pauses, and resumes each room where it was. It disconnects
/// ``ClientOptions/linger`` after the last of them was closed.
public actor BackscrollClient {
    /// The user of a client.
    public enum User: Sendable {
        /// A name, for a server in open mode.
        case name(String)
        /// A closure that returns a new JSON Web Token. It is called before the first request, before a token expires,
        /// and after the server has refused one; never twice at a time. The user of the first token is the client's:
        /// a token of another user fails with ``BackscrollClientError/otherUser``.
        case token(@Sendable () async throws -> String)
    }

    let options: ClientOptions
    let server: Result<ServerAddress, BackscrollClientError>
    let user: User
    let transport: any ClientTransport
    let store: (any ClientStore)?

    var token: (text: String, claims: TokenClaims)?
    /// The user of the first token. Tokens of other users are refused.
    var pinnedUser: String?
    var renewal: Task<Result<String, BackscrollClientError>, Never>?
    var isClosed = false

    /// The rooms that have a ``Room``, by their ids.
    var openRooms: [String: WeakRoom] = [:]
    /// Number of rooms and inboxes that were created.
    private var roomCount = 0
    private weak var inbox: Inbox?

    // The blocked users

    /// The blocked users; nil until ``followBlocks()`` has loaded them.
    var blocks: BlockedUsers?
    /// Number of changes of the blocked users that were told.
    var blockChanges = 0
    var blockListeners: [Int: AsyncStream<[String]>.Continuation] = [:]
    /// Number of listeners that there have been.
    var blockListenerCount = 0

    // The socket

    var subscriptions: [String: Subscription] = [:]
    /// The subscription to the user's own rooms; nil without an open inbox.
    var following: Following?
    /// True once the client has subscribed to the user's own rooms on this socket.
    var hasFollowed = false
    /// Number of ``Subscription/Marks`` that were created.
    var markCount = 0
    var socket: (any ClientSocket)?
    /// The task that connects, and reads from the socket.
    var loop: Task<Void, Never>?
    /// The pause before the next attempt to connect.
    var pause: Task<Void, Never>?
    /// Number of attempts to connect since a replay last ended.
    var attempts = 0
    /// The time until which the server asked the client to wait (`retry_after`).
    var notBefore = Duration.zero
    /// True if the next attempt need not wait: for the first one, and after a signal of the app.
    var isHurried = true
    var isSuspended = false
    var isInBackground = false
    /// The offsets of the user's time zone.
    var utcOffsets: UTCOffsets
    private var lingering: Task<Void, Never>?

    /// Creates a client. It does not connect yet.
    ///
    /// - Parameters:
    ///   - server: The server's `http` or `https` URL. With any other URL, calls fail with
    ///     ``BackscrollClientError/invalidServer``.
    ///   - user: The user.
    ///   - store: The store, such as `.file(path)` of the product `BackscrollClientStore`; nil to keep nothing.
    ///   - options: The bounds, the clock and the network.
    public init(
        server: URL, user: User, store: (any ClientStore)? = nil, options: ClientOptions = ClientOptions()
    ) {
        self.store = store
        do throws(BackscrollClientError) {
            self.server = .success(try ServerAddress(server))
        } catch {
            self.server = .failure(error)
        }
        self.user = user
        self.options = options
        utcOffsets = UTCOffsets(of: options.timeZone ?? .current, at: options.clock.milliseconds())
        #if canImport(Glibc)
        transport = options.transport ?? SocketTransport()
        #else
        transport = options.transport ?? URLSessionTransport()
        #endif
    }

    // MARK: Rooms

    /// Returns a room. As long as the app keeps it, later calls return the same one.
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
        if let room = openRooms[id]?.room { return room }
        roomCount += 1
        let room = Room(
            id: id, me: me, client: self, generation: roomCount, utcOffsets: utcOffsets,
            storage: store.flatMap { store in
                account(of: me).map { RoomStore(store: store, key: StoredRoomKey(account: $0, room: id)) }
            }, blocked: blockedUsers ?? [])
        openRooms[id] = WeakRoom(room: room)
        return room
    }

    /// The list of the user's rooms. As long as the app keeps it, this is the same inbox. It loads nothing until it is
    /// opened.
    public var rooms: Inbox {
        if let inbox { return inbox }
        roomCount += 1
        let made = Inbox(client: self, number: roomCount)
        inbox = made
        return made
    }

    /// Closes all rooms, the inbox and the socket. Later calls fail with ``BackscrollClientError/closed``.
    public func close() async {
        isClosed = true
        renewal?.cancel()
        await inbox?.close()
        for listener in blockListeners.values { listener.finish() }
        for room in openRooms.values { await room.room?.close() }
        openRooms = [:]
        subscriptions = [:]
        lingering?.cancel()
        pause?.cancel()
        await socket?.close(code: 1000)
        loop?.cancel()
        await loop?.value
    }

    /// Forgets a room that has ended, so that the next call of ``room(_:)`` creates a new one.
    func forget(_ room: Room, number: SubscriptionNumber) async {
        if openRooms[room.id]?.room === room { openRooms[room.id] = nil }
        await leave(room.id, number: number)
    }

    /// Forgets an inbox that has ended, so that ``rooms`` creates a new one.
    func forget(_ ended: Inbox) async {
        if inbox === ended { inbox = nil }
        await unfollow(ended.number)
    }

    // MARK: Signals

    /// Tells the client that the app is in the foreground. It checks the socket, or connects at once.
    public func enterForeground() async {
        isInBackground = false
        isSuspended = false
        await timeZoneChanged()
        for room in openRooms.values { await room.room?.setAppActive(true) }
        await networkPathChanged()
    }

    /// Tells the client that the app is in the background. Nothing is marked as read, and the socket closes after
    /// ``ClientOptions/linger``.
    public func enterBackground() async {
        isInBackground = true
        for room in openRooms.values { await room.room?.setAppActive(false) }
        lingerUntil { $0.isInBackground }
    }

    /// Tells the client that the device's network has changed. It checks the socket, or connects at once.
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

    /// Tells the client that the device's time zone may have changed. It moves the day lines of open rooms. "Today" and
    /// "yesterday" are the app's: a day line has its date.
    public func timeZoneChanged() async {
        let offsets = UTCOffsets(of: options.timeZone ?? .current, at: options.clock.milliseconds())
        guard offsets != utcOffsets else { return }
        utcOffsets = offsets
        for room in openRooms.values { await room.room?.setUTCOffsets(offsets) }
    }

    func lingerUntil(_ isOver: @escaping @Sendable (isolated BackscrollClient) -> Bool) {
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
}

/// A weak reference to a room that the app keeps.
struct WeakRoom {
    weak var room: Room?
}
