import Chat
import Nodes
import Wire

/// The rows of the database. A copy is a snapshot.
struct Tables {
    struct MessageRow {
        var body: [UInt8]
        var sender: UserID
        var clientMessageID: String?
        var rev: Int64
        /// The revision at which it was sent.
        var first: Int64
    }

    struct ReactionRow: Hashable {
        var seq: Int64
        var key: ReactionKey
        var user: UserID
    }

    struct Room {
        let id: RoomID
        let number: Int64
        /// The number of restrictions.
        var access: Int64 = 0
        var facts = RoomFacts()
        var members: [UserID: RoomMember.Role] = [:]
        var marks: [UserID: Int64] = [:]
        var messages: [MessageRow] = []
        var reactions: [ReactionRow: Int64] = [:]
        /// The first contents that are remembered.
        var contents: [Int64: [UInt8]] = [:]
        var bans: [UserID: Ban] = [:]

        var state: RoomState { RoomState(head: facts.head, rev: facts.rev) }

        /// The messages that have changed after a revision, by revision.
        func changes(since rev: Int64) -> [(seq: Int64, row: MessageRow)] {
            var found: [(seq: Int64, row: MessageRow)] = []
            for (index, row) in messages.enumerated() where row.rev > rev { found.append((Int64(index) + 1, row)) }
            return found.sorted { $0.row.rev < $1.row.rev }
        }
    }

    var rooms: [RoomID: Room] = [:]
    /// The bans from the whole server.
    var bans: [UserID: Ban] = [:]
    var events: [AccessState.Stored] = []
    var revocations: Int64 = 0

    /// The number of the last event.
    var event: Int64 { Int64(events.count) }

    func room(_ number: Int64) -> Room? { rooms.values.first { $0.number == number } }

    // MARK: What the oracle asks, in words of its own

    /// Returns true if a user may read a room.
    func admits(_ user: UserID, to id: RoomID) -> Bool {
        let room = rooms[id]!
        return (!room.facts.isPrivate || room.members[user] != nil)
            && room.bans[user]?.scope != .all && bans[user]?.scope != .all
    }

    /// Returns true if a user may change messages of a room, apart from bans from the whole server.
    func permits(_ user: UserID, in id: RoomID) -> Bool {
        let room = rooms[id]!
        return (!room.facts.isPrivate || room.members[user] != nil) && room.bans[user] == nil
    }

    /// Returns true if a user may send to a room, apart from bans from the whole server.
    func permitsSends(of user: UserID, to id: RoomID) -> Bool {
        permits(user, in: id) && (rooms[id]!.facts.posting == .members || rooms[id]!.members[user] == .owner)
    }

    // MARK: What nodes ask

    /// What a look of a room finds, as `LookStatement` does.
    func answer(to look: FeedPositions.Look, atMost limit: Int, forgettingRest: Bool) -> FeedPositions.Answer? {
        guard let room = rooms[look.room], room.facts.rev > look.since.rev else { return nil }
        // Two indexes: messages that were never changed are found by their place, the others by their revision.
        let changes = room.changes(since: look.since.rev).filter {
            $0.row.rev > $0.row.first || $0.seq > look.since.head
        }
        let taken = changes.prefix(limit)
        let hasMore = taken.count < changes.count && !forgettingRest
        let head = taken.map(\.seq).reduce(look.since.head, max)
        return FeedPositions.Answer(
            batch: Batch(
                room: room.id, since: look.since.rev, revs: taken.map(\.row.rev),
                rev: hasMore ? taken.last!.row.rev : max(room.facts.rev, taken.last?.row.rev ?? 0),
                head: hasMore ? head : room.facts.head, messages: taken.map(\.row.body)),
            hasMore: hasMore)
    }

    /// What a node that knows events up to `known` learns, as `AccessState.catchUp` does.
    func found(after known: Int64) -> AccessState.Found {
        if known == event { return .nothing }
        let new = events[Int(known)...].map { stored in
            var stored = stored
            for case .ban(let user, let room) in stored.event.changes {
                let ban = if let room { rooms[room]?.bans[user] } else { bans[user] }
                stored.bans[BanTable.Key(room: room, user: user)] = .some(ban)
            }
            return stored
        }
        return .events(new, upTo: event, revocations: revocations)
    }

