public import Wire

/// Changes of messages. Each takes a revision unless it changes nothing.
extension Rules {
    /// A message with its encoded snapshot.
    fileprivate struct Snapshot {
        var message: Message
        var stored: StoredMessage
    }

    mutating func change(_ change: MessageChange, by submission: Submission) throws(Halt) -> Receipt {
        let user = submission.sender
        guard let room = facts.room, change.seq > 0, change.seq <= room.head else {
            throw .refused(.messageNotFound)
        }
        if room.isFull { throw .refused(.roomFull) }
        switch change.action {
        case .edit, .delete: try facts.require([.message, .time])
        case .addReaction, .removeReaction: try facts.require([.message, .reaction])
        case .pin: try facts.require([.message, .time, .hasMaximumPins])
        case .unpin: try facts.require(.message)
        }
        guard let body = facts.message else { throw .refused(.internalError("A message is missing in its room.")) }
        let message = try decoded(body)
        var old = Snapshot(message: message, stored: StoredMessage(seq: message.seq, rev: message.rev, body: body))
        try eraseFirst(&old, change.action, by: user)
        var isOwner = false
        switch change.action {
        case .delete: if old.message.sender != user { isOwner = try mayDeleteOfOthers(submission) }
        case .pin, .unpin: try checkPinning(submission)
        case .edit, .addReaction, .removeReaction: break
        }
        do throws(Problem) {
            if try !Self.takesEffect(change, on: old.message, by: user, isOwner: isOwner) {
                return .message(old.stored, isNew: false)
            }
        } catch {
            throw .refused(error)
        }
        guard let next = try self.message(old.message, after: change.action, by: submission) else {
            return .message(old.stored, isNew: false)
        }
        return .message(try replace(old.stored, by: next), isNew: false)
    }

    /// Checks that a user may change a message in this way. The sender is checked first, so that a refusal reveals
    /// nothing about what others may do.
    ///
    /// - Parameter isOwner: True if the user is an owner of the room or an admin.
    /// - Returns: False if there is nothing to do, because the message is as requested. A repeated edit, with the revision
    ///   that the first one was based on, counts as done.
    /// - Throws: 403 `not_the_sender`, 409 `message_deleted`, 412 `precondition_failed`.
    static func takesEffect(
        _ change: MessageChange, on message: Message, by user: UserID, isOwner: Bool
    ) throws(Problem) -> Bool {
        switch change.action {
        case .edit: guard message.sender == user else { throw .notTheSender }
        case .delete: guard message.sender == user || isOwner else { throw .notTheSender }
        case .addReaction, .removeReaction: break
        case .pin, .unpin: break  // the room's settings decide, whoever sent it
        }
        if message.deleted {
            switch change.action {
            case .edit, .addReaction, .pin: throw .messageDeleted
            // The result is what the client asked for, whatever revision it has seen (RFC 9110, section 13.1.1).
            case .delete, .removeReaction, .unpin: return false
            }
        }
        guard let revs = change.revs, !revs.contains(message.rev) else { return true }
        if isRepeated(change.action, on: message, revs) { return false }
        throw .preconditionFailed(rev: message.rev)
    }

    /// Returns true for an edit that was already made. Its answer was lost, and the client repeats it with the same
    /// revision. The message was edited after that revision and has the requested content, so the server may answer as
    /// if it had just made the edit (RFC 9110, section 13.1.1).
    private static func isRepeated(_ action: MessageChange.Action, on message: Message, _ revs: [Int64]) -> Bool {
        guard case .edit(let edit) = action, message.editedAt != nil,
            revs.contains(where: { $0 > 0 && $0 < message.rev }),
            let content = try? edit.applied(to: message.content)
        else { return false }
        return content.isSame(as: message.content)
    }

    /// Returns true if the caller may delete messages of others.
    ///
    /// Both of a direct room own it. One whom the other one blocks may delete only what is the caller's own.
    private func mayDeleteOfOthers(_ submission: Submission) throws(Halt) -> Bool {
        if facts.room?.direct?.blocks(submission.sender) == true, !submission.isAdmin { throw .refused(.blocked) }
        return try isOwner(submission)
    }

    /// Checks that the caller may pin messages in the room.
    private func checkPinning(_ submission: Submission) throws(Halt) {
        if try isOwner(submission) { return }
        guard facts.room?.pinning == .members else { throw .refused(.notAnOwner) }
        if facts.role == nil { throw .refused(.notAMember) }
    }

