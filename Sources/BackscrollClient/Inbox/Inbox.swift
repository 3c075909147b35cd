/// The list of the rooms that the user is a member of, latest activity first, each with its unread count and its newest
/// message. Get it from ``BackscrollClient/rooms``.
///
/// ```swift
/// let inbox = try await client.rooms.open()
/// for await change in inbox.changes { list.apply(change) }
/// ```
///
/// Opening it loads the list and keeps it current on the client's one socket. With a store it first shows the stored
/// list, also offline. Requests for rooms and members work without opening it. Keep the inbox as long as its screen is
/// open: releasing it ends its subscription.
///
/// While the inbox is open, a room has one subscription, which serves the inbox and the room's screen. Opening the room
/// replaces that subscription with one that replays the changes that the screen lacks. Closing the room leaves the new
/// subscription to the inbox.
///
/// When a call returns, ``view`` and ``list`` show its effect. Errors are the server's.
public actor Inbox {
    /// Time for which rooms to look up are collected, so that a burst of changes causes few requests.
    static let lookUpDelay = Duration.milliseconds(250)

    /// The state for SwiftUI, on the main actor.
    public nonisolated let list: InboxList
    /// The error that ended the inbox, such as `banned`; nil while it may be used.
    public private(set) var ending: BackscrollClientError?

    nonisolated let client: BackscrollClient
    nonisolated let number: Int
    nonisolated let options: ClientOptions
    /// The rooms; nil until the inbox is opened.
    var rooms: RoomList?
    /// The stored list; nil without a store, or after the store has failed.
    var storage: InboxStorage?
    /// The task that reads the stored list.
    private var restoring: Task<Void, Never>?
    /// True while a task waits to write the list.
    var isSaveScheduled = false
    /// The error because of which the stored list lacks changes; nil while it has them, and without a store. After
    /// `store_unavailable` the inbox tries again by itself.
    public internal(set) var storeFailure: BackscrollClientError?
    /// Number of failures of the store in a row.
    var storeFailures = 0
    /// The pause before the store is tried again.
    var storeRetry: Task<Void, Never>?
    private var isConnected = false
    /// True once the list has been loaded on this socket.
    private var isCurrent = false
    /// True once the stored list, or a part of the server's, is shown.
    private var hasAnswer = false
    private var failure: BackscrollClientError?
    private var failures = 0
    /// The task that loads the list.
    private var listing: Task<Void, Never>?
    private var listings = 0
    /// The task that looks up rooms.
    private var lookUps: Task<Void, Never>?
    private(set) var version = 1
    /// The version that was shown last. Loops over ``changes`` wait for a later one.
    private var shownVersion = 1
    /// The time at which it was shown.
    private var shownAt: ContinuousClock.Instant?
    private var isPublishing = false
    private var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastWaiter = 0

    init(client: BackscrollClient, number: Int) {
        self.client = client
        self.number = number
        options = client.options
        list = InboxList()
    }

    deinit {
        listing?.cancel()
        lookUps?.cancel()
        Task { [client, number] in await client.unfollow(number) }
    }

    // MARK: What is shown

    /// The rooms now.
    public var view: InboxView {
        InboxView(
            rooms: rooms?.rooms ?? [], isListed: hasAnswer, isLive: isConnected && isCurrent,
            hasMore: rooms?.hasMore ?? false)
    }

    /// The changes of the list, from now on. The first change inserts all rooms.
    ///
    /// Each loop gets its own changes. A slow loop gets fewer and larger ones, so it never falls behind. The sequence
    /// ends when the inbox is closed or has ended, and when the task is cancelled.
    public nonisolated var changes: InboxChanges { InboxChanges(inbox: self) }

    /// Calls `body` on the main actor with each change; the first one inserts all rooms. The task keeps the inbox.
    ///
    /// - Returns: a task that ends with the inbox; cancel it to end the calls.
    @discardableResult
    public nonisolated func onChange(_ body: @escaping @MainActor @Sendable (InboxChange) -> Void) -> Task<Void, Never>
    {
        Task { @MainActor in
            for await change in changes { body(change) }
        }
    }

    // MARK: Opening and closing

    /// Loads the list and keeps it current. Returns when the stored list, or the server's first 200 rooms, are shown.
    /// Further rooms follow; ``InboxView/isLive`` is true when the list is complete.
    ///
    /// - Returns: the inbox.
    /// - Throws: the server's refusal, such as `banned`; a temporary error after ``ClientOptions/openingFailures``
    ///   failures. After a temporary error the inbox goes on trying as long as the app keeps it.
    @discardableResult
    public func open() async throws(BackscrollClientError) -> Inbox {
        try checkOpen()
        if rooms == nil {
            let me = try await client.userID()
            if rooms == nil {
                rooms = RoomList(me: me, limit: options.inboxRooms)
                restoring = Task { await restore() }
            }
        }
        await restoring?.value
        try checkOpen()
        failures = 0
        failure = nil
        await client.follow(self)
        if !hasAnswer, isConnected, listing == nil { startListing() }
        while !hasAnswer {
            try checkOpen()
            if let failure, !failure.isWorthRepeating || failures >= options.openingFailures { throw failure }
            let seen = version
            await wait { $0.version <= seen }
            if Task.isCancelled { throw .isCancelled }
        }
        await publish()
        return self
    }

    /// Ends the subscription to the user's rooms, the changes and the calls that wait. Open rooms stay open.
    public func close() async {
        await end(.isClosed)
    }

    /// Ends the inbox for a permanent reason.
    func end(_ error: BackscrollClientError) async {
        guard ending == nil else { return }
        ending = error
        listing?.cancel()
        lookUps?.cancel()
        changed()
        await publish()
        // The write has its own task, so that cancelling the caller does not stop it.
        await Task { await save() }.value
        await client.forget(self)
    }

    func checkOpen() throws(BackscrollClientError) {
        if let ending { throw ending }
    }

    // MARK: Events of the client

    /// Prepares for a new socket, before the client subscribes to the user's rooms.
    func willConnect() {
        rooms?.connected()
    }

    /// Loads the list, now that the client has subscribed to the user's rooms. In this order no change is missed.
    func connected() {
        isConnected = true
        startListing()
    }

    /// Handles the end of the socket. A list that is being loaded continues to load.
    func disconnected() {
        guard isConnected else { return }
        isConnected = false
        isCurrent = false
        changed()
        publishSoon()
    }

    /// Handles a failed attempt to connect. Requests may work all the same, so the list is loaded if none is shown.
    func connectionFailed() {
        if !hasAnswer, listing == nil { startListing() }
    }

    /// Handles a frame of one of the socket's rooms.
    ///
    /// - Parameter since: The position of the room's own subscription, which has a replay; nil for the user's own
    ///   rooms.
    func receive(_ event: ServerEvent, since: Int64?) {
        guard rooms != nil, ending == nil else { return }
        switch event {
        case .subscribed(let room, _, let rev, let epoch):
            // Another history has other rooms.
            guard rooms!.recordStart(of: room, after: since ?? rev ?? 0, epoch: epoch) else { return startListing() }
        case .message(let message): rooms!.receive(message)
        case .read(let room, let user, let seq) where user == rooms!.me: rooms!.moveMark(room, upTo: seq)
        case .notify(let room, let settings): rooms!.setNotify(room, settings)
        case .error(let error, let room?) where error.endsAccess: rooms!.remove(room)
        default: return
        }
        changed()
        publishSoon()
        lookUpSoon()
    }

    /// Shows a room from the answer to a request.
    func put(_ room: RoomSummary) async {
        guard rooms != nil else { return }
        rooms!.put(room, at: options.clock.milliseconds())
        if room.head > 0, rooms!.room(room.id)?.lastMessage == nil, room.role != nil {
            await lookUp(room.id)
            return
        }
        changed()
        await publish()
    }

    /// Shows a room's settings for what may disturb.
    func take(_ settings: NotifySettings, of id: String) async {
        rooms?.setNotify(id, settings)
        changed()
        await publish()
    }

    /// Takes the blocked users, whose mentions do not count.
    func setBlocked(_ users: BlockedUsers) {
        rooms?.setBlocked(users)
        lookUpSoon()
    }

    /// Removes a room that the user has left.
    func removeLeft(_ id: String) async {
        rooms?.remove(id)
        changed()
        await publish()
    }

    /// Returns true if the user is a member of the room, as far as the list knows.
    func lists(_ id: String) -> Bool { rooms?.room(id) != nil }

    /// Returns the rooms, oldest activity first.
    func oldestRooms() -> [String] { rooms?.oldest() ?? [] }

    /// Shows the stored list, if there is one.
    private func restore() async {
        guard let stored = await loadStored(), ending == nil else { return }
        show(stored)
    }

    /// Shows the stored list, unless a part of the server's is shown.
    func show(_ stored: [StoredInboxRoom]) {
        guard !hasAnswer else { return }
        rooms?.restore(stored)
        hasAnswer = true
        changed()
    }

    // MARK: The list

    private func startListing() {
        guard rooms != nil, ending == nil else { return }
        listing?.cancel()
        listings += 1
        rooms!.beginListing()
        listing = Task { [weak self, client, options, listings] in
            var cursor: String?
            var failures = 0
            while true {
                let result = await Result { () async throws(BackscrollClientError) in
                    try await client.listRooms(after: cursor)
                }
                guard let self else { return }
                switch result {
                case .success(let answer):
                    failures = 0
                    cursor = answer.cursor
                    guard await addToList(answer, listings) else { return }
                case .failure(let error):
                    failures += 1
                    guard await failListing(error, listings) else { return }
                    let pause = error.retryAfter ?? options.pause(afterFailures: failures)
                    do { try await options.clock.sleep(.seconds(pause)) } catch { return }
                }
            }
        }
    }

    /// Adds a part of the list. Returns true to request the next part.
    private func addToList(_ answer: RoomAnswer, _ number: Int) async -> Bool {
        guard number == listings, ending == nil, rooms != nil else { return false }
        let goesOn = rooms!.add(answer.rooms) && answer.cursor != nil
        hasAnswer = true
        if !goesOn {
            rooms!.endListing(hasMore: answer.cursor != nil)
            isCurrent = isConnected
            listing = nil
            if isCurrent { await client.isFollowed() }
            lookUpSoon()
        }
        changed()
        await publish()
        return goesOn
    }

    /// Handles a failed request for the list. Returns true to try again.
    private func failListing(_ error: BackscrollClientError, _ number: Int) async -> Bool {
        guard number == listings, ending == nil else { return false }
        failure = error
        failures += 1
        if error.code == "cursor_unknown" {
            // The history has changed between two parts.
            startListing()
            return false
        }
        changed()
        if error.isTemporary { return true }
        rooms?.abandonListing()
        listing = nil
        if error.code == "banned" { await end(error) }
        return false
    }

    // MARK: Looking up rooms

    private func lookUpSoon() {
        guard lookUps == nil, listing == nil, ending == nil, rooms?.stale.isEmpty == false else { return }
        lookUps = Task { [weak self, options] in
            try? await options.clock.sleep(Self.lookUpDelay)
            await self?.lookUpStale()
        }
    }

    private func lookUpStale() async {
        var pause: Double?
        while pause == nil, listing == nil, ending == nil, let id = rooms?.stale.first {
            guard let error = await lookUp(id) else { continue }
            failures += 1
            pause = error.retryAfter ?? options.pause(afterFailures: failures)
        }
        if let pause { try? await options.clock.sleep(.seconds(pause)) }
        lookUps = nil
        lookUpSoon()
    }

    /// Loads a room from the server, and shows it. Returns the error if it is temporary.
    @discardableResult
    func lookUp(_ id: String) async -> BackscrollClientError? {
        rooms?.beginLookUp(id)
        do throws(BackscrollClientError) {
            let room = try await client.summary(of: id)
            failures = 0
            rooms?.endLookUp(room, at: options.clock.milliseconds())
        } catch {
            rooms?.failLookUp(id)
            // A closed client has not asked the server, which may still list the room.
            guard !error.isTemporary, error.code != BackscrollClientError.cancelled,
                error.code != BackscrollClientError.closed
            else { return error }
            rooms?.remove(id)
        }
        changed()
        await publish()
        return nil
    }

    /// Loads a room's settings, whose changes no frame reports, and shows them. After a failure they stay
    /// as they are until the list is loaded again.
    func refresh(_ id: String) async {
        guard lists(id), ending == nil, let room = try? await client.settings(of: id) else { return }
        guard rooms?.updateSettings(room) == true else { return }
        changed()
        await publish()
    }

    // MARK: Publishing

    func changed() {
        version += 1
        saveSoon()
        wakeWaiters()
    }

    private func wakeWaiters() {
        let waiting = waiters.values
        waiters = [:]
        for waiter in waiting { waiter.resume() }
    }

    /// Waits for the next change, unless the state is not early, for the end, or for the task's cancellation.
    private func wait(while isEarly: (isolated Inbox) -> Bool) async {
        lastWaiter += 1
        let number = lastWaiter
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard isEarly(self), ending == nil, !Task.isCancelled else { return continuation.resume() }
                waiters[number] = continuation
            }
        } onCancel: {
            Task { await self.wake(number) }
        }
    }

    private func wake(_ number: Int) {
        waiters.removeValue(forKey: number)?.resume()
    }

    /// Waits for a state that is newer than `version`. Returns nil at the end.
    func next(after version: Int) async -> InboxState? {
        while shownVersion <= version {
            if Task.isCancelled { return nil }
            if ending != nil { return self.version > version ? state : nil }
            await wait { $0.shownVersion <= version }
        }
        return state
    }

    private var state: InboxState {
        InboxState(version: version, view: view, storeFailure: storeFailure, ending: ending)
    }

    /// Shows the present state: in ``changes``, and on the main actor.
    private func publish() async {
        shownVersion = version
        shownAt = .now
        wakeWaiters()
        await list.show(state)
    }

    /// Schedules showing the state. Frames that come until then are shown with it.
    func publishSoon() {
        guard !isPublishing else { return }
        isPublishing = true
        Task {
            let pause = Room.showInterval - (shownAt.map { .now - $0 } ?? Room.showInterval)
            if pause > .zero { try? await Task.sleep(for: pause) } else { await Task.yield() }
            isPublishing = false
            await publish()
        }
    }
}

/// A part of the list of rooms, from one answer.
struct RoomAnswer: Sendable {
    var rooms: [RoomSummary]
    /// The cursor of the next part; nil at the end.
    var cursor: String?
}
