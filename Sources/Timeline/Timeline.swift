/// The state machine of a chat screen.
///
/// A chat screen opens in the middle of a room, loads pages both ways, takes live messages, shows the user's own sends
/// before they are stored, and survives lost connections. A timeline decides all of that and does none of it: it takes
/// one ``Event`` at a time and returns ``Effect``s, what to do, and has a ``view``, what to show. It has no network, no
/// store and no clock; the same events give the same result. Its host carries out the effects and feeds back what
/// happened. Each `fetch` and each `post` is answered by exactly one event.
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
/// It is a value without isolation: an actor or a model on the main actor owns it. It starts offline and in front of the
/// user. An event costs what it changes: a live message costs one row, whatever the length of the window, as long as the
/// host does not keep an earlier ``view`` meanwhile; a page costs the window. Take the view once for each frame of the
/// screen and not once for each event.
///
/// docs/timeline.md of the package defines the events, effects, view and rules; "rule" with a number refers to it.
public struct Timeline<Message: TimelineMessage, Draft: TimelineDraft>: Sendable {
    /// Maximum number of messages that are held beyond a hole (rule 7). With more, the window no longer reaches the head.
    public static var maximumHeld: Int { 200 }

    /// Maximum size of a page.
    public static var maximumLimit: Int { 200 }

    /// The milliseconds for which a typing notice shows (rule 21).
    static var typingMilliseconds: Double { 6000 }

    /// The user's id.
    public let me: String
    /// The room's id.
    public let room: String
    /// The number of messages that a page is asked for.
    public let limit: Int
    /// The user's time zone, for day lines, in minutes east of UTC.
    public let utcOffset: Int

    // The window and its edges.

    var window: MessageWindow<Message>?
    var before = Attempt()
    var after = Attempt()
    /// Messages beyond a window at the head that do not touch it yet (rules 6 and 7).
    var held: [Int64: Message] = [:] { didSet { noteHeldSends() } }
    /// Messages from outside the window that came while a fetch was under way (rule 8).
    var late: [Int64: Message] = [:]
    /// The opening whose page has not come.
    var opening: Opening?
    /// The jump that is not over.
    var jump: Jump?
    /// True from `restore` until its window is replaced or `open` was asked for once (rule 3).
    var isRestored = false
    var hadWindow = false

    // The position.

    var epoch: String?
    var rev: Int64 = 0
    /// The highest `seq` of the room that anything has told of.
    var head: Int64 = 0

    // The reading.

    var read: Int64?
    var unread: Int64 = 0
    var line: UnreadLine?
    var toast: Toast?
    var isAtBottom = false
    var lastVisible: Int64?
    var isActive = true
    /// The newest message that is no longer new (rule 14).
    var newest: Int64 = 0
    /// The new messages beyond ``newest``, so that each is counted once.
    var arrived: Set<Int64> = []
    var newestArrived: Int64 = 0

    // The outbox.

    var outbox = Outbox<Draft, SendState>() { didSet { list.isTailStale = true } }
    /// Sends of this outbox that are stored, and may not be in the window yet.
    var landed: Set<SendID> = [] { didSet { noteHeldSends() } }
    /// The POST under way; outdated if its epoch is over.
    var post: (id: SendID, isOutdated: Bool)?
    var posting = Attempt()

    // The connection.

    /// The socket of the last `subscribe`.
    var socket = Socket.closed
    var isLive = false
    /// True from `connected` to `live`, also over a cut: messages come by `rev`, not by `seq` (rule 7).
    var isReplaying = false
    /// True once the connection was lost since `live` or the start (rule 20).
    var wasCut = false
    var connecting = Attempt()
    /// Until when each user is shown as typing, in the order in which they began.
    var typing: [(user: String, until: Double)] = []
    var online: Int64?

    /// The last time, and the milliseconds that have passed by the differences of times.
    var now: Double?
    var elapsed = 0.0

    var requests = 0
    /// The effects of the event that is being handled.
    var effects: [Effect] = []
    var list = RowList()
    /// True if the outbox is drawn below the window.
    private var showsTail = true

    /// Creates the timeline of a user and a room, offline and without a window.
    ///
    /// - Parameters:
    ///   - me: The user's id, by which own messages are recognised.
    ///   - room: The room's id. Frames that name another room are ignored.
    ///   - limit: The size of pages; values outside 1 through ``maximumLimit`` count as the nearest of them.
    ///   - utcOffset: The user's time zone in minutes east of UTC, for day lines; at most 24 hours either way.
    public init(me: String, room: String, limit: Int = 30, utcOffset: Int = 0) {
        self.me = me
        self.room = room
        self.limit = min(max(limit, 1), Self.maximumLimit)
        self.utcOffset = min(max(utcOffset, -1440), 1440)
    }

