import Wire

/// Sends and read marks.
extension Rules {
    /// Checks that the message that a draft replies to exists.
    func checkReply(_ draft: Draft) throws(Halt) {
        guard let replyTo = draft.content.replyTo else { return }
        if replyTo > facts.room?.head ?? 0 { throw .refused(.replyToNotFound) }
    }

    mutating func send(_ draft: Draft, to id: RoomID, by submission: Submission) throws(Halt) -> Receipt {
        let sender = submission.sender
        // None if the room does not exist.
        let head = facts.room?.head
        try facts.require(.time)
        if head != nil, draft.clientMessageID != nil {
            try facts.require(.first)
            if let first = facts.first, try !eraseFirst(first, by: sender) { return try repeated(draft, of: first) }
        }
        // All other rules come after the repeated sends, which were accepted, and have moved the head themselves.
        try checkChange(submission)
        try checkReply(draft)
        let isSlow = try checkManners(submission)
        if let expected = draft.expectHead, expected != head ?? 0 { throw .refused(.headMoved(head ?? 0)) }
        if head == nil { createRoom(by: sender) }
        if draft.content.mentions.room { try checkRoomMention(by: submission) }
        // A new message brings a direct room into the lists of both.
        if let direct = facts.room?.direct {
            for side in direct.sides where side.isHidden { writes.append(.showRoom(side.user, rev: facts.room!.rev)) }
        }
        // Created above if it did not exist.
        guard let message = facts.room!.append(draft, by: sender, to: id, at: facts.time) else {
            throw .refused(.roomFull)
        }
        if isSlow { writes.append(.noteSend(sender, at: facts.time)) }
        self.message = message
        if let original = draft.original, draft.clientMessageID != nil {
            writes.append(.rememberContent(original, seq: message.stored.seq))
        }
        addMentions(draft.content.mentions, of: message.stored.seq, by: sender, at: message.createdAt)
        return .message(message.stored, isNew: true)
    }

    /// Checks that the room takes a new message of the caller at this time.
    ///
    /// - Returns: True if the caller's next message has to wait.
    func checkManners(_ submission: Submission) throws(Halt) -> Bool {
        guard let room = facts.room, room.limitsSends, try !isOwner(submission) else { return false }
        if room.posting == .owners { throw .refused(.postingRestricted) }
        if room.slowSeconds == 0 { return false }
        try facts.require(.lastSend)
        if let last = facts.lastSend, let wait = room.wait(after: last, at: facts.time) {
            throw .refused(.slowMode(retryAfter: wait))
        }
        return true
    }

    /// Returns the stored message for a repeated send, and refuses another send with the same client message id.
    private func repeated(_ draft: Draft, of first: StoredMessage) throws(Halt) -> Receipt {
        let message = try decoded(first.body)
        // Before it was stored, the content may have been changed: then its fingerprint tells.
        let isSame =
            message.isAsSent
            && (message.content.isSame(as: draft.content)
                || draft.original.map { message.content.isSame(as: $0) } ?? false)
        if !isSame {
            try facts.require(.isFirstContent)
            guard facts.isFirstContent else { throw .refused(.clientMessageIDReused) }
        }
        return .message(first, isNew: false)
    }

    // MARK: Mentions

    /// Checks that a user may mention everybody in the room.
    func checkRoomMention(by submission: Submission) throws(Halt) {
        if try isOwner(submission) { return }
        try facts.require(.hasManyMembers)
        if facts.hasManyMembers { throw .refused(.roomMention(limit: facts.policy.roomMentionMembers)) }
    }

    /// Adds mentions that a message does not have. A mention of oneself has no effect.
    mutating func addMentions(_ mentions: Mentions, of seq: Int64, by sender: UserID, at time: Timestamp) {
        if mentions.isEmpty { return }
        var mentions = mentions
        mentions.users.removeAll { $0 == sender }
        if mentions.isEmpty { return }
        writes.append(.addMentions(mentions, seq: seq, sender: sender, createdAt: time))
    }

    func decoded(_ body: [UInt8]) throws(Halt) -> Message {
        do throws(Problem) { return try Message(decoding: body) } catch { throw .refused(error) }
    }

    /// Creates the room. The user becomes its owner.
    mutating func createRoom(by user: UserID) {
        facts.room = RoomFacts()
        facts.role = .owner
        writes.append(.createRoom(owner: user))
        // If the user is being erased, the erased user has nothing in the new room.
        if facts.erasing.contains(user) { writes.append(.setBoundary(user, Facts.Boundary(seq: 0, rev: 0))) }
    }

    /// Moves a user's read mark forward to `seq`, or to the head if that is less.
    mutating func read(to seq: Int64, by user: UserID) throws(Halt) -> Receipt {
        // A read mark does not create a room.
        guard let room = facts.room else { return .readMark(seq: 0, hasMoved: false) }
        try facts.require([.mark, .time])
        let seq = min(seq, room.head)
        guard seq > facts.mark else { return .readMark(seq: facts.mark, hasMoved: false) }
        writes.append(.raiseMark(user, seq: seq, at: facts.time))
        return .readMark(seq: seq, hasMoved: true)
    }
}

extension Problem {
    /// 503: the room has the largest `seq` or revision.
    static var roomFull: Problem { .unavailable("The room is full.") }
}
