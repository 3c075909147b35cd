// Following, reading and jumping (rules 2, 13 to 16).

extension Timeline {
    /// True while new messages scroll the view to the bottom (rule 13).
    var follows: Bool {
        isAtBottom && isActive && window?.hasAfter == false
    }

    mutating func takeViewport(atBottom: Bool, lastVisible: Int64?) {
        guard window != nil else { return }
        isAtBottom = atBottom
        self.lastVisible = lastVisible
        readerAt = atBottom ? window?.last : lastVisible ?? readerAt
        markRead()
    }

    mutating func forgetViewport() {
        isAtBottom = false
        lastVisible = nil
        readerAt = nil
    }

    mutating func takeActive(_ active: Bool) {
        if active == isActive { return }
        isActive = active
        guard active else { return }
        markRead()
        attemptAgain { !$0.isAsked }
    }

    /// Moves the read mark (rule 15). Called only when the reader moves or comes back, so that loading alone marks
    /// nothing as read.
    private mutating func markRead() {
        guard isActive, let seq = lastVisible, window?.has(seq) == true, seq > read ?? 0 else { return }
        moveMark(to: seq)
        effects.append(.markRead(seq: seq))
    }

    mutating func moveMark(to seq: Int64) {
        if let read, seq <= read { return }
        let passed = window?.moveMark(to: seq) ?? seq - (read ?? 0)
        unread = max(0, unread - passed)
        read = seq
    }

    /// Sets the mark and the unread count from a page that has become the window (rule 15).
    mutating func takeReading(of page: Page) {
        let isBehind = (page.read ?? read ?? 0) < (read ?? 0)
        let isOutdated = page.head < max(newest, newestArrived)
        if let mark = page.read { moveMark(to: mark) }
        if let count = page.unread, !isBehind, !isOutdated { unread = count }
    }

    /// True if the window has all messages after the mark, so that the unread ones can be counted in it.
    var holdsAllUnread: Bool {
        guard let read, held.isEmpty, let window, !window.hasAfter else { return false }
        return window.reachesBack(to: read)
    }

    /// Starts the search for an opening's unread line (rule 2).
    mutating func startLine(read pageRead: Int64? = nil, firstUnread: Int64? = nil) {
        line = read.map { .searching(mark: $0, searched: $0) }
        continueLine(read: pageRead, firstUnread: firstUnread)
    }

    /// Uses a page's `firstUnread` if the line has no place yet, unless the mark has moved past the page's mark.
    mutating func continueLine(read pageRead: Int64?, firstUnread: Int64?) {
        guard line?.place == nil, let firstUnread else { return }
        if pageRead ?? read ?? 0 >= read ?? 0 { line = .at(firstUnread) }
    }

    /// Places the line once the window reaches from the first message of others back to the mark (rule 2).
    mutating func findLine() {
        guard case .searching(let mark, var searched) = line, let window, window.reachesBack(to: mark) else { return }
        var seq = max(searched + 1, window.first)
        while let message = window.message(seq) {
            if !isMine(message) {
                line = .at(seq)
                return
            }
            searched = seq
            seq += 1
        }
        line = .searching(mark: mark, searched: searched)
    }

    var isLineDrawn: Bool {
        guard let place = line?.place else { return false }
        return window?.has(place) == true
    }

    /// Counts a message from a frame or the page of a gap, if it is new (rules 14, 15 and 21).
    ///
    /// A message is new if it lies after the newest one known. During a replay or a gap such messages come in any
    /// order. So each is remembered, and they all become known at the end.
    mutating func noteArrival(_ message: Message) {
        let seq = message.seq
        if seq <= newest || !arrived.insert(seq).inserted { return }
        newestArrived = max(newestArrived, seq)
        if !typing.isEmpty { typing.removeAll { $0.user.isExactly(message.senderID) } }
        if isMine(message) { return }
        if seq > read ?? 0, !message.isDeleted { unread += 1 }
        if !follows { toast = Toast(count: (toast?.count ?? 0) + 1, seq: max(toast?.seq ?? 0, seq)) }
    }

    mutating func ageArrivals() {
        newest = max(newest, newestArrived)
        if !arrived.isEmpty { arrived.removeAll(keepingCapacity: arrived.count < 64) }
    }

    mutating func jump(to place: Place) {
        guard let last = window?.last else { return }
        opening = nil
        if place == .last { line = nil }
        if let target = target(inWindow: place) {
            jump = nil
            scroll(to: target)
            return
        }
        if place == .last, head - last < Int64(limit) {
            jump = Jump(to: place)
            if after.request == nil { fetchEdge(.after) }
            return
        }
        // A second jump to the same place, such as that of a second send, takes over the fetch under way.
        if jump?.to == place, jump?.fetch?.request != nil { return }
        jump = Jump(to: place, fetch: Attempt())
        fetchJump()
    }

    mutating func fetchJump() {
        guard let place = jump?.to else { return }
        let request = fetch(.init(place))
        jump?.fetch?.begin(request)
    }
}
