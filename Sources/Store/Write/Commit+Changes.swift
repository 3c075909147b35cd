import Chat
import Wire

/// Changes of messages. Each takes a revision unless it changes nothing.
extension Commit {
    /// Changes a message, after filing its room.
    mutating func change(
        _ change: MessageChange, in id: RoomID, by user: UserID, isOwner: Bool = false
    ) throws -> Result<Receipt, Problem> {
        guard let room = try self.room(id), change.seq > 0, change.seq <= room.head else {
            return .failure(.messageNotFound)
        }
        guard room.rev < RowKey.maximumPlace else { return .failure(.unavailable("The room is full.")) }
        try file(id, room)
        let place = RowKey(room: room.number, change.seq)
        guard let body = try statements.changes.message(place) else {
            return .failure(.internalError("A message is missing in its room."))
        }
        let next: Message?
        do {
            let message = try Message(decoding: body)
            if !erasing.isEmpty {
                let reaction: ReactionKey? = if case .addReaction(let key) = change.action { key } else { nil }
                if try eraseFirst(place, sentBy: message.sender, reaction: reaction, by: user, in: id) {
                    return try self.change(change, in: id, by: user, isOwner: isOwner)
                }
            }
            switch try change.decide(on: message, by: user, isOwner: isOwner) {
            case .done: next = nil
            case .go: next = try self.message(message, after: change.action, at: place, in: room, by: user)
            }
            guard var next else {
                return .success(.message(StoredMessage(seq: message.seq, rev: message.rev, body: body), isNew: false))
            }
            next.rev = room.rev + 1
            return .success(.message(try store(next, replacing: body, at: place, in: id, room), isNew: false))
        } catch let problem as Problem {
            return .failure(problem)
        }
    }

    /// Returns a message after an action; `nil` if the action changes nothing.
    private mutating func message(
        _ message: Message, after action: MessageChange.Action, at place: RowKey, in room: RoomTable.Room,
        by user: UserID
    ) throws -> Message? {
        var next = message
        switch action {
        case .edit(let edit):
            next.content = try edit.applied(to: message.content)
            if next.content.isSame(as: message.content) { return nil }
            // If the clock is set back, an edit still does not come before the send.
            next.editedAt = max(time, message.editedAt ?? message.createdAt)
            try rememberFirstContent(of: message, at: place)
        case .delete:
            next = try tombstone(of: message, at: place)
        case .addReaction(let key):
            let isNew = !message.reactions.contains { $0.has(key) }
            if isNew, message.reactions.count >= Limits.reactionKeys { throw Problem.tooManyReactions }
            guard try statements.changes.addReaction(key, by: user, rev: room.rev + 1, to: place) else { return nil }
            next.addReaction(key, by: user)
        case .removeReaction(let key):
            guard try statements.changes.removeReaction(key, by: user, from: place) else { return nil }
            try next.removeReaction(key, by: user) { try statements.changes.users(key, of: place) }
        }
        return next
    }

    /// Returns the tombstone of a message, and removes its rows in other tables.
    mutating func tombstone(of message: Message, at place: RowKey) throws -> Message {
        try rememberFirstContent(of: message, at: place)
        try removeReactions(to: message, at: place)
        return message.tombstone
    }

    private func rememberFirstContent(of message: Message, at place: RowKey) throws {
        guard message.clientMessageID != nil, message.isAsSent else { return }
        try statements.changes.remember(message.content, of: place)
    }

    /// Stores the next snapshot of a message, and adds it to what subscribers get.
    mutating func store(
        _ message: Message, replacing old: [UInt8], at place: RowKey, in id: RoomID, _ room: RoomTable.Room
    ) throws -> StoredMessage {
        let stored = try replace(old, by: message, at: place, in: id, room)
        try statements.totals.changed(by: stored.body.count - old.count, in: room.number)
        return stored
    }

    /// Does the same as ``store(_:replacing:at:in:_:)``, but leaves the room's total of bytes to the caller, who changes
    /// it once for many messages.
    mutating func replace(
        _ old: [UInt8], by message: Message, at place: RowKey, in id: RoomID, _ room: RoomTable.Room
    ) throws -> StoredMessage {
        var room = room
        room.rev = message.rev
        var body: [UInt8] = []
        message.encode(into: &body)
        try statements.changes.update(place, change: RowKey(room: room.number, message.rev), body)
        changedBytes += body.count
        publish(body, in: id, room)
        return StoredMessage(seq: message.seq, rev: message.rev, body: body)
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

    /// Removes a user's reaction. `first` returns the first users who still have it.
    fileprivate mutating func removeReaction(
        _ key: ReactionKey, by user: UserID, first: () throws -> [UserID]
    ) rethrows {
        guard let index = reactions.firstIndex(where: { $0.has(key) }) else { return }
        reactions[index].count -= 1
        if reactions[index].count == 0 {
            reactions.remove(at: index)
        } else if reactions[index].users.contains(user) {
            reactions[index].users = try first()
        }
    }
}
