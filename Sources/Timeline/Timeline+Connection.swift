// The connection, its frames and the clock (rules 20 and 21).

extension Timeline {
    mutating func subscribe() {
        guard let epoch else { return }
        closeSocket()
        socket = .opening
        connecting.wait = nil
        effects.append(.subscribe(since: rev, epoch: epoch))
    }

    mutating func closeSocket() {
        socket = .closed
        isLive = false
    }

    mutating func takeConnected() {
        guard socket == .opening else { return }
        socket = .open
        isReplaying = true
    }

    mutating func takeDisconnected() {
        if socket == .closed { return }
        closeSocket()
        isAbsent = true
        if wasCut { return connecting.failAndWait(now: elapsed) }
        wasCut = true
        subscribe()
    }

    mutating func takeFrame(_ frame: Frame) {
        if let room = frame.room, !room.isExactly(self.room) { return }
        if case .error(let code) = frame.content {
            if code == "cursor_unknown", window != nil { reset() }
            return
        }
        guard socket == .open else { return }
        if let named = frame.epoch, epoch.map({ !named.isExactly($0) }) ?? true { return reset() }
        switch frame.content {
        case .subscribed(let head):
            subscribedHead = head ?? 0
            self.head = max(self.head, subscribedHead)
        case .message(let message):
            guard ClosedRange.timelineNumbers.contains(message.seq) else { return }
            rev = max(rev, message.rev)
            noteArrival(message)
            learn(message)
        case .live(let rev):
            self.rev = max(self.rev, rev ?? 0)
            takeLive()
        case .typing(let user):
            takeTyping(user)
        case .read(let user, let seq):
            if user.isExactly(me), ClosedRange.timelineNumbers.contains(seq) || seq == 0 { moveMark(to: seq) }
        case .presence(let online):
            self.online = online
        case .error, .unknown:
            break
        }
    }

    private mutating func takeLive() {
        isLive = true
        isReplaying = false
        wasCut = false
        openingHead = openingHead ?? head
        connecting.succeed()
        appendHeld()
        if !held.isEmpty, window?.hasAfter == false { fetchGap() }
        attemptAgain { !$0.isAsked }
    }

    private mutating func takeTyping(_ user: String) {
        if user.isExactly(me) { return }
        let until = elapsed + Self.typingMilliseconds
        if let index = typing.firstIndex(where: { $0.user.isExactly(user) }) {
            typing[index].until = until
        } else {
            typing.append((user, until))
        }
    }

    mutating func takeTime(_ now: Double) {
        guard now.isFinite else { return }
        // A clock that is set back must not stop the waits. So only differences count, and each counts once.
        if let last = self.now { elapsed += max(0, now - last) }
        self.now = now
        if !typing.isEmpty { typing.removeAll { [elapsed] in $0.until <= elapsed } }
        attemptAgain { [elapsed] in $0.until <= elapsed }
    }

    mutating func takeOffsets(_ offsets: UTCOffsets) {
        utcOffsets = offsets
        list.isStale = true
        list.isTailStale = true
    }

    /// Retries everything that waits, if its wait is over.
    mutating func attemptAgain(where isOver: (Attempt.Wait) -> Bool) {
        if let wait = opening?.fetch.wait, isOver(wait) { fetchOpening() }
        if let wait = jump?.fetch?.wait, isOver(wait) { fetchJumpAgain() }
        if let wait = before.wait, isOver(wait) { fetchEdge(.before) }
        if let wait = after.wait, isOver(wait) { fetchEdge(.after) }
        if let wait = posting.wait, isOver(wait) { posting.wait = nil }
        if let wait = connecting.wait, isOver(wait) { subscribe() }
    }
}