    /// Returns a message after an action; `nil` if the action changes nothing.
    fileprivate mutating func message(
        _ message: Message, after action: MessageChange.Action, by submission: Submission
    ) throws(Halt) -> Message? {
        let user = submission.sender
        var next = message
        switch action {
        case .edit(let edit):
            do throws(Problem) { next.content = try edit.applied(to: message.content) } catch { throw .refused(error) }
            if next.content.isSame(as: message.content) { return nil }
            let (mentions, before) = (next.content.mentions, message.content.mentions)
            if mentions.room, !before.room { try checkRoomMention(by: submission) }
            // Mentions that stay are not added again: some may be of a user who was erased since.
            removeMentions(before.subtracting(mentions), of: message)
            addMentions(mentions.subtracting(before), of: message.seq, by: message.sender, at: message.createdAt)
            // If the clock is set back, an edit still does not come before the send.
            next.editedAt = max(facts.time, message.editedAt ?? message.createdAt)
            rememberContent(of: message)
        case .delete:
            next = tombstone(of: message)
        case .addReaction(let key):
            let isNew = !message.reactions.contains { $0.has(key) }
            if isNew, message.reactions.count >= Limits.reactionKeys { throw .refused(.tooManyReactions) }
            if facts.reaction != nil { return nil }
            let rev = facts.room!.rev + 1
            writes.append(.addReaction(key, seq: message.seq, user, rev: rev))
            next.addReaction(key, by: user)
        case .removeReaction(let key):
            guard facts.reaction != nil else { return nil }
            next = try self.message(message, without: key, of: user)
        case .pin:
            if message.pinned != nil { return nil }
            if facts.hasMaximumPins { throw .refused(.tooManyPins) }
            writes.append(.pin(seq: message.seq, user, rev: facts.room!.rev + 1))
            next.pinned = Pin(by: user, at: facts.time)
        case .unpin:
            if message.pinned == nil { return nil }
            writes.append(.unpin(seq: message.seq))
            next.pinned = nil
        }
        return next
    }

    /// Returns a message without a reaction that a user has.
    fileprivate mutating func message(
        _ message: Message, without key: ReactionKey, of user: UserID
    ) throws(Halt) -> Message {
        var next = message
        if let index = next.reactions.firstIndex(where: { $0.has(key) }) {
            next.reactions[index].count -= 1
            if next.reactions[index].count == 0 {
                next.reactions.remove(at: index)
            } else if next.reactions[index].users.contains(user) {
                try facts.require(.reactingUsers)
                next.reactions[index].users = Array(
                    facts.reactingUsers.filter { $0 != user }.prefix(Limits.reactionUsers))
            }
        }
        writes.append(.removeReaction(key, seq: message.seq, user))
        facts.reaction = nil
        return next
    }

    /// Returns the tombstone of a message, and removes what else is stored of it.
    fileprivate mutating func tombstone(of message: Message) -> Message {
        rememberContent(of: message)
        let count = message.reactions.reduce(0) { $0 + $1.count }
        if count > 0 { writes.append(.removeReactions(seq: message.seq, count: count)) }
        removeMentions(message.content.mentions, of: message)
        if message.pinned != nil { writes.append(.unpin(seq: message.seq)) }
        return message.tombstone
    }

    private mutating func removeMentions(_ mentions: Mentions, of message: Message) {
        if !mentions.isEmpty { writes.append(.removeMentions(mentions, seq: message.seq)) }
    }

    /// Remembers the content first sent, unless another one is remembered, from before the app has changed it.
    fileprivate mutating func rememberContent(of message: Message) {
        guard message.clientMessageID != nil, message.isAsSent else { return }
        writes.append(.rememberContent(message.content, seq: message.seq))
    }

    /// Replaces the snapshot of a message. The new one takes the room's next revision.
    fileprivate mutating func replace(_ old: StoredMessage, by message: Message) throws(Halt) -> StoredMessage {
        if facts.room!.isFull { throw .refused(.roomFull) }
        facts.room!.rev += 1
        var next = message
        next.rev = facts.room!.rev
        var body: [UInt8] = []
        next.encode(into: &body)
        let stored = StoredMessage(seq: next.seq, rev: next.rev, body: body)
        writes.append(.replace(ReplacedMessage(stored: stored, replacedBytes: old.body.count)))
        return stored
    }

    // MARK: Erased users

    /// Turns a message of an erased user into a tombstone without a sender. A repeated send with its client message id
    /// is no longer recognized.
    fileprivate mutating func erase(_ old: inout Snapshot, of user: UserID) throws(Halt) {
        var message = old.message
        message.sender = .deleted
        message.clientMessageID = nil
        message = tombstone(of: message)
        old.stored = try replace(old.stored, by: message)
        message.rev = old.stored.rev
        old.message = message
        writes.append(.forgetSender(seq: message.seq, user))
    }

