import Chat
import Wire

/// Erasing users.
///
/// A job removes a user's data in phases: memberships, read marks, messages, and reactions to messages of others.
/// Meanwhile somebody may use the same user id again, as a new user. Before the new user changes anything in a room,
/// the old user's membership and read mark in it are removed, and a boundary is stored. Messages up to the boundary's
/// `seq`, and reactions up to its revision, are the old user's.
extension Commit {
    /// The phases of the job, in order.
    private enum Phase {
        static let memberships: Int64 = 0
        static let marks: Int64 = 1
        static let messages: Int64 = 2
        static let reactions: Int64 = 3
    }

    /// Starts to erase a user.
    mutating func erase(_ user: UserID) throws -> Receipt {
        try statements.erasures.begin(user)
        try eraseName(fromBansOf: user)
        try statements.jobs.delete(.user(user))
        jobs.removeAll { $0.kind == .user(user) }
        jobs.append(try statements.jobs.insert(.user(user)))
        erasing.insert(user)
        ends.append(.erased(user))
        var body: [UInt8] = []
        try statements.erasures.status.status(of: user)?.encode(into: &body)
        return .record(body, isNew: true)
    }

    // MARK: The job

    /// Does a part of erasing a user.
    ///
    /// - Returns: the job with its progress; `nil` once nothing of the user is left.
    mutating func erase(_ user: UserID, _ job: Job) throws -> Job? {
        var next = job
        if job.phase >= Phase.messages, journal.hasAsideMessage(of: user) {
            // Messages of rooms that are set aside are filed when the log is next opened. Then all messages are
            // searched again.
            if job.phase == Phase.messages, job.place == 0 { throw SQLiteError.setAside }
            (next.phase, next.place) = (Phase.messages, 0)
            return next
        }
        switch job.phase {
        case Phase.memberships:
            // In one order, so that it does not wait for sends to several of the rooms while they wait for it.
            let rooms = try statements.erasures.memberships(of: user, most: CommitLimits.jobRows)
            for room in rooms.sorted() { try removeMembership(of: user, in: room) }
            if rooms.count < CommitLimits.jobRows { next.phase = Phase.marks }
        case Phase.marks:
            if try statements.erasures.deleteMarks(of: user, most: CommitLimits.jobRows) < CommitLimits.jobRows {
                next.phase = Phase.messages
            }
        case Phase.messages:
            let (found, last) = try statements.erasures.messages(
                of: user, after: job.place, rows: CommitLimits.scannedRows, most: CommitLimits.erasedMessages)
            for message in found { try eraseMessage(at: message, of: user) }
            if let last { next.place = last } else { (next.phase, next.place) = (Phase.reactions, 0) }
        default:
            var count = 0
            while count < CommitLimits.erasedMessages,
                let message = try statements.erasures.nextReacted(after: next.place)
            {
                try eraseReactions(to: message, by: user)
                next.place = message.rawValue
                count += 1
            }
            if count < CommitLimits.erasedMessages {
                try statements.erasures.finish(user)
                erasing.remove(user)
                return nil
            }
        }
        return next
    }

    /// Removes the user's name from bans of others: as the one who set them, together with the user's reason, and from
    /// the reasons of others.
    private mutating func eraseName(fromBansOf user: UserID) throws {
        for (number, ban) in try statements.bans.mentions(of: user) {
            var next = ban
            if ban.by == user {
                (next.by, next.reason) = (.deleted, nil)
            } else if let reason = ban.reason?.anonymized(for: user) {
                next.reason = reason.utf8.count > Limits.banReasonBytes ? nil : reason
            }
            if next == ban { continue }
            try statements.bans.set(next, from: number)
            guard next.isInForce(at: time) else { continue }
            if number == BanStatements.server {
                bans.changes[BanTable.Key(room: nil, user: ban.user)] = next
            } else if let (id, _, isDeleted) = try statements.lookup.room(number), !isDeleted {
                bans.changes[BanTable.Key(room: id, user: ban.user)] = next
            }
        }
    }

    private mutating func removeMembership(of user: UserID, in number: Int64) throws {
        guard try statements.members.remove(user, from: number),
            let (id, _, isDeleted) = try statements.lookup.room(number), !isDeleted
        else { return }
        if let title = try statements.members.title(of: number), let next = title.anonymized(for: user) {
            try statements.members.set(title: next.utf8.count > Limits.titleBytes ? "" : next, of: number)
        }
        memberships.append(MembershipChange(user: user, room: id, kind: .left))
        ends.append(.removed(user, from: id))
    }

    /// Returns the room of a message if the message is the old user's. Messages of a deleted room are left to that
    /// room's job.
    private mutating func room(of message: RowKey, ifOldOf user: UserID) throws -> RoomID? {
        if let boundary = try statements.erasures.boundary(of: user, in: message.room), message.place > boundary.seq {
            return nil
        }
        guard let (id, _, isDeleted) = try statements.lookup.room(message.room), !isDeleted else { return nil }
        return id
    }

