import Chat
import Testing
import Wire

/// A log in memory: it loads the facts of decisions from its tables, and applies their writes.
struct TableLog {
    struct MessageRow: Equatable {
        var body: [UInt8]
        var sender: UserID
        var clientMessageID: String?
        var rev: Int64
    }

    struct ReactionKeyRow: Hashable {
        var seq: Int64
        var key: ReactionKey
        var user: UserID
    }

    struct Room: Equatable {
        var facts = RoomFacts()
        var title: String?
        var manners = RoomManners()
        var slowSends: [UserID: Timestamp] = [:]
        var members: [UserID: RoomMember.Role] = [:]
        var marks: [UserID: Int64] = [:]
        var notify: [UserID: NotifySettings] = [:]
        var messages: [MessageRow] = []
        var reactions: [ReactionKeyRow: Int64] = [:]
        /// The revisions of pins.
        var pins: [Int64: Int64] = [:]
        /// The first contents that are remembered.
        var contents: [Int64: [UInt8]] = [:]
        var boundaries: [UserID: Facts.Boundary] = [:]
        /// The mentions of each message that has any.
        var mentions: [Int64: Mentions] = [:]
    }

    /// Maximum number of bans from a room.
    static let mostBans = 2
    /// Maximum number of blocks by a user.
    static let mostBlocks = 2

    var policy: Facts.Policy
    var rooms: [RoomID: Room] = [:]
    var bans: [BanTable.Key: Ban] = [:]
    /// The reports of messages, with the senders.
    var reports: [RoomID: [Int64: (sender: UserID, report: Report)]] = [:]
    /// The times of blocks, by the user and the blocked user.
    var blocks: [[UserID]: Timestamp] = [:]
    var erasures: [UserID: ErasureStatus] = [:]
    var profiles: [UserID: Profile] = [:]
    /// The events that the observer would have been told of.
    var memberships: [MembershipChange] = []
    var ends: [AccessEnd] = []

    init(_ policy: Facts.Policy = Facts.Policy()) {
        self.policy = policy
    }

    var erasing: Set<UserID> { Set(erasures.keys) }

    // MARK: Facts

    /// Decides a submission, and applies the decision.
    mutating func submit(_ submission: Submission, at time: Timestamp) -> Result<Receipt, Problem> {
        let decision = decide(submission, at: time)
        apply(decision, in: submission.room)
        return decision.result
    }

    func decide(_ submission: Submission, at time: Timestamp) -> Decision {
        let keys = BanTable.keys(of: submission.sender, in: submission.room)
        var facts = Facts(
            at: time, policy, erasing: erasing,
            bans: Dictionary(uniqueKeysWithValues: keys.compactMap { key in bans[key].map { (key, $0) } }))
        facts.room = submission.room.flatMap { rooms[$0]?.facts }
        var steps = 0
        while true {
            do throws(Decision.Lacking) {
                return try Decision.make(on: submission, facts)
            } catch {
                steps += 1
                // A decision that asks for what it has would never end.
                #expect(steps < 8 && facts.known.isDisjoint(with: error.names))
                load(error.names, of: submission, at: time, into: &facts)
            }
        }
    }

    private func role(of user: UserID, in room: Room) -> RoomMember.Role? {
        erasing.contains(user) && room.boundaries[user] == nil ? nil : room.members[user]
    }

    private func past(of user: UserID, in room: Room) -> Facts.Past {
        Facts.Past(boundary: room.boundaries[user], isMember: room.members[user] != nil, title: room.title)
    }

