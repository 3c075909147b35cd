public import BackscrollTimeline
import Wire

/// An open room: what its screen shows, and what the user does there.
///
/// The room hosts a ``RoomMachine``. It loads pages, takes live messages, fills gaps, sends in order and exactly once,
/// and comes back after lost connections, all by the rules in docs/timeline.md. What it shows is in ``changes``, in
/// ``timeline`` for SwiftUI, and in ``view``.
///
/// When a call returns, ``view`` and ``timeline`` have its effect. Cancelling a task ends its wait, not what it began: a
/// message that was sent is still stored. Keep the room as long as its screen is open and its sends are under way;
/// releasing it ends its subscription.
public actor Room {
    /// A place to open a room at, or to go to.
    public enum Place: Hashable, Sendable {
        /// The first message that the user has not read.
        case read
        /// The newest message.
        case newest
        /// The message with this `seq`, or the nearest.
        case seq(Int64)

        /// The same as ``read``.
        public static var unread: Place { .read }

        var inTimeline: RoomMachine.Place {
            switch self {
            case .read: .read
            case .newest: .last
            case .seq(let seq): .seq(seq)
            }
        }
    }

    /// Time between two looks at the clock. The machine's waits are whole seconds.
    static let tick = Duration.milliseconds(500)
    /// Time that read marks are collected for, so that scrolling causes few requests.
    static let markDelay = Duration.milliseconds(300)
    /// Number of sends whose outcome is kept for ``stored(_:)``.
    static let settledSends = 256
    /// Minimum time between two typing notices (docs/live.md).
    static let typingInterval = Duration.seconds(3)

    /// The room's id.
    public nonisolated let id: String
    /// The user's id.
    public nonisolated let userID: String
    /// The state for SwiftUI, on the main actor.
    public nonisolated let timeline: RoomTimeline
    /// The error that ended the room, such as `not_a_member`; nil while it is open.
    public private(set) var ending: BackscrollClientError?
    /// The `seq` up to which other users have read, as far as notices have told.
    public private(set) var readers: [String: Int64] = [:]

    private nonisolated let client: BackscrollClient
    private nonisolated let options: ClientOptions
    /// The number of the last subscription.
    private var subscriptionNumber: SubscriptionNumber
    private var machine: RoomMachine
    /// Number of events that may have changed what is shown.
    private var version = 1
    private var scroll: (target: RoomMachine.ScrollTarget, version: Int)?
    private var isPublishing = false
    private var ticker: Task<Void, Never>?
    private var waiters: [Int: Waiter] = [:]
    private var lastWaiter = 0
    /// The sends that are neither stored nor refused.
    private var unsettled: Set<String> = []
    /// The latest sends that are, oldest first.
    private var settled: [(id: String, outcome: Result<ChatMessage, BackscrollClientError>)] = []
    /// Number of pages that are awaited.
    private var fetches = 0
    private var loadFailure: BackscrollClientError?
    private var openingFailures = 0
    /// Number of jumps that have ended.
    private var endedJumps = 0
    private var mark: Int64 = 0
    private var isMarking = false
    private var typedAt: Duration?
    private var isScreenActive = true
    private var isAppActive = true

    init(id: String, me: String, client: BackscrollClient, generation: Int) {
        self.id = id
        subscriptionNumber = SubscriptionNumber(generation: generation)
        userID = me
        self.client = client
        options = client.options
        machine = RoomMachine(me: me, room: id, limit: options.pageLimit, utcOffset: options.utcOffset)
        timeline = RoomTimeline()
    }

    deinit {
        ticker?.cancel()
        Task { [client, id, number = subscriptionNumber] in await client.leave(id, number: number) }
    }

    // MARK: What is shown

    /// The content of the screen now.
    public var view: RoomView { machine.view }

    /// The changes of what is shown, from now on. The first one has all rows.
    ///
    /// Each loop over it gets its own changes, and never more than one behind what is shown: a slow loop gets larger
    /// ones. It ends when the room is closed or has ended, and when its task is cancelled.
    public nonisolated var changes: RoomChanges { RoomChanges(room: self) }

    /// Calls `body` on the main actor with each change, the first time with all rows. It keeps the room.
    ///
    /// - Returns: a task that ends with the room; cancel it to end the calls.
    @discardableResult
    public nonisolated func onChange(_ body: @escaping @MainActor @Sendable (RoomChange) -> Void) -> Task<Void, Never> {
        Task { @MainActor in
            for await change in changes { body(change) }
        }
    }

    // MARK: Opening, paging, jumping

    /// Shows the room at a place: loads the page around it, and follows the room from there on.
    ///
    /// - Returns: the room.
    /// - Throws: the server's refusal, such as `room_not_found`; a temporary error after
    ///   ``ClientOptions/openingFailures`` failures. After a temporary error a room that is kept goes on trying.
    @discardableResult
    public func open(at place: Place = .read) async throws(BackscrollClientError) -> Room {
        try checkOpen()
        startTicking()
        openingFailures = 0
        loadFailure = nil
        handle(.open(at: place.inTimeline))
        try await wait { room in
            if room.machine.view.phase != .initial { return .success(()) }
            guard let failure = room.loadFailure else { return nil }
            let goesOn = failure.isTemporary && room.openingFailures < room.options.openingFailures
            return goesOn ? nil : .failure(failure)
        }
        await publish()
        return self
    }

    /// Loads the page beyond an edge, unless the room ends there. Call it when the reader comes near that edge.
    ///
    /// - Throws: the error of the last attempt. After a temporary one the room tries again by itself.
    public func load(_ edge: RoomMachine.Edge) async throws(BackscrollClientError) {
        try checkOpen()
        loadFailure = nil
        handle(.near(edge))
        try await wait { room in
            let view = room.machine.view
            switch edge == .before ? view.before : view.after {
            case .loading: return nil
            case .failed: return .failure(room.loadFailure ?? .init(code: "failed", message: "The page did not load."))
            case .idle, .end: return .success(())
            }
        }
        await publish()
    }

    /// Goes to a place. ``RoomChange/scroll`` names the row once it is loaded; then the call returns.
    ///
    /// - Throws: the server's refusal of the page.
    public func jump(to place: Place) async throws(BackscrollClientError) {
        try checkOpen()
        // Without a window there is nothing to go on from.
        if machine.view.phase == .initial {
            try await open(at: place)
            return
        }
        let ended = endedJumps
        loadFailure = nil
        handle(.jump(to: place.inTimeline))
        try await wait { room in
            if room.endedJumps != ended { return .success(()) }
            // A jump is given up when its page is refused, or brings nothing.
            guard let failure = room.loadFailure else { return room.fetches == 0 ? .success(()) : nil }
            return failure.isTemporary ? nil : .failure(failure)
        }
        await publish()
    }

    /// Tells where the reader is. Moves the user's read mark to `lastVisible` while the screen is in front of the user.
    ///
    /// - Parameters:
    ///   - atBottom: True if the end of the list is in sight: new messages then bring the reader along.
    ///   - lastVisible: The `seq` of the last message in sight.
    public func setViewport(atBottom: Bool, lastVisible: Int64?) async {
        handle(.viewport(atBottom: atBottom, lastVisible: lastVisible))
        await publish()
    }

    /// Tells whether the room's screen is in front of the user. It is at the start.
    public func setActive(_ isActive: Bool) async {
        isScreenActive = isActive
        handle(.active(isScreenActive && isAppActive))
        await publish()
    }

    func setAppActive(_ isActive: Bool) async {
        isAppActive = isActive
        handle(.active(isScreenActive && isAppActive))
        await publish()
    }

    // MARK: Sending and changing

    /// Sends a text, and returns the stored message.
    ///
    /// - Throws: as ``send(_:)-(ChatDraft)``.
    @discardableResult
    public func send(_ text: String) async throws(BackscrollClientError) -> ChatMessage {
        try await send(ChatDraft(text))
    }

    /// Sends a message, and returns it once it is stored. It is shown at once.
    ///
    /// Messages are posted one at a time, in the order of the calls. One whose answer is lost, or that the server cannot
    /// take at the moment, is posted again with the same id until it is stored; the server stores it once.
    ///
    /// - Throws: the server's refusal; the message then stays as failed, for ``retry(_:)`` or ``discard(_:)``.
    ///   ``BackscrollClientError/cancelled`` if the task is cancelled: the message is sent all the same.
    @discardableResult
    public func send(_ draft: ChatDraft) async throws(BackscrollClientError) -> ChatMessage {
        try await enqueue(draft)
        return try await stored(draft.clientMessageID)
    }

    /// Sends a message, and returns when it is shown.
    public func enqueue(_ draft: ChatDraft) async throws(BackscrollClientError) {
        try checkOpen()
        startTicking()
        unsettled.insert(draft.clientMessageID)
        handle(.send(draft, at: options.clock.milliseconds()))
        await publish()
    }

    /// Waits until a message that was sent is stored, and returns it.
    ///
    /// - Throws: as ``send(_:)-(ChatDraft)``.
    public func stored(_ id: String) async throws(BackscrollClientError) -> ChatMessage {
        try await wait { room in
            if room.settled.contains(where: { $0.id == id }) { return .success(()) }
            if room.unsettled.contains(id) { return nil }
            return .failure(BackscrollClientError(code: "unknown_send", message: "No send of this room has this id."))
        }
        await publish()
        guard let outcome = settled.last(where: { $0.id == id })?.outcome else { throw .isClosed }
        return try outcome.get()
    }

    /// Posts a failed message again, and returns it once it is stored.
    ///
    /// - Throws: as ``send(_:)-(ChatDraft)``.
    @discardableResult
    public func retry(_ clientMessageID: String) async throws(BackscrollClientError) -> ChatMessage {
        try checkOpen()
        guard case .send(_, .failed)? = row(ofSend: clientMessageID)?.content else {
            throw BackscrollClientError(code: "not_failed", message: "No failed message has this id.")
        }
        unsettled.insert(clientMessageID)
        settled.removeAll { $0.id == clientMessageID }
        handle(.retry(clientMessageID: clientMessageID))
        await publish()
        return try await stored(clientMessageID)
    }

    /// Gives up a failed message.
    public func discard(_ clientMessageID: String) async {
        handle(.discard(clientMessageID: clientMessageID))
        await publish()
    }

    /// Changes the text of an own message, and returns the message as it is then.
    ///
    /// - Parameter rev: The `rev` that the message must have, so that no other change is lost; nil for any.
    @discardableResult
    public func edit(
        _ seq: Int64, text: String, ifRev rev: Int64? = nil
    ) async throws(BackscrollClientError) -> ChatMessage {
        var body: [UInt8] = []
        Edit(text: text).encode(into: &body)
        return try await change(
            "PATCH", "\(seq)", body: body, headerFields: rev.map { ["If-Match": "\"\($0)\""] } ?? [:])
    }

    /// Deletes a message. Its place stays.
    @discardableResult
    public func delete(_ seq: Int64) async throws(BackscrollClientError) -> ChatMessage {
        try await change("DELETE", "\(seq)")
    }

    /// Adds the user's reaction: an emoji or any word of at most 32 bytes.
    @discardableResult
    public func react(to seq: Int64, _ key: String) async throws(BackscrollClientError) -> ChatMessage {
        try await change("PUT", "\(seq)/reactions/\(percentEncoded(key))")
    }

    /// Removes the user's reaction.
    @discardableResult
    public func unreact(to seq: Int64, _ key: String) async throws(BackscrollClientError) -> ChatMessage {
        try await change("DELETE", "\(seq)/reactions/\(percentEncoded(key))")
    }

    /// Tells the others that the user types. Call it with every key: notices go out at most every 3 seconds.
    public func typing() async {
        let now = options.clock.elapsed()
        if let typedAt, now - typedAt < Self.typingInterval { return }
        typedAt = now
        await client.sendTyping(in: id)
    }

    /// Ends the room: its subscription, its changes and the calls that wait. Messages that are not stored are given up.
    public func close() async {
        await end(.isClosed)
    }

    private func change(
        _ method: String, _ target: String, body: [UInt8]? = nil, headerFields: [String: String] = [:]
    ) async throws(BackscrollClientError) -> ChatMessage {
        try checkOpen()
        let message = try await client.message(
            method, "/v1/rooms/\(id)/messages/\(target)", body: body, headerFields: headerFields)
        // The answer is a snapshot and no position: the machine takes it like the answer to a send that it does not await.
        handle(.sent(clientMessageID: "", message))
        await publish()
        return message
    }

    // MARK: Events

    /// Takes what the client tells of the subscription with this number. Earlier ones are silent.
    func take(_ event: RoomMachine.Event, number: SubscriptionNumber) {
        guard number == subscriptionNumber, ending == nil else { return }
        if case .frame(let frame) = event {
            switch frame.content {
            case .message(let message): noteStored(message)
            case .read(let user, let seq) where user != userID: readers[user] = max(seq, readers[user] ?? 0)
            default: break
            }
        }
        handle(event)
        publishSoon()
    }

    /// Ends the room for a reason that does not pass.
    func end(_ error: BackscrollClientError) async {
        guard ending == nil else { return }
        ending = error
        version += 1
        ticker?.cancel()
        wakeWaiters()
        await publish()
        await client.forget(self, number: subscriptionNumber)
    }

    private func handle(_ event: RoomMachine.Event) {
        guard ending == nil else { return }
        let effects = machine.handle(event)
        version += 1
        for effect in effects { carryOut(effect) }
        wakeWaiters()
    }

    private func carryOut(_ effect: RoomMachine.Effect) {
        switch effect {
        case .fetch(let request, let query):
            fetches += 1
            Task { [weak self, client, id] in
                let result = await Result { () async throws(BackscrollClientError) in
                    try await client.page(of: id, query)
                }
                await self?.takePage(result, request: request)
            }
        case .subscribe(let since, let epoch):
            subscriptionNumber.number += 1
            Task { [client, number = subscriptionNumber] in
                await client.subscribe(self, number: number, since: since, epoch: epoch)
            }
        case .post(let draft):
            Task { [weak self, client, id] in
                let result = await Result { () async throws(BackscrollClientError) in
                    try await client.message("POST", "/v1/rooms/\(id)/messages", body: draft.body)
                }
                await self?.takeAnswer(result, to: draft)
            }
        case .markRead(let seq):
            mark = max(mark, seq)
            if !isMarking {
                isMarking = true
                Task { [weak self, options] in
                    try? await options.clock.sleep(Self.markDelay)
                    await self?.sendMark()
                }
            }
        case .scroll(let target):
            scroll = (target, version)
            endedJumps += 1
        }
    }

    private func takePage(_ result: Result<RoomMachine.Page, BackscrollClientError>, request: Int) async {
        fetches -= 1
        switch result {
        case .success(let page):
            for message in page.messages { noteStored(message) }
            handle(.page(request: request, page))
        case .failure(let error):
            loadFailure = error
            openingFailures += 1
            if Self.endings.contains(error.code) { return await end(error) }
            handle(.fetchFailed(request: request, error.failure))
        }
        publishSoon()
    }

    private func takeAnswer(_ result: Result<ChatMessage, BackscrollClientError>, to draft: ChatDraft) {
        switch result {
        case .success(let message):
            noteStored(message)
            handle(.sent(clientMessageID: draft.clientMessageID, message))
        case .failure(let error):
            if !error.isTemporary { settle(draft.clientMessageID, .failure(error)) }
            handle(.sendFailed(clientMessageID: draft.clientMessageID, error.failure))
        }
        publishSoon()
    }

    private func sendMark() async {
        isMarking = false
        // A lost mark does no harm: the next one includes it.
        _ = try? await client.request("PUT", "/v1/rooms/\(id)/read", body: Array(#"{"seq":\#(mark)}"#.utf8))
    }

    /// The codes that end a room for good.
    private static let endings: Set<String> = [
        "not_a_member", "room_not_found", "room_not_allowed", "banned", "room_deleted",
    ]

    private func startTicking() {
        guard ticker == nil else { return }
        ticker = Task { [weak self, options] in
            repeat {
                guard await self?.takeTime() != nil else { return }
            } while (try? await options.clock.sleep(Self.tick)) != nil
        }
    }

    private func takeTime() {
        guard ending == nil else { return }
        let typing = machine.view.typing.count
        let effects = machine.handle(.time(now: options.clock.elapsed().inSeconds * 1000))
        // Most ticks change nothing.
        guard !effects.isEmpty || typing != machine.view.typing.count else { return }
        version += 1
        for effect in effects { carryOut(effect) }
        wakeWaiters()
        publishSoon()
    }

    private func checkOpen() throws(BackscrollClientError) {
        if let ending { throw ending }
    }

    // MARK: Sends that are waited for

    private func row(ofSend id: String) -> RoomRow? {
        let rowID = RoomRow.ID.mine(clientMessageID: id)
        return machine.view.rows.last { $0.id == rowID }
    }

    private func noteStored(_ message: ChatMessage) {
        guard !unsettled.isEmpty, let id = message.clientMessageID, message.senderID == userID else { return }
        settle(id, .success(message))
    }

    private func settle(_ id: String, _ outcome: Result<ChatMessage, BackscrollClientError>) {
        guard unsettled.remove(id) != nil else { return }
        if settled.count == Self.settledSends { settled.removeFirst() }
        settled.append((id, outcome))
    }

    // MARK: Waiting

    private typealias Condition = @Sendable (isolated Room) -> Result<Void, BackscrollClientError>?

    private struct Waiter {
        let condition: Condition
        let continuation: CheckedContinuation<Result<Void, BackscrollClientError>, Never>
    }

    /// Waits until the condition gives a result, the room ends, or the task is cancelled.
    private func wait(until condition: @escaping Condition) async throws(BackscrollClientError) {
        if let result = condition(self) { return try result.get() }
        try checkOpen()
        lastWaiter += 1
        let number = lastWaiter
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiters[number] = Waiter(condition: condition, continuation: continuation)
            }
        } onCancel: {
            Task { await self.cancelWaiter(number) }
        }
        try result.get()
    }

    private func cancelWaiter(_ number: Int) {
        waiters.removeValue(forKey: number)?.continuation.resume(returning: .failure(.isCancelled))
    }

    private func wakeWaiters() {
        for (number, waiter) in waiters {
            guard let result = waiter.condition(self) ?? ending.map({ .failure($0) }) else { continue }
            waiters[number] = nil
            waiter.continuation.resume(returning: result)
        }
    }

    // MARK: Publishing

    /// Waits for a state that is newer than `version`. Returns nil at the end.
    func next(after version: Int) async -> RoomState? {
        while self.version <= version {
            if ending != nil { return nil }
            do throws(BackscrollClientError) {
                try await wait { room in room.version > version ? .success(()) : nil }
            } catch {
                if error.code == BackscrollClientError.cancelled || self.version <= version { return nil }
            }
        }
        return state
    }

    private var state: RoomState {
        RoomState(version: version, view: machine.view, scroll: scroll, readers: readers, ending: ending)
    }

    /// Shows the present state on the main actor.
    private func publish() async {
        await timeline.show(state)
    }

    /// Shows the present state soon. Events that come until then are shown with it.
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

/// The content of the screen at a moment.
struct RoomState: Sendable {
    /// A number that grows with each state.
    let version: Int
    let view: RoomView
    /// The last place to scroll to, and the version that asked for it.
    let scroll: (target: RoomMachine.ScrollTarget, version: Int)?
    let readers: [String: Int64]
    let ending: BackscrollClientError?
}

extension Result where Failure == BackscrollClientError {
    /// Runs `body` and keeps its outcome.
    init(_ body: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