    /// Takes an event and returns what to do because of it.
    ///
    /// An event that comes late, such as the page of a request that nobody waits for any more, does nothing.
    ///
    /// - Returns: The effects in the order fetch, subscribe, post, mark read, scroll, with at most one scroll.
    public mutating func handle(_ event: Event) -> [Effect] {
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
        case .retry(let id): retrySend(SendID(id))
        case .discard(let id): discardSend(SendID(id))
        case .jump(let place): jump(to: place)
        case .time(let now): takeTime(now)
        }
    }

    /// Does what follows from the state, whatever the event was.
    private mutating func settle() {
        if let hasAfter = window?.hasAfter, let hasBefore = window?.hasBefore {
            if !hasAfter, let jump, jump.fetch == nil {
                self.jump = nil
                scroll(to: .bottom)
            }
            // Rule 11: an edge that has become an end forgets its failure. With a hole behind it, it is no end.
            if !hasBefore, before.hasFailed { before.succeed() }
            if !hasAfter, held.isEmpty, after.hasFailed { after.succeed() }
            findLine()
            if holdsAllUnread { unread = window!.unread }
        }
        if follows { toast = nil }
        if isLive, !isGapOpen { ageArrivals() }
        if !late.isEmpty, !isFetching { late.removeAll() }
        if !landed.isEmpty, held.isEmpty, late.isEmpty { landed.removeAll() }
        postNext()
    }

    mutating func scroll(to target: ScrollTarget) {
        effects.removeAll { if case .scroll = $0 { true } else { false } }
        effects.append(.scroll(to: target))
        isAtBottom = target == .bottom
    }

    // The view

    /// The view to show now.
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

    /// True if the edge after loads for a jump.
    var isJumpingByEdge: Bool {
        jump.map { $0.fetch == nil } ?? false
    }

    private mutating func updateRows() {
        // Elsewhere than at the head the outbox would hide the hole above it.
        let showsTail = !(window?.hasAfter ?? false)
        if showsTail != self.showsTail {
            self.showsTail = showsTail
            list.isTailStale = true
        }
        if list.isStale || list.unreadAt != line?.place {
            let body = (window?.messages ?? []).map { (row: row(of: $0), day: $0.day(utcOffset: utcOffset)) }
            list.setBody(body, first: window?.first ?? 0, unreadAt: line?.place)
        }
        guard list.isTailStale else { return }
        var tail: [(row: Row, day: Int64)] = []
        if showsTail {
            tail = heldSends.map { (row(of: $0), $0.day(utcOffset: utcOffset)) }
            for send in outbox.sends {
                tail.append((.send(send.draft, send.state), dayNumber(of: send.at, utcOffset: utcOffset)))
            }
        }
        list.setTail(tail)
    }

    /// Returns the row of a message that is stored, in the window or held.
    func row(of message: Message) -> Row {
        let isMine = isMine(message)
        let content = Row.Content.message(message, isMine: isMine)
        guard isMine, let id = message.sendID, window?.isTwin(message.seq) != true else {
            return Row(id: .message(seq: message.seq), content: content)
        }
        return Row(id: .init(kind: .mine(id)), content: content)
    }

    func isMine(_ message: Message) -> Bool {
        message.senderID.isExactly(me)
    }

    /// Own sends beyond a hole are drawn while they are held, so what is held may be drawn.
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

    /// The unread line: its place once that is known, or where the search for it begins (rule 2).
    enum UnreadLine: Sendable {
        case at(Int64)
        case searching(mark: Int64, searched: Int64)

        var place: Int64? {
            if case .at(let seq) = self { seq } else { nil }
        }
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

extension TimelineMessage {
    /// The number of the day since 1970 on which the message was stored, where the user is.
    func day(utcOffset: Int) -> Int64 {
        dayNumber(of: createdMilliseconds, utcOffset: utcOffset)
    }
}

/// Returns the number of days from 1970 to a time in milliseconds, in the time zone `utcOffset` minutes east of UTC. Times
/// that no calendar has, some 270,000 years away, count as the last that one has.
func dayNumber(of milliseconds: Int64, utcOffset: Int) -> Int64 {
    let bound: Int64 = 8_000_000_000_000_000
    let local = min(max(milliseconds, -bound), bound) + Int64(utcOffset) * 60_000
    return local >= 0 ? local / 86_400_000 : (local - 86_399_999) / 86_400_000
}
