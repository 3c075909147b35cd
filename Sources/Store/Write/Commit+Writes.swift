import Chat
import Wire

/// Applying the writes of decisions.
extension Commit {
    /// No room can be created, because no number is left.
    struct NoRoomNumber: Error {}

    /// Applies a decision.
    ///
    /// - Throws: ``NoRoomNumber``; ``RowFailure``, or an error of the database.
    mutating func apply(_ decision: Decision, _ place: inout Place) throws {
        for write in decision.writes { try apply(write, &place) }
        if let message = decision.message, let id = place.id {
            try append(message, to: id, &place.room!, place.key)
        }
    }

    private mutating func apply(_ write: Write, _ place: inout Place) throws {
        if let id = place.id {
            if case .replace(let message) = write {
                let growth = try replace(message, in: id, &place.room!)
                return try statements.totals.changed(by: growth, in: place.room!.number)
            }
            try apply(write, in: id, &place.room)
        }
        try apply(write, in: place.id, place.room?.number ?? BanStatements.server)
    }

    private mutating func append(
        _ message: NewMessage, to id: RoomID, _ room: inout RoomTable.Room, _ key: ClientMessageKey?
    ) throws {
        let stored = message.stored
        try journal.append(
            RecentMessage(
                room: id, roomNumber: room.number, seq: stored.seq, rev: stored.rev, createdAt: message.createdAt,
                sender: message.sender, key: key, body: stored.body))
        (room.facts.head, room.facts.rev, room.facts.latest) = (stored.seq, stored.rev, message.createdAt)
        publish(stored.body, in: id, &room)
    }

    /// Replaces a message. Leaves the room's total of bytes to the caller, who may change it once for many messages.
    ///
    /// - Returns: The number of bytes that were added to the room.
    mutating func replace(_ message: ReplacedMessage, in id: RoomID, _ room: inout RoomTable.Room) throws -> Int {
        let stored = message.stored
        try file(id, room)
        try statements.changes.update(
            RowKey(room: room.number, stored.seq), change: RowKey(room: room.number, stored.rev), stored.body)
        changedBytes += stored.body.count
        room.facts.rev = stored.rev
        publish(stored.body, in: id, &room)
        return stored.body.count - message.replacedBytes
    }

    /// Applies a write that changes the state of a room, other than a message.
    private mutating func apply(_ write: Write, in id: RoomID, _ room: inout RoomTable.Room?) throws {
        switch write {
        case .createRoom(let owner):
            guard let new = try statements.insertRoom(id, at: time) else { throw NoRoomNumber() }
            configuration.roomNumbers.use(new.number)
            try statements.members.set(.owner, of: owner, in: new.number)
            try statements.activity.joined(owner, new.number, latest: nil, isEngaged: true)
            room = add(id, new)
        case .addMember(let user, let role, _, let isEngaged):
            let known = room!
            try statements.members.set(role, of: user, in: known.number)
            try statements.activity.joined(
                user, known.number, latest: known.head > 0 ? known.latest.milliseconds : nil, isEngaged: isEngaged)
        case .setVisibility(let visibility, _):
            try statements.members.set(visibility, of: room!.number)
            room!.facts.isPrivate = visibility == .private
            rooms.update(room!)
        case .deleteRoom:
            // The job removes filed messages only.
            try file(id, room!)
            try statements.members.markDeleted(room!.number)
            room!.facts.isDeleted = true
            rooms.update(room!)
            jobs.append(try statements.jobs.insert(.room(room!.number)))
            bans.deletedRooms.append(id)
        default: break
        }
    }

    /// Applies a write that changes rows of a room with this number, or of the server, and tells of changed access.
    mutating func apply(_ write: Write, in id: RoomID?, _ number: Int64) throws {
        func key(_ seq: Int64) -> RowKey { RowKey(room: number, seq) }
        switch write {
        case .replace, .createRoom, .addMember, .setVisibility, .deleteRoom: break  // applied by the callers
        case .rememberContent(let content, let seq): try statements.changes.remember(content, of: key(seq))
        case .forgetSender(let seq, let user):
            try statements.erasures.clearSender(of: key(seq))
            try statements.erasures.count(1, of: user)
        case .removeReactions(let seq, let count): try removeReactions(count, to: key(seq))
        case .addReaction(let reaction, let seq, let user, let rev):
            try statements.changes.addReaction(reaction, by: user, rev: rev, to: key(seq))
        case .removeReaction(let reaction, let seq, let user):
            try statements.changes.removeReaction(reaction, by: user, from: key(seq))
        case .raiseMark(let user, let seq):
            try statements.marks.raise(to: seq, for: user, in: number)
            try statements.activity.engage(user, in: number)
        case .removeMark(let user): try statements.erasures.deleteMark(of: user, in: number)
        case .setRole(let user, let role): try statements.members.set(role, of: user, in: number)
        case .removeMember(let user): try statements.members.remove(user, from: number)
        case .setTitle(let title): try statements.members.set(title: title, of: number)
        case .setBan(let ban):
            try statements.bans.sweep(at: time)
            try statements.bans.set(ban, from: number)
            bans.changes[BanTable.Key(room: id, user: ban.user)] = ban
        case .liftBan(let user):
            try statements.bans.remove(user, from: number)
            bans.changes[BanTable.Key(room: id, user: user)] = .some(nil)
        case .eraseUser(let user): try beginErasure(of: user)
        case .setBoundary(let user, let boundary):
            try statements.erasures.setBoundary(boundary, of: user, in: number)
        }
        if let change = write.membershipChange(in: id) { memberships.append(change) }
        if let end = write.accessEnd(in: id) { ends.append(end) }
        if let id, write.isRestriction { restricted.insert(id) }
    }
}