    private func load(
        _ names: Facts.Names, of submission: Submission, at time: Timestamp, into facts: inout Facts
    ) {
        let room = submission.room.flatMap { rooms[$0] } ?? Room()
        let user = submission.sender
        if names.contains(.role) { facts.role = role(of: user, in: room) }
        if names.contains(.past) { facts.past = past(of: user, in: room) }
        if names.contains(.hasManyMembers) {
            facts.hasManyMembers =
                room.members.keys.count { role(of: $0, in: room) != nil } > policy.roomMentionMembers
        }
        if names.contains(.mark) {
            let isPresent = !erasing.contains(user) || room.boundaries[user] != nil
            facts.mark = isPresent ? room.marks[user] ?? 0 : 0
        }
        if names.contains(.lastSend) {
            let isPresent = !erasing.contains(user) || room.boundaries[user] != nil
            facts.lastSend = isPresent ? room.slowSends[user] : nil
        }
        if case .send(let draft) = submission.change {
            if names.contains(.first) { facts.first = first(draft.clientMessageID, by: user, in: room) }
            if names.contains(.isFirstContent), let first = facts.first {
                facts.isFirstContent = room.contents[first.seq] == draft.firstContent.canonicalBytes
            }
        }
        if case .change(let change) = submission.change {
            if names.contains(.hasMaximumPins) { facts.hasMaximumPins = room.pins.count >= Limits.pins }
            if names.contains(.message) { facts.message = room.messages[Int(change.seq) - 1].body }
            if case .addReaction(let key) = change.action { load(names, key, change.seq, of: user, room, into: &facts) }
            if case .removeReaction(let key) = change.action {
                load(names, key, change.seq, of: user, room, into: &facts)
            }
        }
        switch (submission.change, submission.room) {
        case (.room(.report(let seq, _)), let id?):
            if names.contains(.message) { facts.message = room.messages[Int(seq) - 1].body }
            if names.contains(.ownReport) {
                facts.ownReport = reports[id]?[seq]?.report.entries.first { $0.user == user }
            }
            if names.contains(.recentReports) {
                let times = reports.values.flatMap(\.values).flatMap(\.report.entries).filter { entry in
                    entry.user == user && entry.createdAt.milliseconds > time.milliseconds - Facts.reportTime
                }.map(\.createdAt)
                facts.recentReports = Array(times.sorted().prefix(Limits.reportsPerMinute))
            }
        case (.room(.closeReport(let seq, _)), let id?):
            if names.contains(.report) { facts.report = report(of: seq, in: id) }
        default: break
        }
        if names.contains(.subjectPast), let other = facts.subject(of: submission) {
            facts.subjectPast = past(of: other, in: room)
        }
        guard let subject = submission.subject else { return }
        if names.contains(.subjectRole) { facts.subjectRole = role(of: subject, in: room) }
        if names.contains(.hasOtherOwners) {
            facts.hasOtherOwners = room.members.keys.count { role(of: $0, in: room) == .owner } > 1
        }
        if names.contains(.hasTakenPart) {
            facts.hasTakenPart = room.marks[subject] != nil || room.messages.contains { $0.sender == subject }
        }
        if names.contains(.ban) {
            let ban = bans[BanTable.Key(room: submission.room, user: subject)]
            facts.ban = ban?.isInForce(at: time) == true ? ban : nil
        }
        if names.contains(.hasMaximumBans) {
            let others = bans.count { $0.key.room == submission.room && $0.value.isInForce(at: time) }
            facts.hasMaximumBans = others >= Self.mostBans
        }
        if names.contains(.erasure) { facts.erasure = erasures[subject] }
        if names.contains(.isBlocked) { facts.isBlocked = blocks[[subject, user]] != nil }
        if names.contains(.block) { facts.block = blocks[[user, subject]].map { Block(user: subject, createdAt: $0) } }
        if names.contains(.profile) { facts.profile = profiles[subject] }
        if names.contains(.hasMaximumBlocks) {
            facts.hasMaximumBlocks = blocks.keys.count { $0[0] == user } >= Self.mostBlocks
        }
    }

    private func report(of seq: Int64, in room: RoomID) -> Report? {
        guard var report = reports[room]?[seq]?.report else { return nil }
        report.entries.sort { ($0.createdAt, $0.user.string) < ($1.createdAt, $1.user.string) }
        report.reasons = Dictionary(grouping: report.entries, by: \.reason).mapValues { Int64($0.count) }
        return report
    }

    private func load(
        _ names: Facts.Names, _ key: ReactionKey, _ seq: Int64, of user: UserID, _ room: Room, into facts: inout Facts
    ) {
        if names.contains(.reaction) { facts.reaction = room.reactions[ReactionKeyRow(seq: seq, key: key, user: user)] }
        if names.contains(.reactingUsers) { facts.reactingUsers = reactingUsers(key, seq, in: room) }
    }

    func reactingUsers(_ key: ReactionKey, _ seq: Int64, in room: Room) -> [UserID] {
        let rows = room.reactions.filter { $0.key.seq == seq && $0.key.key == key }
        return rows.sorted { $0.value < $1.value }.prefix(Limits.reactionUsers + 1).map(\.key.user)
    }

    private func first(_ id: String?, by user: UserID, in room: Room) -> StoredMessage? {
        guard let id, let index = room.messages.firstIndex(where: { $0.sender == user && $0.clientMessageID == id })
        else { return nil }
        return StoredMessage(seq: Int64(index) + 1, rev: room.messages[index].rev, body: room.messages[index].body)
    }