    /// Erases the old user's message or reaction that the new user is about to touch.
    fileprivate mutating func eraseFirst(
        _ old: inout Snapshot, _ action: MessageChange.Action, by user: UserID
    ) throws(Halt) {
        guard let boundary = try boundary(of: user) else { return }
        if old.message.sender == user, old.message.seq <= boundary.seq {
            try erase(&old, of: user)
            facts.reaction = nil
        } else if case .addReaction(let key) = action, let rev = facts.reaction, rev <= boundary.rev,
            !old.message.deleted
        {
            old.message = try message(old.message, without: key, of: user)
            old.stored = try replace(old.stored, by: old.message)
            old.message.rev = old.stored.rev
        }
    }

    /// Erases the old user's message whose client message id the new user is about to use.
    ///
    /// - Returns: False if it is not the old user's, or cannot be read.
    mutating func eraseFirst(_ first: StoredMessage, by user: UserID) throws(Halt) -> Bool {
        guard let boundary = try boundary(of: user), first.seq <= boundary.seq,
            let message = try? Message(decoding: first.body), message.sender == user
        else { return false }
        var old = Snapshot(message: message, stored: first)
        if !facts.room!.isFull { try erase(&old, of: user) }
        return true
    }

    /// Returns the boundary of a caller who is being erased; `nil` for others.
    private func boundary(of user: UserID) throws(Halt) -> Facts.Boundary? {
        guard facts.erasing.contains(user) else { return nil }
        try facts.require(.past)
        return facts.past.boundary
    }
}

/// Changes of single messages that jobs make.
extension Decision {
    /// Decides that a message expires: it becomes a tombstone, as a deletion makes it.
    ///
    /// - Parameter body: The message's snapshot.
    /// - Returns: `nil` if the room is full.
    public init?(expiring message: Message, _ body: [UInt8], in room: RoomFacts) {
        self.init(message, body, in: room) { rules, old throws(Halt) in
            _ = try rules.replace(old.stored, by: rules.tombstone(of: old.message))
        }
    }

    /// Decides that a message of an erased user becomes a tombstone without a sender.
    ///
    /// - Returns: `nil` if the room is full.
    public init?(erasing message: Message, _ body: [UInt8], of user: UserID, in room: RoomFacts) {
        self.init(message, body, in: room) { rules, old throws(Halt) in try rules.erase(&old, of: user) }
    }

    /// Decides that the reaction of an erased user is removed.
    ///
    /// - Parameter users: The first users with a reaction, see ``Facts/reactingUsers``.
    /// - Returns: `nil` if the room is full.
    public init?(
        removing key: ReactionKey, of user: UserID, from message: Message, _ body: [UInt8],
        reactingUsers users: [UserID],
        in room: RoomFacts
    ) {
        self.init(message, body, in: room) { rules, old throws(Halt) in
            rules.facts.reactingUsers = users
            _ = try rules.replace(old.stored, by: rules.message(old.message, without: key, of: user))
        }
    }

    /// Decides that the pin of a message keeps no name, because its user is erased.
    ///
    /// - Returns: `nil` if the room is full, or the message is not pinned.
    public init?(unnamingPinOf message: Message, _ body: [UInt8], in room: RoomFacts) {
        guard message.pinned != nil else { return nil }
        self.init(message, body, in: room) { rules, old throws(Halt) in
            var next = old.message
            next.pinned?.by = .deleted
            _ = try rules.replace(old.stored, by: next)
            rules.writes.append(.forgetPinner(seq: next.seq))
        }
    }

    private init?(
        _ message: Message, _ body: [UInt8], in room: RoomFacts,
        _ change: (inout Rules, inout Rules.Snapshot) throws(Halt) -> Void
    ) {
        if room.isFull { return nil }
        var facts = Facts(at: nil, Facts.Policy())
        facts.room = room
        var rules = Rules(facts: facts)
        var old = Rules.Snapshot(
            message: message, stored: StoredMessage(seq: message.seq, rev: message.rev, body: body))
        do throws(Halt) { try change(&rules, &old) } catch { return nil }
        self.init(result: .success(.message(old.stored, isNew: false)), writes: rules.writes)
    }
}

extension Reaction {
    fileprivate func has(_ key: ReactionKey) -> Bool { self.key.hasSameBytes(as: key.string) }
}

extension Message {
    /// Adds a user's reaction, which must be new.
    fileprivate mutating func addReaction(_ key: ReactionKey, by user: UserID) {
        guard let index = reactions.firstIndex(where: { $0.has(key) }) else {
            return reactions.append(Reaction(key: key.string, count: 1, users: [user]))
        }
        reactions[index].count += 1
        if reactions[index].users.count < Limits.reactionUsers { reactions[index].users.append(user) }
    }
}