    /// All bans, for a node that starts.
    var everything: AccessState.Found {
        var all: [BanTable.Key: Ban] = [:]
        for (user, ban) in bans { all[BanTable.Key(room: nil, user: user)] = ban }
        for room in rooms.values {
            for (user, ban) in room.bans { all[BanTable.Key(room: room.id, user: user)] = ban }
        }
        return .everything(bans: all, erasing: [], event: event, revocations: revocations)
    }
}

// MARK: Decisions

/// A change of a room's messages that a commit has made.
struct Change {
    let room: RoomID
    /// The user who made it.
    let user: UserID
    /// The message's snapshot.
    let body: [UInt8]
    /// The time of the look at bans from the server. One that is set later may be too late.
    let lookedAt: Int64
}

/// The writes of one transaction, and what it reports once it is durable.
struct Work {
    var tables: Tables
    /// The rooms that the transaction has locked.
    var locked: [RoomID] = []
    var outcomes: [Outcome] = []
    var changes: [Change] = []
    /// The revision of each room before its changes.
    private var revs: [RoomID: Int64] = [:]
    var memberships: [MembershipChange] = []
    var ends: [AccessEnd] = []
    var restricted: Set<RoomID> = []
    var bans: [BanTable.Key: Ban?] = [:]
    let time: Timestamp
    private let lookedAt: Int64

    /// - Parameter lookedAt: The time, after the locks were taken, at which the tables are.
    init(_ tables: Tables, at time: Timestamp, lookedAt: Int64) {
        self.tables = tables
        self.time = time
        self.lookedAt = lookedAt
    }

    var batches: [Batch] {
        revs.sorted { $0.key.string < $1.key.string }.map { room, rev in
            Batch(
                room: room, firstRev: rev + 1, head: tables.rooms[room]!.facts.head,
                messages: changes.filter { $0.room == room }.map(\.body))
        }
    }

    var event: AccessEvent {
        AccessEvent(memberships: memberships, ends: ends, bans: bans.keys, erased: [], restricted: restricted)
    }

    /// Decides submissions in order, and applies the decisions.
    mutating func apply(_ submissions: ArraySlice<Submission>, knowing access: AccessState) {
        for submission in submissions {
            let id = submission.room
            var facts = Facts(
                at: time, Facts.Policy(), bans: bansOfCaller(submission.sender, in: id, access.bans))
            facts.room = id.flatMap { tables.rooms[$0]?.facts }
            let decision = decide(submission, &facts)
            for write in decision.writes { apply(write, in: id, by: submission.sender) }
            if let message = decision.message, let id {
                note(message.stored, in: id, by: submission.sender)
                tables.rooms[id]!.messages.append(
                    Tables.MessageRow(
                        body: message.stored.body, sender: message.sender, clientMessageID: message.clientMessageID,
                        rev: message.stored.rev, first: message.stored.rev))
                tables.rooms[id]!.facts.head = message.stored.seq
                tables.rooms[id]!.facts.rev = message.stored.rev
                tables.rooms[id]!.facts.latest = message.createdAt
            }
            outcomes.append(Outcome(ticket: submission.ticket, result: decision.result))
        }
    }

    private func bansOfCaller(_ user: UserID, in room: RoomID?, _ table: BanTable) -> [BanTable.Key: Ban] {
        var found = table.bans(of: user, in: room)
        for key in BanTable.keys(of: user, in: room) { if let ban = bans[key] { found[key] = ban } }
        return found
    }

    private func decide(_ submission: Submission, _ facts: inout Facts) -> Decision {
        while true {
            do throws(Decision.Lacking) {
                return try Decision.make(on: submission, facts)
            } catch {
                load(error.names, of: submission, into: &facts)
            }
        }
    }

