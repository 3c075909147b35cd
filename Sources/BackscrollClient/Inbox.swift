import BackscrollTimeline
import Wire

/// The user's rooms: those that the user is a member of, latest activity first, each with what is unread and its newest
/// message. ``BackscrollClient/rooms`` has it.
///
/// ```swift
/// let inbox = try await client.rooms.open()
/// for await change in inbox.changes { list.apply(change) }
/// ```
///
/// Opening it loads the list and keeps it current on the client's one socket. With a store it first shows the list as it
/// was, also offline. An app that does not open it pays nothing for it; the requests for rooms and members work without it as well. Keep the inbox as long as its screen is open:
/// releasing it ends its subscription.
///
/// While the inbox is open, a room has one subscription, which serves the inbox and the room's screen. Opening the room
/// replaces the inbox's subscription with one that replays what the screen lacks; closing the room leaves that one to the
/// inbox.
///
/// When a call returns, ``view`` and ``list`` have its effect. Errors are the server's.
public actor Inbox {
    /// Time that rooms to look up are collected for, so that a burst of changes causes few requests.
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
    /// The part of the client's store that the list is kept in; nil without a store, or if it has failed.
    var storage: InboxStorage?
    /// The task that reads the stored list.
    private var restoring: Task<Void, Never>?
    /// True while a task waits to write the list.
    var isSaveScheduled = false
    private var isConnected = false
    /// True once the list has been loaded on this socket.
    private var isCurrent = false
    /// True once an answer of the list is shown.
    private var hasAnswer = false
    private var failure: BackscrollClientError?
    private var failures = 0
    /// The task that loads the list.
    private var listing: Task<Void, Never>?
    private var listings = 0
    /// The task that looks up rooms.
    private var lookUps: Task<Void, Never>?
    private(set) var version = 1
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

    /// The changes of the list, from now on. The first one has all rooms.
    ///
    /// Each loop over it gets its own changes, and never more than one behind what is shown: a slow loop gets larger
    /// ones. It ends when the inbox is closed or has ended, and when its task is cancelled.
    public nonisolated var changes: InboxChanges { InboxChanges(inbox: self) }

    /// Calls `body` on the main actor with each change, the first time with all rooms. It keeps the inbox.
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

    /// Loads the list and follows the user's rooms from there on. Returns when the stored list or the server's first
    /// answer, up to 200 rooms, is shown; further ones follow (``InboxView/isLive``).
    ///
    /// - Returns: the inbox.
    /// - Throws: the server's refusal, such as `banned`; a temporary error after ``ClientOptions/openingFailures``
    ///   failures. After a temporary error an inbox that is kept goes on trying.
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
            if let failure, !failure.isTemporary || failures >= options.openingFailures { throw failure }
            await waitForVersion(after: version)
            if Task.isCancelled { throw .isCancelled }
        }
        await publish()
        return self
    }

    /// Ends the subscription to the user's rooms, the changes and the calls that wait. Rooms that are open stay so.
    public func close() async {
        await end(.isClosed)
    }

    /// Ends the inbox for a reason that does not pass.
    func end(_ error: BackscrollClientError) async {
        guard ending == nil else { return }
        ending = error
        listing?.cancel()
        lookUps?.cancel()
        changed()
        await publish()
        // A task of its own: a caller that is cancelled must not stop the write.
        await Task { await save() }.value
        await client.forget(self)
    }

    func checkOpen() throws(BackscrollClientError) {
        if let ending { throw ending }
    }

    // MARK: What the client tells

    /// Takes a new socket, before the user's rooms are subscribed to.
    func willConnect() {
        rooms?.connected()
    }

    /// Takes that the user's rooms have been subscribed to, so that no change is missed after the list.
    func connected() {
        isConnected = true
        startListing()
    }

    /// Takes the end of the socket. A list that is being loaded shows what it brings all the same.
    func disconnected() {
        guard isConnected else { return }
        isConnected = false
        isCurrent = false
        changed()
        publishSoon()
    }

    /// Takes an attempt to connect in vain. The list may load all the same.
    func connectionFailed(_ error: BackscrollClientError) {
        if !hasAnswer, listing == nil { startListing() }
    }

    /// Takes a frame of one of the socket's rooms.
    ///
    /// - Parameter since: The position of the room's own subscription, which has a replay; nil for the user's own rooms.
    func take(_ event: ServerEvent, since: Int64?) {
        guard rooms != nil, ending == nil else { return }
        switch event {
        case .subscribed(let room, _, let rev, let epoch):
            // Another history has other rooms.
            guard rooms!.takeStart(of: room, after: since ?? rev ?? 0, epoch: epoch) else { return startListing() }
        case .message(let message): rooms!.take(message)
        case .read(let room, let user, let seq) where user == rooms!.me: rooms!.takeRead(room, upTo: seq)
        case .error(let error, let room?) where Self.departures.contains(error.code): rooms!.remove(room)
        default: return
        }
        changed()
        publishSoon()
        lookUpSoon()
    }

    /// Takes a room as a request has left it, and shows it.
    func takeAnswer(_ room: RoomSummary) async {
        guard rooms != nil else { return }
        rooms!.put(room, at: options.clock.milliseconds())
        if room.head > 0, rooms!.room(room.id)?.lastMessage == nil, room.role != nil {
            await lookUp(room.id)
            return
        }
        changed()
        await publish()
    }

    /// Drops a room that the user has left, and shows the others.
    func takeDeparture(_ id: String) async {
        rooms?.remove(id)
        changed()
        await publish()
    }

    /// Returns true if the user is a member of the room, as far as the list knows.
    func lists(_ id: String) -> Bool { rooms?.room(id) != nil }

    /// Returns the rooms, oldest activity first.
    func oldestRooms() -> [String] { rooms?.oldest() ?? [] }

    /// The codes of errors that take a room from the list.
    private static let departures: Set<String> = [
        "not_a_member", "room_not_found", "room_not_allowed", "banned", "room_deleted",
    ]

    /// Shows the list that was stored, if there is one.
    private func restore() async {
        guard let stored = await loadStored(), ending == nil else { return }
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
                    guard await take(answer, listings) else { return }
                case .failure(let error):
                    failures += 1
                    guard await take(error, listings) else { return }
                    let pause = error.retryAfter ?? options.pause(afterFailures: failures)
                    do { try await options.clock.sleep(.seconds(pause)) } catch { return }
                }
            }
        }
    }

    /// Takes an answer of the list. Returns true to ask for the next one.
    private func take(_ answer: RoomAnswer, _ number: Int) async -> Bool {
        guard number == listings, ending == nil, rooms != nil else { return false }
        let goesOn = rooms!.takeAnswer(answer.rooms) && answer.cursor != nil
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

    /// Takes the failure of an answer. Returns true to try again.
    private func take(_ error: BackscrollClientError, _ number: Int) async -> Bool {
        guard number == listings, ending == nil else { return false }
        failure = error
        failures += 1
        if error.code == "cursor_unknown" {
            // The history has changed between two answers.
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
        guard lookUps == nil, listing == nil, rooms?.stale.isEmpty == false else { return }
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

    /// Asks the server for a room, and shows it. Returns an error that may pass.
    @discardableResult
    func lookUp(_ id: String) async -> BackscrollClientError? {
        rooms?.beginLookUp(id)
        do throws(BackscrollClientError) {
            let room = try await client.summary(of: id)
            failures = 0
            rooms?.takeLookUp(room, at: options.clock.milliseconds())
        } catch {
            rooms?.failLookUp(id)
            guard !error.isTemporary, error.code != BackscrollClientError.cancelled else { return error }
            rooms?.remove(id)
        }
        changed()
        await publish()
        return nil
    }

    /// Asks the server for a room's title and visibility, of which no frame tells, and shows them. A failure changes
    /// nothing: the next list has them.
    func refresh(_ id: String) async {
        guard lists(id), ending == nil, let room = try? await client.settings(of: id) else { return }
        guard rooms?.takeSettings(room) == true else { return }
        changed()
        await publish()
    }

    // MARK: Publishing

    private func changed() {
        version += 1
        saveSoon()
        let waiting = waiters.values
        waiters = [:]
        for waiter in waiting { waiter.resume() }
    }

    /// Waits for a later version, the end, or the task's cancellation.
    private func waitForVersion(after version: Int) async {
        lastWaiter += 1
        let number = lastWaiter
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard self.version <= version, ending == nil, !Task.isCancelled else { return continuation.resume() }
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
        while self.version <= version {
            if ending != nil || Task.isCancelled { return nil }
            await waitForVersion(after: version)
        }
        return state
    }

    private var state: InboxState { InboxState(version: version, view: view, ending: ending) }

    /// Shows the present state on the main actor.
    private func publish() async {
        await list.show(state)
    }

    /// Shows the present state soon. Frames that come until then are shown with it.
    private func publishSoon() {
        guard !isPublishing else { return }
        isPublishing = true
        Task {
            await Task.yield()
            isPublishing = false
            await publish()
        }
    }
}

/// An answer of the list of rooms.
struct RoomAnswer: Sendable {
    var rooms: [RoomSummary]
    /// The place of the next answer; nil at the end.
    var cursor: String?
}
