import Chat
import GRDB
import Wire

/// Erasing users.
///
/// A job goes through what there is of the user, in phases: memberships, read marks, messages, and reactions to others'
/// messages. The user may come back meanwhile, as a new one. So before something is done by or to a user who is being
/// erased, what there is of the old one in that room and would be in the way goes first, and a boundary is kept: up to which
/// `seq` and revision of the room things are the old one's.
extension Commit {
    /// The phases of the job, in their order.
    private enum Phase {
        static let memberships: Int64 = 0
        static let marks: Int64 = 1
        static let messages: Int64 = 2
        static let reactions: Int64 = 3
    }

    /// The number of rows that a part looks at for messages of the user.
    private static let scannedRows = 2048
    /// The most messages that one part makes tombstones.
    private static let erasedMessages = 64

    /// Begins to erase a user.
    mutating func erase(_ user: UserID) throws -> Stored {
        try statements.erasures.begin(user)
        try statements.jobs.delete(.user(user))
        jobs.removeAll { $0.kind == .user(user) }
        jobs.append(try statements.jobs.insert(.user(user)))
        erasing.insert(user)
        ends.append(.erased(user))
        var body: [UInt8] = []
        try statements.erasures.status.status(of: user)?.encode(into: &body)
        return Stored(seq: 0, rev: 0, body: body, isNew: true)
    }

    // MARK: The job

    /// Does a part of erasing a user.
    ///
    /// - Returns: the job as it is now; `nil` when nothing of the user is left.
    mutating func erase(_ user: UserID, _ job: Job) throws -> Job? {
        var next = job
        if job.phase >= Phase.messages, recent.hasAsideMessage(of: user) {
            // They are filed when the log is opened the next time; then all messages are looked at again.
            if job.phase == Phase.messages, job.place == 0 { throw DatabaseError.setAside }
            (next.phase, next.place) = (Phase.messages, 0)
            return next
        }
        switch job.phase {
        case Phase.memberships:
            let rooms = try statements.erasures.memberships(of: user, most: Job.rows)
            for room in rooms { try removeMembership(of: user, in: room) }
            if rooms.count < Job.rows { next.phase = Phase.marks }
        case Phase.marks:
            if try statements.erasures.deleteMarks(of: user, most: Job.rows) < Job.rows { next.phase = Phase.messages }
        case Phase.messages:
            let (found, last) = try statements.erasures.messages(
                of: user, after: job.place, rows: Self.scannedRows, most: Self.erasedMessages)
            for message in found { try eraseMessage(at: message, of: user) }
            if let last { next.place = last } else { (next.phase, next.place) = (Phase.reactions, 0) }
        default:
            var count = 0
            while count < Self.erasedMessages, let message = try statements.erasures.nextReacted(after: next.place) {
                try eraseReactions(to: message, by: user)
                next.place = message.rawValue
                count += 1
            }
            if count < Self.erasedMessages {
                try statements.erasures.finish(user)
                erasing.remove(user)
                return nil
            }
        }
        return next
    }

    private mutating func removeMembership(of user: UserID, in number: Int64) throws {
        try statements.members.remove(user, from: number)
        guard let (id, _, isDeleted) = try statements.lookup.room(number), !isDeleted else { return }
        memberships.append(MembershipChange(user: user, room: id, kind: .left))
        ends.append(.removed(user, from: id))
    }

    /// The room of a row that is the old user's and not of a deleted room, which goes by itself.
    private mutating func room(of message: RowKey, ifOldOf user: UserID) throws -> RoomID? {
        if let boundary = try statements.erasures.boundary(of: user, in: message.room), message.place > boundary.seq {
            return nil
        }
        guard let (id, _, isDeleted) = try statements.lookup.room(message.room), !isDeleted else { return nil }
        return id
    }

    private mutating func eraseMessage(at key: RowKey, of user: UserID) throws {
        guard let id = try room(of: key, ifOldOf: user), let room = try self.room(id) else { return }
        try settle(id, room)
        try eraseMessage(at: key, of: user, in: id)
    }

    /// Makes a message of a room that is settled a tombstone of nobody.
    private mutating func eraseMessage(at key: RowKey, of user: UserID, in id: RoomID) throws {
        guard let room = rooms[id], room.rev < RowKey.maximumPlace, let body = try statements.changes.message(key),
            var message = try? Message(decoding: body)
        else { return }
        // Nothing is kept to tell a repeated send by: its client message id goes, too.
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
            try settle(id, room)
            let removal = MessageChange(seq: message.place, action: .removeReaction(key))
            guard case .failure = try change(removal, in: id, by: user) else { continue }
            // The message cannot be read: the row goes all the same.
            _ = try statements.changes.removeReaction(key, by: user, from: message)
        }
    }

    // MARK: Coming back

    /// Before something is done in a room by or to a user who is being erased: from here on the user is a new one there.
    mutating func separate(_ submission: Submission, in room: RoomTable.Room) throws {
        if room.isDeleted { return }
        try comeBack(submission.sender, to: room)
        if case .room(.setMember(let user, _)) = submission.change { try comeBack(user, to: room) }
    }

    private mutating func comeBack(_ user: UserID, to room: RoomTable.Room) throws {
        guard erasing.contains(user), try statements.erasures.boundary(of: user, in: room.number) == nil else { return }
        if try statements.lookup.role(of: user, in: room.number) != nil {
            try removeMembership(of: user, in: room.number)
        }
        try statements.erasures.deleteMark(of: user, in: room.number)
        try statements.erasures.setBoundary(of: user, in: room.number, seq: room.head, rev: room.rev)
    }

    /// A user who is being erased makes a room, in which there is nothing of the old one.
    mutating func noteNewRoom(_ room: RoomTable.Room, by user: UserID) throws {
        guard erasing.contains(user) else { return }
        try statements.erasures.setBoundary(of: user, in: room.number, seq: 0, rev: 0)
    }

    /// Makes the old user's message a tombstone before the new one changes it, or sends another under its client message
    /// id; and takes the old one's reaction away before the new one reacts so.
    ///
    /// - Returns: whether there was such a message or reaction.
    mutating func eraseFirst(
        _ key: RowKey, sentBy sender: UserID, reaction: ReactionKey? = nil, by user: UserID, in id: RoomID
    ) throws -> Bool {
        guard erasing.contains(user), let boundary = try statements.erasures.boundary(of: user, in: key.room),
            let room = try room(id)
        else { return false }
        if sender == user, key.place <= boundary.seq {
            try settle(id, room)
            try eraseMessage(at: key, of: user, in: id)
            return true
        }
        guard let reaction, let rev = try statements.erasures.rev(of: reaction, by: user, to: key), rev <= boundary.rev
        else { return false }
        _ = try change(MessageChange(seq: key.place, action: .removeReaction(reaction)), in: id, by: user)
        return true
    }
}
