// Following, reading and jumping (rules 13 to 16).

extension Timeline {
    /// True while the reader sees the room's newest message (rule 13).
    var isAtBottom: Bool {
        isShowingBottom && isActive && window?.hasAfter == false
    }

    /// True while new messages scroll the view to the bottom (rule 13).
    var follows: Bool {
        isAtBottom && !isAbsent
    }

    mutating func takeViewport(atBottom: Bool, lastVisible: Int64?) {
        guard window != nil else { return }
        isShowingBottom = atBottom
        self.lastVisible = lastVisible
        readerAt = atBottom ? window?.last : lastVisible ?? readerAt
        markRead()
    }

    mutating func forgetViewport() {
        isShowingBottom = false
        appended = nil
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
        if !isUnreadCapped { unread = max(0, unread - passed) }
        read = seq
    }

    mutating func setUnread(_ count: Int64, mayBeCapped: Bool) {
        unread = count
        isUnreadCapped = mayBeCapped && count == Self.unreadCap
    }

    /// Sets the mark and the unread count from a page that has become the window (rule 15).
    mutating func takeReading(of page: Page) {
        let isBehind = (page.read ?? read ?? 0) < (read ?? 0)
        let isOutdated = page.head < max(newest, newestArrived)
        if let mark = page.read { moveMark(to: mark) }
        if let count = page.unread, !isBehind, !isOutdated { setUnread(count, mayBeCapped: true) }
    }

    /// Takes the answer to a `markRead`, or the state of the room that the host has asked for (rule 15).
    ///
    /// Without a `head` it matters only while the unread messages are too many to count. With it, the mark moves, and
    /// the number counts if it includes exactly the messages that are known.
    mutating func takeMarked(read: Int64, unread: Int64, head: Int64?) {
        let counts = 0...ClosedRange.timelineNumbers.upperBound
        guard counts.contains(read), counts.contains(unread), head.map(counts.contains) ?? isUnreadCapped,
            read >= self.read ?? 0
        else { return }
        let isNumberKnown = isUnreadCapped || head.map(knowsAll(upTo:)) == true
        moveMark(to: read)
        if isNumberKnown { setUnread(unread, mayBeCapped: true) }
    }

    /// Returns true if the room's newest known message is this one, and no earlier one can still come as new.
    private func knowsAll(upTo head: Int64) -> Bool {
        isLive && held.isEmpty && head == max(newest, newestArrived, subscribedHead)
    }

    /// True if the window has all messages after the mark, so that the unread ones can be counted in it.
    var holdsAllUnread: Bool {
        guard let read, held.isEmpty, let window, !window.hasAfter else { return false }
        return window.reachesBack(to: read)
    }

    /// Counts a message from a frame or the page of a gap, if it is new (rules 14, 15 and 21), and may give it the
    /// unread line.
    ///
    /// A message is new if it lies after the newest one known. During a replay or a gap such messages come in any
    /// order. So each is remembered, and they all become known at the end.
    ///
    /// - Parameter comesAgain: True if it was held in an absence, and is being appended. It is counted at most once.
    mutating func noteArrival(_ message: Message, comesAgain: Bool = false) {
        let seq = message.seq
        let isNew = seq > newest && arrived.insert(seq).inserted
        let isOfOther = !isMine(message)
        if isNew {
            newestArrived = max(newestArrived, seq)
            if !typing.isEmpty { typing.removeAll { $0.user.isExactly(message.senderID) } }
            if isOfOther, seq > read ?? 0, !message.isDeleted, !isUnreadCapped { unread += 1 }
        }
        guard isOfOther, isNew || comesAgain, !follows else { return }
        if toasted.insert(seq).inserted {
            toast = Toast(count: (toast?.count ?? 0) + 1, seq: max(toast?.seq ?? 0, seq))
        }
        takeLine(seq)
    }

    mutating func ageArrivals() {
        newest = max(newest, newestArrived)
        if !arrived.isEmpty { arrived.removeAll(keepingCapacity: arrived.count < 64) }
    }

    mutating func jump(to place: Place) {
        guard window != nil else { return }
        opening = nil
        if place == .last { line = nil }
        if let target = target(inWindow: place) {
            jump = nil
            scroll(to: target)
            return
        }
        if place == .last { goToLast() } else { fetchJump(to: place) }
    }

    /// Loads what is missing up to the newest message, or the newest page if that is much.
    mutating func goToLast() {
        guard let last = window?.last else { return }
        if head - last >= Int64(limit) { return fetchJump(to: .last) }
        jump = Jump(to: .last)
        if after.request == nil { fetchEdge(.after) }
    }

    /// Fetches the page of a jump, which replaces the window.
    mutating func fetchJump(to place: Place) {
        opening = nil
        // A second jump to the same place, such as that of a second send, takes over the fetch under way.
        if jump?.to == place, jump?.fetch?.request != nil { return }
        jump = Jump(to: place, fetch: Attempt())
        fetchJumpAgain()
    }

    mutating func fetchJumpAgain() {
        guard let place = jump?.to else { return }
        let request = fetch(.init(place))
        jump?.fetch?.begin(request)
    }
}
