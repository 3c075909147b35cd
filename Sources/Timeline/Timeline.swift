/// The state machine of a chat screen.
///
/// A chat screen opens in the middle of a room, loads pages both ways, takes live messages, shows the user's own sends
/// before they are stored, and survives lost connections. A timeline makes the decisions, and its host carries them
/// out. The timeline takes one ``Event`` at a time, returns ``Effect``s (what to do), and has a ``view`` (what to
/// show). It has no network, store or clock, so the same events always give the same result. The host performs the
/// effects and reports their results as events. It answers each `fetch` and each `post` with exactly one event.
///
/// ```swift
/// var timeline = Timeline<ChatMessage, ChatDraft>(me: "alice", room: "lobby")
/// for effect in timeline.handle(.open(at: .read)) {
///     // .fetch(request: 1, Query(anchor: .aroundUnread, limit: 30))
/// }
/// let before = timeline.view
/// _ = timeline.handle(.page(request: 1, page))
/// let difference = timeline.view.difference(from: before)
/// ```
///
/// A timeline is a value without isolation. Keep it in an actor, or in a model on the main actor. It starts offline and
/// active. The cost of an event depends on what it changes: one row for a live message, the rows of the window for a
/// page. A live message costs one row only if the host has released earlier ``view``s. Take the view once for each
/// frame of the screen, not once for each event.
///
/// In the package, docs/timeline.md defines the events, effects, view and rules. "Rule" with a number refers to it.
public struct Timeline<Message: TimelineMessage, Draft: TimelineDraft>: Sendable {
    /// Maximum number of messages held beyond a gap (rule 7). With more, the window is no longer at the head.
    public static var maximumHeld: Int { 200 }

    /// Maximum size of a page.
    public static var maximumLimit: Int { 200 }

    /// The number at which the server stops counting unread messages: it means that many or more (rule 15).
    public static var unreadCap: Int64 { 1000 }

    /// The messages that a cut leaves between the reader and the new edge of the window, in pages.
    static var marginPages: Int { 2 }

    /// Time in milliseconds for which a typing notice is shown (rule 21).
    static var typingMilliseconds: Double { 6000 }

    /// The user's id.
    public let me: String
    /// The room's id.
    public let room: String
    /// The number of messages to request for a page.
    public let limit: Int
    /// The user's offsets from UTC, for day lines. ``Event/utcOffsets(_:)`` changes them.
    public internal(set) var utcOffsets: UTCOffsets
    /// Maximum number of messages in the window before it is cut; nil if it is never cut.
    public let windowLimit: Int?

    // The window and its edges.

    var window: MessageWindow<Message>?
    var before = Attempt()
    var after = Attempt()
    /// Messages after a window at the head that do not touch it yet (rules 6 and 7).
    var held: [Int64: Message] = [:] { didSet { noteHeldSends() } }
    /// Messages outside the window that came during a fetch (rule 8).
    var late: [Int64: Message] = [:]
    /// The opening whose page has not arrived.
    var opening: Opening?
    /// The jump in progress.
    var jump: Jump?
    /// True from `restore` until its window is replaced, or until the first `open` (rule 3).
    var isRestored = false
    var hadWindow = false
    /// The place of the last opening (rule 20).
    var openedAt: Place?

    // The position.

    var epoch: String?
    var rev: Int64 = 0
    /// The highest known `seq` of the room.
    var head: Int64 = 0
    /// The `head` of the last `subscribed`. By `live`, frames have told of all messages up to it that were new.
    var subscribedHead: Int64 = 0

    // The reading.

