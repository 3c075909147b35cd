import Chat
import Wire

/// The phases of the job, in order.
private enum Phase {
    static let memberships: Int64 = 0
    static let marks: Int64 = 1
    static let messages: Int64 = 2
    static let reactions: Int64 = 3
    static let pins: Int64 = 4
}

/// Erasing users: a job removes a user's data in phases, which are memberships, read marks with mentions, blocks by others
/// and reports, messages, reactions to messages of others, and the name in pins. Messages of others keep the name in their
/// content.
///
/// Meanwhile somebody may use the same user id again, as a new user. The rules then separate the two, see
/// ``Facts/Past``, so the job leaves alone what lies beyond a boundary.
extension Commit {
    /// Records that a user is being erased, and adds the job.
    mutating func beginErasure(of user: UserID) throws {
        try db.beginErasure(of: user)
        // At once, since a new user of the name may set others.
        try db.deleteBlocks(by: user)
        try db.eraseName(fromReportsOf: user)
        try db.eraseName(fromWebhookEventsOf: user)
        // At once, because later it could be that of a new user.
        try db.deleteProfile(of: user)
        try eraseName(fromBansOf: user)
        try db.deleteJob(.user(user))
        jobs.removeAll { $0.kind == .user(user) }
        jobs.append(try db.insertJob(.user(user)))
        erasing.insert(user)
    }

    // MARK: The job

    /// Does a part of erasing a user.
    ///
    /// - Returns: the job with its progress; `nil` once nothing of the user is left.
    mutating func erase(_ user: UserID, _ job: Job) throws -> Job? {
        var next = job
        if job.phase >= Phase.messages, let refusal = store.refusal(ofErasing: user) {
            // Once the messages can be changed, all messages are searched again.
            if job.phase == Phase.messages, job.cursor == 0 { throw refusal }
            (next.phase, next.cursor) = (Phase.messages, 0)
            return next
        }
        switch job.phase {
        case Phase.memberships:
            // In one order, so that it does not wait for sends to several of the rooms while they wait for it.
            let rooms = try db.memberships(toErase: user, most: CommitLimits.jobRows)
            for room in rooms.sorted() { try removeMembership(of: user, in: room) }
            if rooms.count < CommitLimits.jobRows { next.phase = Phase.marks }
        case Phase.marks:
            let hasMarks = try db.deleteMarks(of: user, most: CommitLimits.jobRows)
            let mentions = try db.deleteMentions(of: user, most: CommitLimits.jobRows)
            let blocks = try db.deleteBlocks(of: user, most: CommitLimits.jobRows)
            let hasNoReports = try db.deleteReports(of: user, most: CommitLimits.jobRows)
            if !hasMarks, max(mentions, blocks) < CommitLimits.jobRows, hasNoReports {
                next.phase = Phase.messages
            }
        case Phase.messages:
            let (found, last) = try db.messages(
                of: user, after: job.cursor, rows: CommitLimits.scannedRows, most: CommitLimits.erasedMessages)
            for message in found { try eraseMessage(at: message, of: user) }
            if let last { next.cursor = last } else { (next.phase, next.cursor) = (Phase.reactions, 0) }
        case Phase.pins:
            var count = 0
            while count < CommitLimits.erasedMessages, let pin = try db.nextPin(by: user, after: next.cursor) {
                try erasePin(of: pin.message, rev: pin.rev, by: user)
                next.cursor = pin.message.rawValue
                count += 1
            }
            if count < CommitLimits.erasedMessages {
                try db.finishErasure(of: user)
                erasing.remove(user)
                return nil
            }
        default:
            var count = 0
            while count < CommitLimits.erasedMessages,
                let message = try db.nextReacted(after: next.cursor)
            {
                try eraseReactions(to: message, by: user)
                next.cursor = message.rawValue
                count += 1
            }
            if count < CommitLimits.erasedMessages { (next.phase, next.cursor) = (Phase.pins, 0) }
        }
        return next
    }

