import Chat
import Wire

/// Applying the writes of decisions.
extension Commit {
    /// No room can be created, because no number is left.
    struct NoRoomNumber: Error {}

    /// Applies a decision.
    ///
    /// - Throws: ``NoRoomNumber``, or an error of the store.
    mutating func apply(_ decision: Decision, _ target: inout Target) throws {
        for write in decision.writes { try apply(write, &target) }
        if let message = decision.message, let id = target.id {
            try append(message, to: id, &target.room!, target.key)
        }
    }

    mutating func apply(_ write: Write, _ target: inout Target) throws {
        if let id = target.id {
            if case .replace(let message) = write {
                let growth = try replace(message, in: id, &target.room!)
                return try db.addBytes(growth, to: target.room!.number)
            }
            try applyToRoom(write, in: id, &target.room)
        }
        try applyToRows(write, in: target.id, target.room?.number ?? RowKey.server)
    }

    private mutating func append(
        _ message: NewMessage, to id: RoomID, _ room: inout RoomTable.Room, _ key: ClientMessageKey?
    ) throws {
        let stored = message.stored
        try store.append(message, to: id, room.number, key)
        (room.facts.head, room.facts.rev, room.facts.latest) = (stored.seq, stored.rev, message.createdAt)
        publish(stored.body, in: id, &room)
    }

    /// Replaces a message. Leaves the room's total of bytes to the caller, who may change it once for many messages.
    ///
    /// - Returns: The number of bytes that were added to the room.
    mutating func replace(_ message: ReplacedMessage, in id: RoomID, _ room: inout RoomTable.Room) throws -> Int {
        let stored = message.stored
        try store.file(id, room)
        let key = RowKey(room: room.number, stored.seq)
        try store.reindex(key, stored.body)
        try db.replaceSnapshot(of: key, by: stored.body, change: RowKey(room: room.number, stored.rev))
        changedBytes += stored.body.count
        room.facts.rev = stored.rev
        publish(stored.body, in: id, &room)
        return stored.body.count - message.replacedBytes
    }

    /// Applies a write that changes the state of a room, other than a message.
    private mutating func applyToRoom(_ write: Write, in id: RoomID, _ room: inout RoomTable.Room?) throws {
        switch write {
        case .createRoom(let owner):
            guard let number = try store.insertRoom(id, at: time) else { throw NoRoomNumber() }
            configuration.roomNumbers.use(number)
            try db.setRole(.owner, of: owner, in: number)
            try store.joined(owner, number, latest: nil, isEngaged: true)
            room = add(id, RoomTable.Room(number: number, RoomFacts()))
        case .createDirectRoom(let owner, let other):
            guard let number = try store.insertRoom(id, at: time) else { throw NoRoomNumber() }
            configuration.roomNumbers.use(number)
            try db.makeDirect(number, DirectPair(owner, other))
            for user in [owner, other] {
                try db.setRole(.owner, of: user, in: number)
                try store.joined(user, number, latest: nil, isEngaged: user == owner)
            }
            try db.setHidden(true, for: other, in: number)
            // With the blocks between the two.
            room = add(id, try db.room(id)!)
        case .hideRoom(let user):
            try db.setHidden(true, for: user, in: room!.number)
            change(&room!, user) { $0.isHidden = true }
        case .showRoom(let user, _):
            try db.setHidden(false, for: user, in: room!.number)
            change(&room!, user) { $0.isHidden = false }
        case .setBlock(let block, let user):
            try db.setBlock(block, by: user)
            if room != nil { change(&room!, user) { $0.isBlocking = true } }
        case .removeBlock(let other, let user):
            try db.removeBlock(of: other, by: user)
            if room != nil { change(&room!, user) { $0.isBlocking = false } }
        case .forgetDirect(let user):
            try db.forgetDirect(user, in: room!.number)
            change(&room!, user) { $0 = DirectRoom.Side(.deleted) }
        case .addMember(let user, let role, _, let isEngaged):
            let known = room!
            try db.setRole(role, of: user, in: known.number)
            try store.joined(
                user, known.number, latest: known.head > 0 ? known.latest.milliseconds : nil, isEngaged: isEngaged)
        case .setRoom(let settings, _):
            try db.set(settings, of: room!.number)
            if settings.isSearchable != nil { store.changedSearchable(room!.number) }
            room!.facts.apply(settings)
            rooms.update(room!)
        case .deleteRoom:
            // The job removes filed messages only.
            try store.file(id, room!)
            try db.markDeleted(room!.number)
            room!.facts.isDeleted = true
            rooms.update(room!)
            jobs.append(try db.insertJob(.room(room!.number)))
            bans.deletedRooms.append(id)
        default: break
        }
    }