    var read: Int64?
    var unread: Int64 = 0
    /// True if ``unread`` is the server's maximum, so that the number may be higher (rule 15).
    var isUnreadCapped = false
    var line: UnreadLine?
    /// The room's highest known `seq` at the first `live` since the opening; nil before it (rule 2).
    var openingHead: Int64?
    var toast: Toast?
    /// True if the host has said that the reader is at the bottom, or a `scroll` went there.
    var isShowingBottom = false
    /// True from `disconnected` or `restore` until nothing of what was missed is held (rule 13).
    var isAbsent = false
    /// The messages that the current event has appended at the bottom; nil if it has appended none (rule 13).
    var appended: Appended?
    var lastVisible: Int64?
    /// The `seq` at which the reader was last known to be: by a `viewport`, the target of a `scroll`, or the edge of a
    /// `near`. Nil while that is unknown. Only the cut depends on it.
    var readerAt: Int64?
    var isActive = true
    /// The newest message that no longer counts as new (rule 14).
    var newest: Int64 = 0
    /// The new messages after ``newest``, so that each is counted once.
    var arrived: Set<Int64> = []
    var newestArrived: Int64 = 0
    /// The held messages that ``toast`` has counted.
    var toasted: Set<Int64> = []

    // The outbox.

    var outbox = Outbox<Draft, SendState>() { didSet { list.isTailStale = true } }
    /// Sends of this outbox that are stored but may not be in the window yet.
    var landed: Set<SendID> = [] { didSet { noteHeldSends() } }
    /// The POST under way, marked as outdated if its epoch is over.
    var post: (id: SendID, isOutdated: Bool)?
    var posting = Attempt()

    // The blocked users.

    /// The blocked users, each with the messages that the user has asked to see.
    var blocked: [UserID: Set<Int64>] = [:]

    // The connection.

    /// The socket of the last `subscribe`.
    var socket = Socket.closed
    var isLive = false
    /// True from `connected` to `live`, even across a lost connection: messages come by `rev`, not by `seq` (rule 7).
    var isReplaying = false
    /// True if the connection was lost since `live` or the start (rule 20).
    var wasCut = false
    var connecting = Attempt()
    /// The users shown as typing, in the order in which they began, each with the time at which that ends.
    var typing: [(user: String, until: Double)] = []
    var online: Int64?

    /// The latest time, and the milliseconds that have passed by the differences of times.
    var now: Double?
    var elapsed = 0.0

    var requests = 0
    /// The effects of the current event.
    var effects: [Effect] = []
    var list = RowList()
    /// True if the outbox is drawn below the window.
    private var showsTail = true

    /// Creates the timeline of a user and a room, offline and without a window.
    ///
    /// - Parameters:
    ///   - me: The user's id, which identifies own messages.
    ///   - room: The room's id. Frames that name another room are ignored.
    ///   - limit: The page size. Values outside 1 through ``maximumLimit`` are clamped.
    ///   - utcOffset: The user's time zone in minutes east of UTC, for day lines; at most 24 hours either way.
    ///   - windowLimit: Maximum number of messages in the window. Beyond it, messages that are far from the reader are
    ///     removed, so that memory does not grow with the room; ``Event/near(_:)`` loads them again. Values below four
    ///     pages are raised to four pages. A quarter of it should fill more than three screens. Nil removes nothing.
    public init(me: String, room: String, limit: Int = 30, utcOffset: Int = 0, windowLimit: Int? = nil) {
        self.init(me: me, room: room, limit: limit, utcOffsets: UTCOffsets(utcOffset), windowLimit: windowLimit)
    }

    /// Creates the timeline of a user and a room, in a time zone whose offset changes with time.
    ///
    /// - Parameters:
    ///   - me: The user's id, which identifies own messages.
    ///   - room: The room's id. Frames that name another room are ignored.
    ///   - limit: The page size. Values outside 1 through ``maximumLimit`` are clamped.
    ///   - utcOffsets: The user's offsets from UTC, for day lines.
    ///   - windowLimit: Maximum number of messages in the window, as above. Nil removes nothing.
    public init(me: String, room: String, limit: Int = 30, utcOffsets: UTCOffsets, windowLimit: Int? = nil) {
        self.me = me
        self.room = room
        self.limit = min(max(limit, 1), Self.maximumLimit)
        self.utcOffsets = utcOffsets
        let minimum = 2 * Self.marginPages * self.limit
        self.windowLimit = windowLimit.map { max($0, minimum) }
    }

