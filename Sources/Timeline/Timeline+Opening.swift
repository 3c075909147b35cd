// Opening (rules 1 to 3), restoring, and starting over (rule 20).

extension Timeline {
    mutating func open(at place: Place) {
        guard isRestored else { return beginOpening(at: place) }
        isRestored = false
        openedAt = place
        startLine()
        findLine()
        guard let target = target(inWindow: place) else { return beginOpening(at: place) }
        // Rule 3: the place lies in the restored window. This `open` ends an earlier opening and jump, too.
        opening = nil
        jump = nil
        toast = nil
        scroll(to: target)
    }

    /// Drops the window and fetches the page that becomes the next one. The position, the mark and the outbox stay.
    mutating func beginOpening(at place: Place) {
        window = nil
        list.isStale = true
        isRestored = false
        forgetViewport()
        before = Attempt()
        after = Attempt()
        held.removeAll()
        late.removeAll()
        landed.removeAll()
        blocked = blocked.mapValues { _ in [] }
        jump = nil
        line = nil
        toast = nil
        // Rule 1: the connection is offline until the page's `subscribe`, even for an `error` of the earlier socket.
        // Its position no longer matters, and a reset would lose the place that the user asked for.
        closeSocket()
        isReplaying = false
        connecting.wait = nil
        opening = Opening(at: place)
        openedAt = place
        fetchOpening()
    }

    mutating func fetchOpening() {
        guard let place = opening?.at else { return }
        let request = fetch(.init(place))
        opening?.fetch.begin(request)
    }

    mutating func open(with page: Page) {
        guard let place = opening?.at else { return }
        opening = nil
        // An opening's page sets the position, so a page of another epoch needs no reset (rule 20). Only the state of
        // the earlier epoch is dropped.
        if let epoch, !epoch.isExactly(page.epoch) { forgetEpoch() }
        epoch = page.epoch
        rev = page.rev
        becomeWindow(page)
        startLine(read: page.read, firstUnread: page.firstUnread)
        findLine()
        subscribe()
        scroll(to: nearestTarget(place, in: page))
        isAbsent = false
    }

    mutating func restore(_ restored: Restored) {
        guard !hadWindow else { return }
        let bounds = ClosedRange.timelineNumbers
        let counts = 0...bounds.upperBound
        var latest: [Int64: Message] = [:]
        for message in restored.messages where bounds.contains(message.seq) { latest.keepLatest(message) }
        let sorted = latest.values.sorted { $0.seq < $1.seq }
        guard let newest = sorted.last else { return }
        // Rule 3: the longest run of messages without gaps that ends with the newest one.
        var start = sorted.count - 1
        while start > 0, sorted[start - 1].seq == sorted[start].seq - 1 { start -= 1 }
        epoch = restored.epoch
        rev = restored.rev
        becomeWindow(
            Page(
                checked: Array(sorted[start...]), hasBefore: restored.hasBefore || start > 0,
                hasAfter: restored.hasAfter, head: newest.seq, rev: restored.rev, epoch: restored.epoch,
                read: restored.read.flatMap { counts.contains($0) ? $0 : nil },
                unread: restored.unread.flatMap { counts.contains($0) ? $0 : nil }, firstUnread: nil))
        startLine()
        isRestored = true
        isAbsent = true
        subscribe()
    }

    /// Drops everything except the outbox, and opens the room again (rule 20).
    mutating func reset() {
        let place: Place
        if let opening {
            place = opening.at
        } else if follows {
            place = .last
        } else {
            place = lastVisible.map { .seq($0) } ?? openedAt ?? .last
        }
        forgetEpoch()
        beginOpening(at: place)
    }

    /// Drops the state that belongs to one epoch.
    private mutating func forgetEpoch() {
        window = nil
        list.isStale = true
        held.removeAll()
        late.removeAll()
        landed.removeAll()
        epoch = nil
        rev = 0
        head = 0
        subscribedHead = 0
        newest = 0
        arrived.removeAll()
        newestArrived = 0
        toasted.removeAll()
        read = nil
        setUnread(0, mayBeCapped: false)
        toast = nil
        typing.removeAll()
        online = nil
        post?.isOutdated = true
    }

    /// Returns the scroll target of a place in the window; nil if the place is unknown or outside the window.
    func target(inWindow place: Place) -> ScrollTarget? {
        guard let window else { return nil }
        switch place {
        case .mention:
            // Only the server knows the place of the mention.
            return nil
        case .last:
            return window.hasAfter ? nil : .bottom
        case .read:
            if isLineDrawn { return .row(.unreadLine) }
            // The place is the mark, or the first unread message after it. If the mark is unknown or outside the
            // window, the unread messages may be elsewhere.
            guard let read, read <= window.last else { return nil }
            if !window.hasAfter, window.reachesBack(to: read) { return .bottom }
            return window.message(read).map { .row(row(of: $0).id) }
        case .seq(let seq):
            return window.message(seq).map { .row(row(of: $0).id) }
        }
    }

    /// Returns the scroll target of a place once its page has become the window (rule 1).
    func nearestTarget(_ place: Place, in page: Page) -> ScrollTarget {
        guard let window, !window.isEmpty else { return .bottom }
        let seq: Int64
        switch place {
        case .last:
            return .bottom
        case .mention:
            // The mark may have passed the page's mention.
            guard let mention = page.firstUnreadMention, mention > read ?? 0 else {
                return nearestTarget(.read, in: page)
            }
            seq = mention
        case .read:
            if isLineDrawn { return .row(.unreadLine) }
            if !window.hasAfter { return .bottom }
            seq = read ?? 0
        case .seq(let asked):
            seq = asked
        }
        guard let message = window.message(min(max(seq, window.first), window.last)) else { return .bottom }
        return .row(row(of: message).id)
    }
}

extension Dictionary {
    /// Keeps the snapshot with the higher `rev` (rule 4).
    mutating func keepLatest(_ message: Value) where Key == Int64, Value: TimelineMessage {
        if let known = self[message.seq], known.rev >= message.rev { return }
        self[message.seq] = message
    }
}