    /// Changes the side of a user in a direct room, as the table of rooms has it.
    private mutating func change(
        _ room: inout RoomTable.Room, _ user: UserID, _ change: (inout DirectRoom.Side) -> Void
    ) {
        room.facts.direct?.change(user, change)
        rooms.update(room)
    }

    /// Applies a write that changes rows of a room with this number, or of the server, and tells of changed access.
    mutating func applyToRows(_ write: Write, in id: RoomID?, _ number: Int64) throws {
        func key(_ seq: Int64) -> RowKey { RowKey(room: number, seq) }
        switch write {
        // Applied to the room or the message by the callers.
        case .replace, .createRoom, .createDirectRoom, .hideRoom, .showRoom, .forgetDirect, .setBlock, .removeBlock,
            .addMember, .setRoom, .deleteRoom:
            break
        case .rememberContent(let content, let seq):
            try db.insertFingerprint(fingerprinter.fingerprint(of: content), of: key(seq))
        case .forgetSender(let seq, let user):
            try db.clearSender(of: key(seq))
            try db.countErasedMessage(of: user)
        case .removeReactions(let seq, let count): try removeReactions(count, to: key(seq))
        case .addReaction(let reaction, let seq, let user, let rev):
            try db.addReaction(reaction, by: user, rev: rev, to: key(seq))
        case .removeReaction(let reaction, let seq, let user):
            try db.removeReaction(reaction, by: user, from: key(seq))
        case .addMentions(let mentions, let seq, let sender, let time):
            try db.addMentions(mentions, of: key(seq), by: sender, at: time)
        case .removeMentions(let mentions, let seq): try db.remove(mentions, from: key(seq))
        case .pin(let seq, let user, let rev): try db.addPin(of: key(seq), by: user, rev: rev)
        case .unpin(let seq): try db.removePin(of: key(seq))
        case .forgetPinner(let seq): try db.clearPinner(of: key(seq))
        case .raiseMark(let user, let seq, let time):
            try db.raiseMark(to: seq, for: user, in: number, at: time)
            try db.engage(user, in: number)
        case .setNotify(let user, let settings): try db.setNotify(settings, of: user, in: number)
        case .removeMark(let user):
            for table in StoredTable.ofUsersInRooms { try db.runSoon(table.deletionOfUser, user, number) }
        case .noteSend(let user, let time): try db.setSlowSend(of: user, in: number, at: time)
        case .setRole(let user, let role): try db.setRole(role, of: user, in: number)
        case .removeMember(let user): try db.removeMember(user, from: number)
        case .setBan(let ban):
            try db.sweepBans(at: time)
            try db.setBan(ban, from: number)
            bans.changes[BanTable.Key(room: id, user: ban.user)] = ban
        case .liftBan(let user):
            try db.removeBan(of: user, from: number)
            bans.changes[BanTable.Key(room: id, user: user)] = .some(nil)
        case .addReport(let entry, let seq, let sender, let snapshot):
            try db.addReport(entry, room: number, seq: seq, sender: sender, snapshot: snapshot)
        case .closeReport(let seq, let closing): try db.closeReport(closing, room: number, seq: seq)
        case .setProfile(let user, let settings): try db.setProfile(settings, of: user)
        case .eraseUser(let user): try beginErasure(of: user)
        case .setBoundary(let user, let boundary):
            try db.setBoundary(boundary, of: user, in: number)
        }
        if let change = write.membershipChange(in: id) { memberships.append(change) }
        if let end = write.accessEnd(in: id) { ends.append(end) }
        // A block may come before there is a direct room.
        if let id, number != RowKey.server, write.isRestriction { restricted.insert(id) }
    }
}