    /// Handles an event, and returns the effects that it causes.
    ///
    /// A late event has no effect, such as the page of a request that is no longer wanted.
    ///
    /// - Returns: The effects in the order fetch, subscribe, post, mark read, scroll, with at most one scroll.
    public mutating func handle(_ event: Event) -> [Effect] {
        appended = nil
        take(event)
        settle()
        updateRows()
        let ordered = effects.count < 2 ? effects : (0...4).flatMap { order in effects.filter { $0.order == order } }
        effects.removeAll(keepingCapacity: true)
        return ordered
    }

    private mutating func take(_ event: Event) {
        switch event {
        case .open(let place): open(at: place)
        case .restore(let restored): restore(restored)
        case .page(let request, let page): takePage(page, request: request)
        case .fetchFailed(let request, let failure): takeFetchFailure(failure, request: request)
        case .connected: takeConnected()
        case .disconnected: takeDisconnected()
        case .frame(let frame): takeFrame(frame)
        case .near(let edge): near(edge)
        case .viewport(let atBottom, let lastVisible): takeViewport(atBottom: atBottom, lastVisible: lastVisible)
        case .active(let active): takeActive(active)
        case .send(let draft, let at): send(draft, at: at)
        case .sent(let id, let message): takeSent(message, id: SendID(id))
        case .sendFailed(let id, let failure): takeSendFailure(failure, id: SendID(id))
        case .marked(let read, let unread, let head): takeMarked(read: read, unread: unread, head: head)
        case .retry(let id): retrySend(SendID(id))
        case .discard(let id): discardSend(SendID(id))
        case .jump(let place): jump(to: place)
        case .time(let now): takeTime(now)
        case .utcOffsets(let offsets): takeOffsets(offsets)
        case .blocked(let users): takeBlocked(users)
        case .show(let seq): show(seq)
        }
    }

    /// Applies the rules that depend on the state only, after any event.
    private mutating func settle() {
        if window != nil {
            findLine()
            showAppended()
        }
        if let hasAfter = window?.hasAfter, let hasBefore = window?.hasBefore {
            if !hasAfter, isJumpingByEdge {
                jump = nil
                scroll(to: .bottom)
            }
            // Rule 11: an edge that has become an end forgets its failure. An edge with a gap behind it is no end.
            if !hasBefore, before.hasFailed { before.succeed() }
            if !hasAfter, held.isEmpty, after.hasFailed { after.succeed() }
            if holdsAllUnread { setUnread(window!.unread, mayBeCapped: false) }
            cut()
            noteLineSeen()
        }
        if isLive, held.isEmpty { isAbsent = false }
        if follows { toast = nil }
        if isLive, !isGapOpen { ageArrivals() }
        if !late.isEmpty, !isFetching { late.removeAll() }
        if !landed.isEmpty, held.isEmpty, late.isEmpty { landed.removeAll() }
        if toasted.count > held.count { toasted = toasted.filter { held[$0] != nil } }
        postNext()
    }

    mutating func scroll(to target: ScrollTarget) {
        effects.removeAll { if case .scroll = $0 { true } else { false } }
        effects.append(.scroll(to: target))
        isShowingBottom = target == .bottom
        readerAt = seq(of: target)
    }

    /// Returns the message at a target; nil if there is none.
    private func seq(of target: ScrollTarget) -> Int64? {
        switch target {
        case .bottom: return window?.last
        case .row(let id):
            switch id.kind {
            case .day: return nil
            case .unread: return line?.place
            case .seq(let seq): return seq
            case .mine(let id): return window?.seq(ofOwn: id)
            }
        }
    }

    // The view