    // MARK: Writes

    mutating func apply(_ decision: Decision, in id: RoomID?) {
        for write in decision.writes { apply(write, in: id) }
        guard let message = decision.message, let id else { return }
        Self.append(message, to: &rooms[id]!)
    }

    private static func append(_ message: NewMessage, to room: inout Room) {
        let stored = message.stored
        #expect(stored.seq == room.facts.head + 1 && stored.rev == room.facts.rev + 1)
        room.messages.append(
            MessageRow(
                body: stored.body, sender: message.sender, clientMessageID: message.clientMessageID, rev: stored.rev))
        (room.facts.head, room.facts.rev, room.facts.latest) = (stored.seq, stored.rev, message.createdAt)
    }

    private mutating func apply(_ write: Write, in id: RoomID?) {
        memberships += write.membershipChange(in: id).map { [$0] } ?? []
        ends += write.accessEnd(in: id).map { [$0] } ?? []
        switch write {
        case .setBan(let ban): bans[BanTable.Key(room: id, user: ban.user)] = ban
        case .liftBan(let user): bans[BanTable.Key(room: id, user: user)] = nil
        case .setProfile(let user, let settings):
            let profile = (profiles[user] ?? Profile(user: user)).applying(settings)
            profiles[user] = profile.isEmpty ? nil : profile
        case .eraseUser(let user):
            profiles[user] = nil
            erasures[user] = ErasureStatus(user: user, state: .erasing, messages: erasures[user]?.messages ?? 0)
            for id in rooms.keys { rooms[id]!.boundaries[user] = nil }
            for (key, ban) in bans { bans[key] = ban.anonymized(for: user) }
            for pair in blocks.keys where pair.contains(user) { setBlock(pair, nil) }
            for (id, reported) in reports {
                for (seq, (sender, report)) in reported {
                    reports[id]![seq] = sender == user ? nil : (sender, report)
                    reports[id]![seq]?.report.entries.removeAll { $0.user == user }
                    if report.closing?.by == user { reports[id]![seq]?.report.closing?.by = .deleted }
                }
            }
        case .createRoom(let owner):
            #expect(rooms[id!] == nil)
            rooms[id!] = Room(members: [owner: .owner])
        case .addReport(let entry, let seq, let sender, let snapshot):
            let new = Report(
                number: 0, room: id!, seq: seq, message: snapshot, reportedAt: entry.createdAt, reasons: [:],
                entries: [], closing: nil)
            var (sender, report) = reports[id!]?[seq] ?? (sender, new)
            if report.closing != nil { (report.closing, report.reportedAt) = (nil, entry.createdAt) }
            #expect(!report.entries.contains { $0.user == entry.user })
            report.entries.append(entry)
            reports[id!, default: [:]][seq] = (sender, report)
        case .closeReport(let seq, let closing): reports[id!]![seq]!.report.closing = closing
        case .setBlock(let block, let user):
            #expect(blocks[[user, block.user]] == nil)
            setBlock([user, block.user], block.createdAt)
        case .removeBlock(let other, let user):
            #expect(blocks[[user, other]] != nil)
            setBlock([user, other], nil)
        case .createDirectRoom(let owner, let other):
            #expect(rooms[id!] == nil)
            let direct = DirectRoom(
                DirectRoom.Side(owner, isBlocking: blocks[[owner, other]] != nil),
                DirectRoom.Side(other, isHidden: true, isBlocking: blocks[[other, owner]] != nil))
            rooms[id!] = Room(
                facts: RoomFacts(isPrivate: true, direct: direct), members: [owner: .owner, other: .owner])
        case .forgetSender(let seq, let user):
            rooms[id!]!.messages[Int(seq) - 1].sender = .deleted
            rooms[id!]!.messages[Int(seq) - 1].clientMessageID = nil
            rooms[id!]!.contents[seq] = nil
            erasures[user]!.messages += 1
        case .deleteRoom:
            rooms[id!] = Room(facts: RoomFacts(isDeleted: true))
            bans = bans.filter { $0.key.room != id }
        default: Self.apply(write, to: &rooms[id!]!)
        }
    }

    /// Sets or removes a block, also in the direct room of the two.
    private mutating func setBlock(_ pair: [UserID], _ time: Timestamp?) {
        blocks[pair] = time
        for id in rooms.keys where rooms[id]!.facts.direct?.sides.contains(where: { $0.user == pair[1] }) == true {
            rooms[id]!.facts.direct?.change(pair[0]) { $0.isBlocking = time != nil }
        }
    }

