import Chat
import Wire

/// Loading the facts of a decision.
extension Commit {
    /// Decides a submission, and loads the facts for that.
    mutating func decide(_ submission: Submission, _ target: inout Target) throws -> Decision {
        var facts = Facts(
            at: time, policy, erasing: erasing, bans: bans.bans(of: submission.sender, in: submission.room))
        facts.room = target.room?.facts
        if case .send(let draft) = submission.change, let clientID = draft.clientMessageID {
            let key = ClientMessageKey(sender: submission.sender, id: clientID)
            target.key = key
            if let room = target.room, store.isNew(key, in: room) { facts.first = nil }
        }
        while true {
            do throws(Decision.Lacking) {
                return try Decision.make(on: submission, facts)
            } catch {
                try load(error.names, of: submission, &target, into: &facts)
            }
        }
    }

    private mutating func load(
        _ names: Facts.Names, of submission: Submission, _ target: inout Target, into facts: inout Facts
    ) throws {
        if let id = target.id, target.room != nil {
            try loadRoomFacts(names, of: submission, id, &target, into: &facts)
        }
        guard let subject = submission.subject else { return }
        if names.contains(.ban) {
            facts.ban = try db.ban(of: subject, from: target.room?.number ?? RowKey.server, at: time)
        }
        if names.contains(.erasure) { facts.erasure = try db.erasureStatus(of: subject) }
        if names.contains(.isBlocked) { facts.isBlocked = try db.blocks(subject, submission.sender) }
        if names.contains(.block) { facts.block = try db.block(submission.sender, of: subject) }
        if names.contains(.hasMaximumBlocks) { facts.hasMaximumBlocks = try db.hasMaximumBlocks(submission.sender) }
        if names.contains(.profile) { facts.profile = try db.profileToChange(of: subject) }
    }

    /// Loads facts of a room that exists.
    private mutating func loadRoomFacts(
        _ names: Facts.Names, of submission: Submission, _ id: RoomID, _ target: inout Target, into facts: inout Facts
    ) throws {
        let (user, number) = (submission.sender, target.room!.number)
        if names.contains(.first), let key = target.key {
            facts.first = try store.message(sentAs: key, in: id, &target.room!)
            rooms.update(target.room!)
        }
        if names.contains(.role) { facts.role = try db.role(of: user, in: number) }
        if names.contains(.hasManyMembers) {
            facts.hasManyMembers = try db.hasMembers(number, moreThan: policy.roomMentionMembers)
        }
        if names.contains(.mark) { facts.mark = try db.readMark(of: user, in: number) }
        if names.contains(.lastSend) { facts.lastSend = try db.slowSend(of: user, in: number) }
        if names.contains(.past) { facts.past = try past(of: user, in: number) }
        if names.contains(.isFirstContent), case .send(let draft) = submission.change, let first = facts.first {
            facts.isFirstContent =
                try db.fingerprint(of: RowKey(room: number, first.seq))
                == fingerprinter.fingerprint(of: draft.firstContent)
        }
        if case .change(let change) = submission.change {
            try load(names, of: change, by: user, in: id, target.room!, into: &facts)
        }
        switch submission.change {
        case .room(.report(let seq, _)):
            if names.contains(.message) {
                try store.file(id, target.room!)
                facts.message = try db.snapshot(of: RowKey(room: number, seq))
            }
            if names.contains(.ownReport) { facts.ownReport = try db.reportEntry(of: user, room: number, seq: seq) }
            if names.contains(.recentReports) {
                facts.recentReports = try db.reportTimes(of: user, after: time.milliseconds - Facts.reportTime)
            }
        case .room(.closeReport(let seq, _)):
            if names.contains(.report) { facts.report = try db.report(of: seq, in: number) }
        default: break
        }
        if names.contains(.subjectPast), let other = facts.subject(of: submission) {
            facts.subjectPast = try past(of: other, in: number)
        }
        guard let subject = submission.subject else { return }
        if names.contains(.subjectRole) { facts.subjectRole = try db.role(of: subject, in: number) }
        if names.contains(.hasOtherOwners) { facts.hasOtherOwners = try db.owners(of: number) > 1 }
        if names.contains(.hasTakenPart) {
            facts.hasTakenPart =
                try store.hasMessage(of: subject, in: id, target.room!)
                || db.wasEngaged(subject, in: number)
        }
        if names.contains(.hasMaximumBans) { facts.hasMaximumBans = try db.hasMaximumBans(number, at: time) }
    }

    private mutating func load(
        _ names: Facts.Names, of change: MessageChange, by user: UserID, in id: RoomID, _ room: RoomTable.Room,
        into facts: inout Facts
    ) throws {
        let key = RowKey(room: room.number, change.seq)
        if names.contains(.message) {
            try store.file(id, room)
            facts.message = try db.snapshot(of: key)
        }
        if names.contains(.hasMaximumPins) { facts.hasMaximumPins = try db.countPins(of: room.number) >= Limits.pins }
        switch change.action {
        case .edit, .delete, .pin, .unpin: break
        case .addReaction(let reaction), .removeReaction(let reaction):
            if names.contains(.reaction) {
                facts.reaction = try db.rev(of: reaction, by: user, to: key)
            }
            if names.contains(.reactingUsers) {
                facts.reactingUsers = try db.reactingUsers(reaction, to: key)
            }
        }
    }

    /// Returns what a room still has of a user who is being erased.
    func past(of user: UserID, in room: Int64) throws -> Facts.Past {
        let boundary = try db.boundary(of: user, in: room)
        if boundary != nil { return Facts.Past(boundary: boundary) }
        let isMember = try db.hasMembership(of: user, in: room)
        return Facts.Past(isMember: isMember, title: isMember ? try db.title(of: room) : nil)
    }
}