    private func load(_ names: Facts.Names, of submission: Submission, into facts: inout Facts) {
        let room = submission.room.flatMap { tables.rooms[$0] }
        let user = submission.sender
        if names.contains(.role) { facts.role = room?.members[user] }
        if names.contains(.mark) { facts.mark = room?.marks[user] ?? 0 }
        switch submission.change {
        case .send(let draft):
            if names.contains(.first) {
                facts.first = room?.messages.firstIndex {
                    $0.sender == user && $0.clientMessageID == draft.clientMessageID
                }
                .map { StoredMessage(seq: Int64($0) + 1, rev: room!.messages[$0].rev, body: room!.messages[$0].body) }
            }
            if names.contains(.isFirstContent), let first = facts.first {
                facts.isFirstContent = room?.contents[first.seq] == draft.firstContent.canonicalBytes
            }
        case .change(let change):
            if names.contains(.message) {
                facts.message = room.flatMap {
                    change.seq > 0 && change.seq <= $0.facts.head ? $0.messages[Int(change.seq) - 1].body : nil
                }
            }
            switch change.action {
            case .addReaction(let key), .removeReaction(let key):
                let row = Tables.ReactionRow(seq: change.seq, key: key, user: user)
                if names.contains(.reaction) { facts.reaction = room?.reactions[row] }
                if names.contains(.reactingUsers) {
                    facts.reactingUsers =
                        room?.reactions.filter { $0.key.seq == change.seq && $0.key.key == key }
                        .sorted { $0.value < $1.value }.prefix(Limits.reactionUsers + 1).map(\.key.user) ?? []
                }
            default: break
            }
        default: break
        }
        guard let subject = submission.subject else { return }
        if names.contains(.subjectRole) { facts.subjectRole = room?.members[subject] }
        if names.contains(.hasOtherOwners) {
            facts.hasOtherOwners = room?.members.values.filter { $0 == .owner }.count ?? 0 > 1
        }
        if names.contains(.hasTakenPart) {
            facts.hasTakenPart = room?.marks[subject] != nil || room?.messages.contains { $0.sender == subject } == true
        }
        if names.contains(.ban) { facts.ban = submission.room == nil ? tables.bans[subject] : room?.bans[subject] }
        if names.contains(.hasMaximumBans) { facts.hasMaximumBans = false }
        if names.contains(.isBlocked) { facts.isBlocked = false }
    }

    private mutating func note(_ stored: StoredMessage, in id: RoomID, by user: UserID) {
        if revs[id] == nil { revs[id] = stored.rev - 1 }
        changes.append(Change(room: id, user: user, body: stored.body, lookedAt: lookedAt))
    }

    private mutating func apply(_ write: Write, in id: RoomID?, by user: UserID) {
        if let change = write.membershipChange(in: id) { memberships.append(change) }
        if let end = write.accessEnd(in: id) { ends.append(end) }
        switch write {
        case .setBan(let ban): setBan(ban.user, ban, in: id)
        case .liftBan(let user): setBan(user, nil, in: id)
        default: break
        }
        guard let id else { return }
        if write.isRestriction { restricted.insert(id) }
        switch write {
        case .replace(let message):
            note(message.stored, in: id, by: user)
            let index = Int(message.stored.seq) - 1
            tables.rooms[id]!.messages[index].body = message.stored.body
            tables.rooms[id]!.messages[index].rev = message.stored.rev
            tables.rooms[id]!.facts.rev = message.stored.rev
        case .rememberContent(let content, let seq):
            if tables.rooms[id]!.contents[seq] == nil { tables.rooms[id]!.contents[seq] = content.canonicalBytes }
        case .removeReactions(let seq, _):
            tables.rooms[id]!.reactions = tables.rooms[id]!.reactions.filter { $0.key.seq != seq }
        case .addReaction(let key, let seq, let user, let rev):
            tables.rooms[id]!.reactions[Tables.ReactionRow(seq: seq, key: key, user: user)] = rev
        case .removeReaction(let key, let seq, let user):
            tables.rooms[id]!.reactions[Tables.ReactionRow(seq: seq, key: key, user: user)] = nil
        case .raiseMark(let user, let seq, _): tables.rooms[id]!.marks[user] = seq
        case .removeMark(let user): tables.rooms[id]!.marks[user] = nil
        case .addMember(let user, let role, _, _), .setRole(let user, let role): tables.rooms[id]!.members[user] = role
        case .removeMember(let user): tables.rooms[id]!.members[user] = nil
        case .setRoom(let settings, _): tables.rooms[id]!.facts.apply(settings)
        case .setBan, .liftBan, .setNotify: break
        default: preconditionFailure("The simulation makes no such write: \(write)")
        }
    }

    private mutating func setBan(_ user: UserID, _ ban: Ban?, in id: RoomID?) {
        if let id { tables.rooms[id]!.bans[user] = ban } else { tables.bans[user] = ban }
        bans[BanTable.Key(room: id, user: user)] = .some(ban)
    }
}
