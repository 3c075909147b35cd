// The window (rules 4 to 9).

extension Timeline {
    /// Makes a page the window: that of an opening or a jump, or restored messages.
    ///
    /// Snapshots from elsewhere may be newer than those of the page (rules 4 and 8). Messages after the page came after
    /// the page was read, so they are placed as if they came now.
    mutating func becomeWindow(_ page: Page) {
        let messages = page.messages.map { latest($0) }
        let first = messages.first?.seq ?? (page.hasAfter ? 1 : page.head + 1)
        let last = first + Int64(messages.count) - 1
        var beyond: [Int64: Message] = [:]
        if let window {
            for message in window.messages where message.seq > last { beyond[message.seq] = message }
        }
        for message in held.values where message.seq > last { beyond.keepLatest(message) }
        for message in late.values where message.seq > last { beyond.keepLatest(message) }

        isRestored = false
        hadWindow = true
        jump = nil
        forgetViewport()
        before = Attempt()
        after = Attempt()
        held.removeAll()
        window = MessageWindow(
            messages, first: first, hasBefore: page.hasBefore, hasAfter: page.hasAfter, me: me, mark: read)
        list.isStale = true
        for message in messages { land(message) }
        takeReading(of: page)
        head = max(head, page.head)
        newest = max(newest, page.head)
        for message in beyond.values.sorted(by: { $0.seq < $1.seq }) {
            place(message, mayAppend: !isReplaying || isLanded(message))
        }
    }

    /// Takes a snapshot from a frame, or from the answer to a POST, which is never part of a replay.
    mutating func learn(_ message: Message, isAnswer: Bool = false) {
        head = max(head, message.seq)
        // Rule 8: the page of a fetch under way may have an older snapshot of this message.
        if !place(message, mayAppend: isAnswer || !isReplaying), isFetching { late.keepLatest(message) }
    }

    /// Places a snapshot (rules 5 to 7).
    ///
    /// - Parameter mayAppend: False in a replay, where messages wait for `live`.
    /// - Returns: False if it belongs neither in the window nor after it.
    @discardableResult
    mutating func place(_ message: Message, mayAppend: Bool) -> Bool {
        land(message)
        guard let first = window?.first, let last = window?.last else {
            // A send that is stored before the opening's page arrives keeps its row until then.
            if isLanded(message) { held.keepLatest(message) }
            return true
        }
        if message.seq < first { return false }
        if message.seq <= last {
            replace(message)
            return true
        }
        if window!.hasAfter {
            // A held message must be the latest snapshot.
            if held[message.seq] != nil { held.keepLatest(message) }
            return false
        }
        if mayAppend, message.seq == last + 1 {
            append(message)
            if !isReplaying { appendHeld() }
            return true
        }
        return hold(message)
    }

    private mutating func hold(_ message: Message) -> Bool {
        held.keepLatest(message)
        if held.count > Self.maximumHeld {
            dropHeld()
            return false
        }
        if isLive { fetchGap() }
        return true
    }

    /// Rule 7: too many messages are held. The reader's place stays. A reader at the bottom goes to the newest message,
    /// or in an absence to the first unread one.
    private mutating func dropHeld() {
        let wasAtBottom = isAtBottom
        window?.hasAfter = true
        if isFetching {
            for message in held.values { late.keepLatest(message) }
        }
        held.removeAll()
        guard wasAtBottom else { return }
        if isAbsent { fetchJump(to: .read) } else { jump(to: .last) }
    }

    /// Rule 6: fetches the missing messages, unless that fetch is under way or has failed.
    mutating func fetchGap() {
        if after.state == .idle { fetchEdge(.after) }
    }

    var isGapOpen: Bool {
        !held.isEmpty && window?.hasAfter != true && after.state != .idle
    }

    /// Replaces a message in the window.
    private mutating func replace(_ message: Message) {
        guard let known = window!.replace(message) else { return }
        if day(of: known) != day(of: message) { list.isStale = true }
        if !list.isStale { list.replace(row(of: message), seq: message.seq) }
        noteHeldSends()
    }

    private mutating func append(_ message: Message) {
        let message = latest(message)
        // Rule 14: in an absence, what was held comes again.
        if !held.isEmpty, held.removeValue(forKey: message.seq) != nil, isAbsent {
            noteArrival(message, comesAgain: true)
        }
        let isAtBottom = isAtBottom
        window!.append(message)
        if !list.isStale { list.append(row(of: message), seq: message.seq, day: day(of: message)) }
        noteHeldSends()
        guard isAtBottom else {
            isShowingBottom = false
            return
        }
        let other = appended?.other ?? (isMine(message) ? nil : message.seq)
        appended = Appended(other: other)
    }

    /// Scrolls to what this event has appended at the bottom: to its end, or after an absence to its first unread
    /// message (rule 13).
    mutating func showAppended() {
        guard let appended else { return }
        if isAbsent, let other = appended.other, let message = window?.message(other) {
            scroll(to: .row(isLineDrawn ? .unreadLine : row(of: message).id))
        } else {
            scroll(to: .bottom)
        }
    }

    /// Appends the held messages that touch the window.
    mutating func appendHeld() {
        while !held.isEmpty, let last = window?.last, let message = held[last + 1] {
            append(message)
            if message.seq >= head { window?.hasAfter = false }
        }
    }

    /// Returns the snapshot of this message with the highest known `rev` (rule 4).
    private func latest(_ message: Message) -> Message {
        var latest = message
        if let other = window?.message(message.seq), other.rev > latest.rev { latest = other }
        if !held.isEmpty, let other = held[message.seq], other.rev > latest.rev { latest = other }
        if !late.isEmpty, let other = late[message.seq], other.rev > latest.rev { latest = other }
        return latest
    }