    private mutating func eraseMessage(at key: RowKey, of user: UserID) throws {
        guard let id = try room(of: key, ifOldOf: user), let room = try self.room(id) else { return }
        try file(id, room)
        try eraseMessage(at: key, of: user, in: id)
    }

    /// Turns a message of a filed room into a tombstone without a sender.
    private mutating func eraseMessage(at key: RowKey, of user: UserID, in id: RoomID) throws {
        guard let room = rooms[id], room.rev < RowKey.maximumPlace, let body = try statements.changes.message(key),
            var message = try? Message(decoding: body)
        else { return }
        // The client message id is removed too, so a repeated send is no longer recognised.
        message.sender = .deleted
        message.clientMessageID = nil
        var next = try tombstone(of: message, at: key)
        next.rev = room.rev + 1
        _ = try store(next, replacing: body, at: key, in: id, room)
        try statements.erasures.clearSender(of: key)
        try statements.erasures.count(1, of: user)
    }

    private mutating func eraseReactions(to message: RowKey, by user: UserID) throws {
        let boundary = try statements.erasures.boundary(of: user, in: message.room)
        for key in try statements.erasures.keys(of: message) {
            guard let rev = try statements.erasures.rev(of: key, by: user, to: message), rev <= boundary?.rev ?? .max,
                let (id, _, isDeleted) = try statements.lookup.room(message.room), !isDeleted,
                let room = try room(id), room.rev < RowKey.maximumPlace
            else { continue }
            try file(id, room)
            let removal = MessageChange(seq: message.place, action: .removeReaction(key))
            guard case .failure = try change(removal, in: id, by: user) else { continue }
            // The message cannot be read, but the row of the reaction is deleted all the same.
            _ = try statements.changes.removeReaction(key, by: user, from: message)
        }
    }

    // MARK: Coming back

    /// Separates the old user from the new one in a room, before a change there by or to a user who is being erased.
    mutating func separate(_ submission: Submission, in room: RoomTable.Room) throws {
        if room.isDeleted { return }
        try comeBack(submission.sender, to: room)
        if case .room(.setMember(let user, _)) = submission.change { try comeBack(user, to: room) }
    }

    private mutating func comeBack(_ user: UserID, to room: RoomTable.Room) throws {
        guard erasing.contains(user), try statements.erasures.boundary(of: user, in: room.number) == nil else { return }
        try removeMembership(of: user, in: room.number)
        try statements.erasures.deleteMark(of: user, in: room.number)
        try statements.erasures.setBoundary(of: user, in: room.number, seq: room.head, rev: room.rev)
    }

    /// Erases the old user's message or reaction that the new user is about to touch.
    ///
    /// The message becomes a tombstone before the new user changes it or sends another under its client message id. The
    /// reaction is removed before the new user reacts with the same key.
    ///
    /// - Returns: true if there was such a message or reaction.
    mutating func eraseFirst(
        _ key: RowKey, sentBy sender: UserID, reaction: ReactionKey? = nil, by user: UserID, in id: RoomID
    ) throws -> Bool {
        guard erasing.contains(user), let boundary = try statements.erasures.boundary(of: user, in: key.room),
            let room = try room(id)
        else { return false }
        if sender == user, key.place <= boundary.seq {
            try file(id, room)
            try eraseMessage(at: key, of: user, in: id)
            return true
        }
        guard let reaction, let rev = try statements.erasures.rev(of: reaction, by: user, to: key), rev <= boundary.rev
        else { return false }
        _ = try change(MessageChange(seq: key.place, action: .removeReaction(reaction)), in: id, by: user)
        return true
    }
}

extension String {
    /// The text with ``UserID/deleted`` in place of a user's id where that stands as a word of its own; `nil` if it does
    /// not.
    func anonymized(for user: UserID) -> String? {
        let (text, id) = (Array(unicodeScalars), Array(user.string.unicodeScalars))
        func isOfWord(_ index: Int) -> Bool {
            guard text.indices.contains(index) else { return false }
            let properties = text[index].properties
            return properties.isAlphabetic || properties.numericType != nil
                || properties.canonicalCombiningClass != .notReordered
        }
        var result = String.UnicodeScalarView()
        var (index, isFound) = (0, false)
        while index < text.count {
            let end = index + id.count
            if text[index...].starts(with: id), !isOfWord(index - 1), !isOfWord(end) {
                result.append(contentsOf: UserID.deleted.string.unicodeScalars)
                (index, isFound) = (end, true)
            } else {
                result.append(text[index])
                index += 1
            }
        }
        return isFound ? String(result) : nil
    }
}