    /// Removes the user's name from bans of others.
    private mutating func eraseName(fromBansOf user: UserID) throws {
        for (number, ban) in try db.bansThatMayName(user) {
            let next = ban.anonymized(for: user)
            if next == ban { continue }
            try db.setBan(next, from: number)
            guard next.isInForce(at: time) else { continue }
            if number == RowKey.server {
                bans.changes[BanTable.Key(room: nil, user: ban.user)] = next
            } else if let (id, _, isDeleted) = try db.room(number), !isDeleted {
                bans.changes[BanTable.Key(room: id, user: ban.user)] = next
            }
        }
    }

    private mutating func removeMembership(of user: UserID, in number: Int64) throws {
        guard let (id, _, isDeleted) = try db.room(number), !isDeleted else {
            return try db.removeMember(user, from: number)
        }
        let past = Facts.Past(isMember: true, title: try db.title(of: number))
        let writes = Decision.leaving(user, past, in: id)
        let changesRoom = writes.contains { write in
            switch write {
            case .setRoom, .forgetDirect: true
            default: false
            }
        }
        // Without the user's name in it, the room itself does not change, and need not be loaded.
        if changesRoom {
            var target = Target(id: id, room: try room(id))
            for write in writes { try apply(write, &target) }
        } else {
            for write in writes { try applyToRows(write, in: id, number) }
        }
        if !eventKinds.isEmpty { noteEvents(of: writes, in: id, at: nil, by: nil) }
    }

    /// A message, and the target of decisions on it.
    private struct OpenMessage {
        var target: Target
        let message: Message
        let body: [UInt8]
        var facts: RoomFacts { target.room!.facts }
    }

    /// Returns a message, after filing its room; `nil` if it cannot be changed. A deleted room is left to its own job.
    private mutating func open(_ key: RowKey) throws -> OpenMessage? {
        guard let (id, _, isDeleted) = try db.room(key.room), !isDeleted, let room = try room(id) else {
            return nil
        }
        try store.file(id, room)
        guard let body = try db.snapshot(of: key), let message = try? Message(decoding: body) else {
            return nil
        }
        return OpenMessage(target: Target(id: id, room: room), message: message, body: body)
    }

    private mutating func eraseMessage(at key: RowKey, of user: UserID) throws {
        if let boundary = try db.boundary(of: user, in: key.room), key.ordinal > boundary.seq { return }
        guard var old = try open(key),
            let decision = Decision(erasing: old.message, old.body, of: user, in: old.facts)
        else { return }
        try apply(decision, &old.target)
    }

    /// Removes a user's name from a pin. The message stays pinned.
    private mutating func erasePin(of key: RowKey, rev: Int64, by user: UserID) throws {
        if let boundary = try db.boundary(of: user, in: key.room), rev > boundary.rev { return }
        guard var old = try open(key),
            let decision = Decision(unnamingPinOf: old.message, old.body, in: old.facts)
        else { return }
        try apply(decision, &old.target)
    }

    private mutating func eraseReactions(to key: RowKey, by user: UserID) throws {
        let boundary = try db.boundary(of: user, in: key.room)
        for reaction in try db.reactionKeys(of: key) {
            guard let rev = try db.rev(of: reaction, by: user, to: key), rev <= boundary?.rev ?? .max,
                let (_, _, isDeleted) = try db.room(key.room), !isDeleted
            else { continue }
            guard var old = try open(key) else {
                // The message cannot be read, but the row of the reaction is deleted all the same.
                try db.removeReaction(reaction, by: user, from: key)
                continue
            }
            // The reactions to a tombstone have a job of their own.
            if old.message.deleted { continue }
            let users = try db.reactingUsers(reaction, to: key)
            let decision = Decision(
                removing: reaction, of: user, from: old.message, old.body, reactingUsers: users, in: old.facts)
            if let decision { try apply(decision, &old.target) }
        }
    }
}