    /// The present view.
    public var view: View {
        View(
            rows: list.rows, before: state(of: .before), after: state(of: .after),
            connection: socket != .open ? .offline : isLive ? .live : .catchingUp,
            epoch: epoch, rev: rev, unread: unread, read: read, toast: toast, typing: typing.map(\.user),
            online: online, phase: phase)
    }

    private func state(of edge: Edge) -> EdgeState {
        guard let goesOn = edge == .before ? window?.hasBefore : window?.hasAfter else {
            // Without a window both edges show the opening's fetch.
            return EdgeState(opening?.fetch.state ?? .idle)
        }
        let state = EdgeState(edge == .before ? before.state : after.state)
        return state == .idle && !goesOn ? .end : state
    }

    private var phase: Phase {
        if window == nil { return .initial }
        if before.state == .loading { return .prepending }
        return after.state == .loading && !isJumpingByEdge ? .appending : .idle
    }

    /// True if the edge after is loading for a jump.
    var isJumpingByEdge: Bool {
        jump.map { $0.fetch == nil } ?? false
    }

    private mutating func updateRows() {
        // Below a window that is not at the head, the outbox would hide the gap above it.
        let showsTail = !(window?.hasAfter ?? false)
        if showsTail != self.showsTail {
            self.showsTail = showsTail
            list.isTailStale = true
        }
        if list.isStale || list.unreadAt != line?.place {
            let body = (window?.messages ?? []).map { (row: row(of: $0), day: day(of: $0)) }
            list.setBody(body, first: window?.first ?? 0, unreadAt: line?.place)
        }
        guard list.isTailStale else { return }
        var tail: [(row: Row, day: Int64)] = []
        if showsTail {
            tail = heldSends.map { (row(of: $0), day(of: $0)) }
            for send in outbox.sends { tail.append((.send(send.draft, send.state), utcOffsets.day(of: send.at))) }
        }
        list.setTail(tail)
    }

    /// Returns the row of a stored message, in the window or held.
    func row(of message: Message) -> Row {
        let isMine = isMine(message)
        let content = Row.Content.message(message, isMine: isMine)
        guard isMine, let id = message.sendID, window?.isTwin(message.seq) != true else {
            return Row(id: .message(seq: message.seq), content: content, isFolded: isFolded(message))
        }
        return Row(id: .init(kind: .mine(id)), content: content)
    }

    /// Returns the number of days from 1970 to the message's storage, by the user's clock at that time.
    func day(of message: Message) -> Int64 {
        utcOffsets.day(of: message.createdMilliseconds)
    }

    func isMine(_ message: Message) -> Bool {
        message.senderID.isExactly(me)
    }

    /// Own sends beyond a gap are drawn while they are held, so the view may depend on the held messages.
    mutating func noteHeldSends() {
        if !landed.isEmpty { list.isTailStale = true }
    }
}

extension Timeline {
    /// An opening: its place, and the fetch of the page that becomes the window.
    struct Opening: Sendable {
        let at: Place
        var fetch = Attempt()
    }

    /// A jump. Without a fetch of its own, the edge after loads for it.
    struct Jump: Sendable {
        let to: Place
        var fetch: Attempt?
    }

    /// The unread line: its place once known, or how far the search for it has come since the opening (rule 2).
    struct UnreadLine: Sendable {
        enum Place: Sendable {
            /// Before this message. `isTaken` is true if a message that came later has taken the line.
            case at(Int64, isTaken: Bool)
            case searching(mark: Int64, searched: Int64)
        }

        var position: Place
        /// True if the reader has been at the bottom since the line came there.
        var wasAtBottom = false

        var place: Int64? {
            if case .at(let seq, _) = position { seq } else { nil }
        }
    }

    /// Messages that one event has appended at the bottom.
    struct Appended: Sendable {
        /// The first one of another user.
        var other: Int64?
    }

    enum Socket {
        case closed, opening, open
    }
}

extension Timeline.EdgeState {
    init(_ state: Attempt.State) {
        self =
            switch state {
            case .idle: .idle
            case .loading: .loading
            case .failed: .failed
            }
    }
}