    private static func apply(_ write: Write, to room: inout Room) {
        switch write {
        case .replace(let message):
            let (stored, index) = (message.stored, Int(message.stored.seq) - 1)
            #expect(stored.rev == room.facts.rev + 1 && message.replacedBytes == room.messages[index].body.count)
            room.messages[index].body = stored.body
            room.messages[index].rev = stored.rev
            room.facts.rev = stored.rev
        case .rememberContent(let content, let seq):
            if room.contents[seq] == nil { room.contents[seq] = content.canonicalBytes }
        case .removeReactions(let seq, let count):
            let rows = room.reactions.keys.filter { $0.seq == seq }
            #expect(rows.count == count)
            for row in rows { room.reactions[row] = nil }
        case .addReaction(let key, let seq, let user, let rev):
            let row = ReactionKeyRow(seq: seq, key: key, user: user)
            #expect(room.reactions[row] == nil)
            room.reactions[row] = rev
        case .removeReaction(let key, let seq, let user):
            #expect(room.reactions.removeValue(forKey: ReactionKeyRow(seq: seq, key: key, user: user)) != nil)
        case .pin(let seq, _, let rev):
            #expect(room.pins.updateValue(rev, forKey: seq) == nil && rev == room.facts.rev + 1)
        case .unpin(let seq): #expect(room.pins.removeValue(forKey: seq) != nil)
        case .addMentions(let mentions, let seq, let sender, let time):
            var known = room.mentions[seq] ?? Mentions()
            #expect(mentions.subtracting(known) == mentions && !mentions.isEmpty && !mentions.users.contains(sender))
            #expect(time <= room.facts.latest || seq == room.facts.head + 1)
            known.users += mentions.users
            known.room = known.room || mentions.room
            room.mentions[seq] = known
        case .removeMentions(let mentions, let seq):
            let rest = (room.mentions[seq] ?? Mentions()).subtracting(mentions)
            room.mentions[seq] = rest.isEmpty ? nil : rest
        case .raiseMark(let user, let seq, _):
            #expect(seq > room.marks[user] ?? 0)
            room.marks[user] = seq
        case .removeMark(let user):
            (room.marks[user], room.slowSends[user], room.notify[user]) = (nil, nil, nil)
        case .setNotify(let user, let settings):
            #expect(settings?.isDefault != true)
            room.notify[user] = settings
        case .noteSend(let user, let time): room.slowSends[user] = time
        case .hideRoom(let user):
            #expect(room.facts.direct?.sides.contains { $0.user == user && !$0.isHidden } == true)
            room.facts.direct?.change(user) { $0.isHidden = true }
        case .showRoom(let user, _):
            #expect(room.facts.direct?.sides.contains { $0.user == user && $0.isHidden } == true)
            room.facts.direct?.change(user) { $0.isHidden = false }
        case .forgetDirect(let user):
            room.facts.direct?.change(user) { $0 = DirectRoom.Side(.deleted) }
        case .addMember(let user, let role, _, _):
            #expect(room.members[user] == nil)
            room.members[user] = role
        case .setRole(let user, let role): room.members[user] = role
        case .removeMember(let user):
            #expect(room.members.removeValue(forKey: user) != nil)
        case .setRoom(let settings, _):
            room.facts.apply(settings)
            if let title = settings.title { room.title = title.isEmpty ? nil : title }
            if let posting = settings.posting { room.manners.posting = posting }
            if let pinning = settings.pinning { room.manners.pinning = pinning }
            if let seconds = settings.slowSeconds { room.manners.slowSeconds = seconds }
            if let days = settings.keepDays { room.manners.keepDays = days == 0 ? nil : days }
            if let avatar = settings.avatar { room.manners.avatar = avatar.isEmpty ? nil : avatar }
            if let data = settings.data { room.manners.data = data }
            if let isSearchable = settings.isSearchable { room.manners.isSearchable = isSearchable }
        case .setBoundary(let user, let boundary):
            #expect(room.boundaries[user] == nil)
            room.boundaries[user] = boundary
        case .createRoom, .createDirectRoom, .setBlock, .removeBlock, .addReport, .closeReport, .forgetSender,
            .forgetPinner,
            .deleteRoom, .setBan, .liftBan, .setProfile,
            .eraseUser:
            Issue.record("applied by the caller")
        }
    }
}
