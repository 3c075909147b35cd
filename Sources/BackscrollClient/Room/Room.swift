public import BackscrollTimeline

/// A room and the state of its screen.
///
/// The room hosts a ``RoomMachine``. It loads pages, receives live messages, fills gaps, sends messages in order and
/// exactly once, and resumes after lost connections, all by the rules in docs/timeline.md. Get the content of the
/// screen from ``changes``, from ``timeline`` in SwiftUI, or from ``view``.
///
/// When a call returns, ``view`` and ``timeline`` show its effect. Cancelling a task ends its wait, but not the
/// operation: a message is still sent. Keep the room as long as its screen is open and its sends are under way;
/// releasing it ends its subscription.
public actor Room {
    /// A place to open a room at, or to go to.
    public enum Place: Hashable, Sendable {
        /// The first message that the user has not read.
        case read
        /// The first message that the user has not read and that mentions the user or the room; as ``read`` if there is none.
        case mention
        /// The newest message.
        case newest
        /// The message with this `seq`, or the nearest.
        case seq(Int64)

        var inTimeline: RoomMachine.Place {
            switch self {
            case .read: .read
            case .mention: .mention
            case .newest: .last
            case .seq(let seq): .seq(seq)
            }
        }
    }

    /// Interval of the `time` events for the machine, whose waits are whole seconds.
    static let tick = Duration.milliseconds(500)
    /// Minimum time between two shown states. A screen cannot draw more of them.
    static let showInterval = Duration.milliseconds(8)
    /// Time for which read marks are collected, so that scrolling causes few requests.
    static let markDelay = Duration.milliseconds(300)
    /// Minimum time between two typing notices (docs/live.md).
    static let typingInterval = Duration.seconds(3)

    /// The room's id.
    public nonisolated let id: String
    /// The user's id.
    public nonisolated let userID: String
    /// The state for SwiftUI, on the main actor.
    public nonisolated let timeline: RoomTimeline
    /// The error that ended the room, such as `not_a_member`; nil while it is open.
    public internal(set) var ending: BackscrollClientError?
    /// The `seq` up to which other users have read, by user. Only users whose notices have arrived are in it, or after
    /// ``followReads()`` all.
    public internal(set) var readers: [String: Int64] = [:]
    /// The read marks of the members; nil until ``followReads()`` has loaded it, and in a room of more than 10,000
    /// members or read marks.
    public internal(set) var readership: Readership?

    nonisolated let client: BackscrollClient
    nonisolated let options: ClientOptions
    /// The number of the last subscription.
    var subscriptionNumber: SubscriptionNumber
    var machine: RoomMachine
    /// Number of events that may have changed what is shown.
    var version = 1
    /// The version that loops over ``changes`` were shown last.
    var shown = Shown()
    var scroll: (target: RoomMachine.ScrollTarget, version: Int)?
    var ticker: Task<Void, Never>?
    var waiters: [Int: Waiter] = [:]
    var lastWaiter = 0
    var outcomes = SendOutcomes()
    var pages = PageRequests()
    var mark = OwnMark()
    var receipts = Receipts()
    /// The latest change under way of each message.
    var changing: [Int64: Task<Result<ChatMessage, BackscrollClientError>, Never>] = [:]
    var typedAt: Duration?
    var isScreenActive = true
    var isAppActive = true

    /// The room's part of the store; nil without a store, and after the store has failed.
    var storage: RoomStore?
    /// The error because of which the store lacks changes, such as `store_unavailable`; nil while it has them, and
    /// without a store.
    ///
    /// After `store_unavailable` the room tries again by itself, and writes what the store lacks. After `store_damaged`
    /// and `store_newer` it continues without the store. Messages that are sent meanwhile are lost if the app ends before
    /// the server has them.
    public internal(set) var storeFailure: BackscrollClientError?
    var storing = Storing()
    /// The changes for the store; nil until the stored messages are shown, and without a store.
    var record: RoomRecord?

    init(
        id: String, me: String, client: BackscrollClient, generation: Int, utcOffsets: UTCOffsets, storage: RoomStore?,
        blocked: [String] = []
    ) {
        self.storage = storage
        self.id = id
        subscriptionNumber = SubscriptionNumber(generation: generation)
        userID = me
        self.client = client
        options = client.options
        machine = RoomMachine(
            me: me, room: id, limit: options.pageLimit, utcOffsets: utcOffsets, windowLimit: options.windowLimit)
        timeline = RoomTimeline()
        _ = machine.handle(.blocked(users: blocked))
    }

    deinit {
        ticker?.cancel()
        mark.asking?.cancel()
        Task { [client, id, number = subscriptionNumber] in await client.leave(id, number: number) }
    }

    // MARK: What is shown

    /// The content of the screen now.
    public var view: RoomView { machine.view }

    /// The changes of the screen, from now on. The first change inserts all rows.
    ///
    /// Each loop gets its own changes. A slow loop gets fewer and larger ones, so it never falls behind. The sequence
    /// ends when the room is closed or has ended, and when the task is cancelled.
    public nonisolated var changes: RoomChanges { RoomChanges(room: self) }

    /// Calls `body` on the main actor with each change; the first one inserts all rows. The task keeps the room.
    ///
    /// - Returns: a task that ends with the room; cancel it to end the calls.
    @discardableResult
    public nonisolated func onChange(_ body: @escaping @MainActor @Sendable (RoomChange) -> Void) -> Task<Void, Never> {
        Task { @MainActor in
            for await change in changes { body(change) }
        }
    }

    // MARK: Opening, paging, jumping

    /// Shows the room at a place: loads the page around it, and receives changes from then on. With a store it shows
    /// the stored messages at once, also while the server cannot be reached.
    ///
    /// - Returns: the room.
    /// - Throws: the server's refusal, such as `room_not_found`; 401 if it has refused the token; another temporary error
    ///   after ``ClientOptions/openingFailures`` failures. After a temporary error the room goes on trying as long as the app
    ///   keeps it.
    @discardableResult
    public func open(at place: Place = .read) async throws(BackscrollClientError) -> Room {
        try checkOpen()
        await loadFromStore(for: place)
        try checkOpen()
        startTicking()
        pages.openingFailures = 0
        pages.openingFailure = nil
        pages.failure = nil
        pages.openingRequest = pages.lastRequest + 1
        handle(.open(at: place.inTimeline))
        try await wait { room in
            if room.machine.view.phase != .initial { return .success(()) }
            guard let failure = room.pages.openingFailure else { return nil }
            let goesOn = failure.isWorthRepeating && room.pages.openingFailures < room.options.openingFailures
            return goesOn ? nil : .failure(failure)
        }
        await publish()
        await client.refreshListed(id)
        return self
    }

    /// Loads the page beyond an edge, unless the room ends there. Call it when the reader comes near that edge.
    ///
    /// - Throws: the error of the last attempt. After a temporary error the room tries again by itself.
    public func load(_ edge: RoomMachine.Edge) async throws(BackscrollClientError) {
        try checkOpen()
        pages.failure = nil
        handle(.near(edge))
        try await wait { room in
            let view = room.machine.view
            switch edge == .before ? view.before : view.after {
            case .loading: return nil
            case .failed:
                return .failure(room.pages.failure ?? .init(code: "failed", message: "The page did not load."))
            case .idle, .end: return .success(())
            }
        }
        await publish()
    }

    /// Goes to a place. Once it is loaded, ``RoomChange/scroll`` names its row, and the call returns.
    ///
    /// - Throws: the server's refusal of the page.
    public func jump(to place: Place) async throws(BackscrollClientError) {
        try checkOpen()
        // Without a window there is nothing to jump from.
        if machine.view.phase == .initial {
            try await open(at: place)
            return
        }
        let ended = pages.endedJumps
        pages.failure = nil
        handle(.jump(to: place.inTimeline))
        try await wait { room in
            if room.pages.endedJumps != ended { return .success(()) }
            // A jump ends without scrolling if its page is refused or empty.
            guard let failure = room.pages.failure else { return room.pages.underWay == 0 ? .success(()) : nil }
            return failure.isTemporary ? nil : .failure(failure)
        }
        await publish()
    }

    /// Tells the room where the reader is. Moves the user's read mark to `lastVisible` while the screen is active.
    ///
    /// - Parameters:
    ///   - atBottom: True if the end of the list is in sight. New messages then cause a scroll to the bottom.
    ///   - lastVisible: The `seq` of the last message in sight.
    public func setViewport(atBottom: Bool, lastVisible: Int64?) async {
        handle(.viewport(atBottom: atBottom, lastVisible: lastVisible))
        await publish()
    }

    /// Tells the room whether its screen is in front of the user. At the start it is.
    public func setActive(_ isActive: Bool) async {
        isScreenActive = isActive
        handle(.active(isScreenActive && isAppActive))
        await publish()
    }

    /// Shows the message of a blocked user, whose row ``BackscrollTimeline/Timeline/Row/isFolded``, until the room is opened
    /// again or the block ends.
    public func show(_ seq: Int64) async {
        handle(.show(seq: seq))
        await publish()
    }

    /// Folds the messages of these users, who are all whom the user blocks.
    func setBlocked(_ users: [String]) async {
        handle(.blocked(users: users))
        await publish()
    }

    func setUTCOffsets(_ offsets: UTCOffsets) async {
        handle(.utcOffsets(offsets))
        await publish()
    }

    func setAppActive(_ isActive: Bool) async {
        isAppActive = isActive
        handle(.active(isScreenActive && isAppActive))
        await publish()
        // The system may end an app in the background at any time.
        if !isActive { await flush() }
    }
}