    mutating func extendBefore(_ page: Page) {
        guard let windowFirst = window?.first, let windowLast = window?.last else { return }
        let last = page.messages.last?.seq ?? windowFirst - 1
        if last < windowFirst - 1 || last > windowLast { return }
        let first = page.messages.first?.seq ?? last + 1
        let messages = page.messages.map { latest($0) }
        for message in messages { land(message) }
        for message in messages where message.seq >= windowFirst { replace(message) }
        if first <= windowFirst { window?.hasBefore = page.hasBefore }
        let earlier = messages.filter { $0.seq < windowFirst }
        if !earlier.isEmpty {
            window?.prepend(earlier)
            list.isStale = true
        }
    }

    /// Adds a page to the edge after. `from` is the `last` of the request.
    mutating func extendAfter(_ page: Page, from: Int64) {
        guard let hadAfter = window?.hasAfter, let windowFirst = window?.first else { return }
        // A window at the head fetches only missing messages (rule 6).
        let isGap = !hadAfter
        let first = page.messages.first?.seq ?? from + 1
        let last = page.messages.last?.seq ?? from
        if first >= windowFirst, first <= window!.last + 1 {
            for snapshot in page.messages {
                let message = latest(snapshot)
                land(message)
                if isGap { noteArrival(message) }
                if message.seq > window!.last {
                    append(message)
                } else {
                    held[message.seq] = nil
                    replace(message)
                }
            }
            head = max(head, page.head)
            if !isGap { newest = max(newest, last) }
            // A page that ends before the window does not show whether the room goes on after the window.
            let isNewest = last >= window!.last
            if !isReplaying { appendHeld() }
            if isNewest {
                // The message after the page may be held already: it has been appended, or will be at `live`.
                let windowLast = window!.last
                let isHeld = windowLast > last ? windowLast >= head : held[last + 1] != nil
                window!.hasAfter = page.hasAfter && !isHeld
            }
            if !window!.hasAfter { placeLate() }
        }
        let hasAdvanced = window!.last > from
        // Rule 6: the page does not have the missing messages. Own sends keep their rows, because they are known to be
        // stored.
        if isGap, !hasAdvanced {
            held = held.filter { isLanded($0.value) }
        }
        // The page was read before a later gap arose, so that gap is fetched by itself.
        if hasAdvanced, isLive, !window!.hasAfter, !held.isEmpty { fetchGap() }
        // Rule 16: decides again, until the head is reached. A page that adds nothing ends the jump, which would
        // otherwise never end.
        if isJumpingByEdge, window!.hasAfter {
            if hasAdvanced { goToLast() } else { jump = nil }
        }
    }

    /// Places the messages that came during a fetch, after its page has brought the window to the head.
    private mutating func placeLate() {
        guard let last = window?.last else { return }
        for message in late.values.filter({ $0.seq > last }).sorted(by: { $0.seq < $1.seq }) {
            if place(message, mayAppend: !isReplaying) { late[message.seq] = nil }
        }
    }

    /// Removes messages that the reader is far from, once the window has more than the maximum.
    ///
    /// - The cut begins on the longer side of the window, seen from the reader. It leaves three quarters of the
    ///   maximum, so that cuts are rare, and at least two pages between the reader and the new edge. `near` loads what
    ///   was removed again.
    /// - The room has more messages beyond the new edge, whose earlier failure is forgotten. After a cut of the end the
    ///   window is no longer at the head, so rules 5, 15 and 16 apply as to any such window: new messages are not
    ///   inserted, `unread` counts on from what was counted before the cut, and the outbox is drawn again when the head
    ///   is reached.
    /// - Nothing of the removed messages is kept. A page that has them again is requested later than they were changed,
    ///   so it has these changes. Own messages get the same ids, and the unread line its place.
    /// - Requests under way must find the window that they were made for. So nothing is cut during an opening or a
    ///   jump, or before the reader's place is known. An edge that loads is not cut, and neither is the end of a window
    ///   at the head while messages beyond it are held (rules 6 to 9).
    mutating func cut() {
        guard let windowLimit, let count = window?.count, count > windowLimit else { return }
        guard let readerAt, opening == nil, jump == nil else { return }
        guard let first = window?.first, let last = window?.last else { return }
        let place = min(max(readerAt, first), last)
        let lengths = (before: Int(place - first), after: Int(last - place))
        // After a burst of messages, cutting one side down to its margin may not remove enough. Then the other side is
        // cut, too.
        if lengths.before >= lengths.after {
            if cut(.before, length: lengths.before) { _ = cut(.after, length: lengths.after) }
        } else {
            if cut(.after, length: lengths.after) { _ = cut(.before, length: lengths.before) }
        }
    }

    /// Cuts one side of the window, if it has more than the maximum.
    ///
    /// - Parameter length: The number of messages between the reader and that edge.
    /// - Returns: False if the edge must stay for now.
    private mutating func cut(_ edge: Edge, length: Int) -> Bool {
        guard let windowLimit, let count = window?.count, count > windowLimit else { return true }
        let isGap = edge == .after && window?.hasAfter == false && !held.isEmpty
        if isGap || (edge == .before ? before : after).request != nil { return false }
        let kept = windowLimit - windowLimit / 4
        let removed = min(count - kept, length - Self.marginPages * limit)
        if removed <= 0 { return true }
        switch edge {
        case .before:
            window?.removeFirst(removed)
            before = Attempt()
        case .after:
            window?.removeLast(removed)
            after = Attempt()
        }
        list.isStale = true
        return true
    }
}
