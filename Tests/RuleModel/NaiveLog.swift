package import Chat
package import Wire

/// The rules of the log, written down as simply as possible, as a model for ``Decision``.
///
/// An erasure begins another life of the user's id. Whatever belongs to an earlier life is the erased user's.
package struct NaiveLog {
    /// A user in one of the lives of the user's id.
    package struct Person: Hashable {
        var user: UserID
        var life: Int
    }

    package struct Post {
        package var message: Message
        var author: Person
        var firstContent: Content
        /// In the order of the reactions.
        var reactions: [(key: ReactionKey, person: Person)] = []
    }

    package struct Room {
        package var rev: Int64 = 0
        var latest = Timestamp.earliest
        package var isPrivate = false
        package var isDeleted = false
        package var title: String?
        package var manners = RoomManners()
        /// The times of messages in slow mode.
        var slowSends: [Person: Timestamp] = [:]
        var members: [Person: RoomMember.Role] = [:]
        /// The two users of a direct room.
        var direct: [UserID]?
        /// Those of the two who do not have the room in their list.
        var hidden: Set<UserID> = []
        var marks: [Person: Int64] = [:]
        /// The settings for what may disturb; everything may where there are none.
        var notify: [Person: NotifySettings] = [:]
        package var posts: [Post] = []
        /// The people who have used the room since the erasure of an earlier life.
        var returned: Set<Person> = []
    }

    struct Reported {
        var sender: UserID
        var message: [UInt8]
        var at: Timestamp
        var entries: [ReportEntry] = []
        var closing: Report.Closing?
    }

    private let policy: Facts.Policy
    private let mostBans: Int
    private let mostBlocks: Int
    package private(set) var rooms: [RoomID: Room] = [:]
    /// The times of blocks, by the user and the blocked user.
    package private(set) var blocks: [[UserID]: Timestamp] = [:]
    package private(set) var bans: [BanTable.Key: Ban] = [:]
    /// The reported messages of each room, by their `seq`. They outlive the room.
    private var reports: [RoomID: [Int64: Reported]] = [:]
    private var lives: [UserID: Int] = [:]
    private var profiles: [UserID: Profile] = [:]
    private var erasedMessages: [UserID: Int64] = [:]
    package private(set) var memberships: [MembershipChange] = []
    package private(set) var ends: [AccessEnd] = []

    /// Creates an empty log.
    ///
    /// - Parameters:
    ///   - mostBans: Maximum number of bans from a room.
    ///   - mostBlocks: Maximum number of blocks by a user.
    package init(
        _ policy: Facts.Policy = Facts.Policy(), mostBans: Int = Limits.roomBans, mostBlocks: Int = Limits.userBlocks
    ) {
        self.mostBlocks = mostBlocks
        self.policy = policy
        self.mostBans = mostBans
    }

    private func person(_ user: UserID) -> Person { Person(user: user, life: lives[user] ?? 0) }

    /// Returns a user's settings for what may disturb in a room; `nil` for the default.
    package func notify(_ user: UserID, _ room: RoomID) -> NotifySettings? {
        rooms[room]?.notify[person(user)].flatMap { $0.isDefault ? nil : $0 }
    }

    private func role(_ user: UserID, _ room: RoomID) -> RoomMember.Role? { rooms[room]?.members[person(user)] }

    /// Applies a submission.
    package mutating func submit(_ submission: Submission, at time: Timestamp) -> Result<Receipt, Problem> {
        if submission.isTrial {
            var (copy, change) = (self, submission)
            change.isTrial = false
            let result = copy.submit(change, at: time)
            let before = submission.room.flatMap { rooms[$0]?.rev } ?? 0
            guard case .success(.message(let message, _)) = result, message.rev > before else { return result }
            return .success(.permitted(message))
        }
        do throws(Problem) { return .success(try receipt(of: submission, at: time)) } catch { return .failure(error) }
    }

    private mutating func receipt(of submission: Submission, at time: Timestamp) throws(Problem) -> Receipt {
        let user = submission.sender
        if let id = submission.room {
            if rooms[id]?.isDeleted == false {
                comeBack(user, to: id)
                if case .room(.setMember(let other, _)) = submission.change { comeBack(other, to: id) }
                if case .room(.setDirect(let other)) = submission.change { comeBack(other, to: id) }
            }
            try checkAccess(submission, id)
        }
        try checkBans(submission, reads: true, at: time)
        var isOfReader = false
        switch submission.change {
        case .send(let draft): if let post = repeated(draft, submission.room, user) { return try post.get() }
        case .room(.report), .room(.setNotify), .room(.setBlock): isOfReader = true
        default: break
        }
        if let id = submission.room { try checkDirect(submission, id) }
        if !isOfReader { try checkBans(submission, reads: false, at: time) }
        switch (submission.change, submission.room) {
        case (.user(let other, let change), _): return try self.change(other, change, submission, at: time)
        case (.send(let draft), let id?): return try send(draft, id, submission, at: time)
        case (.read(let seq), let id?): return read(seq, id, user)
        case (.change(let change), let id?): return try self.change(change, id, submission, at: time)
        case (.room(let change), let id?): return try self.change(change, id, submission, at: time)
        case (_, nil): throw .roomNotFound
        }
    }

    /// The old user's membership ends when the new user first uses the room.
    private mutating func comeBack(_ user: UserID, to id: RoomID) {
        let person = person(user)
        guard person.life > 0, rooms[id]!.returned.insert(person).inserted else { return }
        guard let old = rooms[id]!.members.keys.first(where: { $0.user == user }) else { return }
        rooms[id]!.members[old] = nil
        rooms[id]!.direct = rooms[id]!.direct?.map { $0 == user ? .deleted : $0 }
        rooms[id]!.hidden.remove(user)
        rooms[id]!.title = rooms[id]!.title?.split(separator: " ", omittingEmptySubsequences: false)
            .map { $0 == user.string ? UserID.deleted.string : String($0) }.joined(separator: " ")
        memberships.append(MembershipChange(user: user, room: id, kind: .left))
        ends.append(.removed(user, from: id))
    }

    private func checkAccess(_ submission: Submission, _ id: RoomID) throws(Problem) {
        if let room = rooms[id] {
            if case .room(.setDirect) = submission.change { return }
            if case .room(.setBlock) = submission.change { return }
            if case .room(.closeReport) = submission.change { return }
            if room.isDeleted { throw .roomDeleted }
            if room.isPrivate, !submission.isAdmin, role(submission.sender, id) == nil { throw .roomNotFound }
            return
        }
        let mayCreate = submission.isAdmin || !policy.roomsByAdminsOnly
        switch submission.change {
        case .send, .room(.set): if !mayCreate || id.isDirect { throw .roomNotFound }
        case .room(.setDirect), .room(.setBlock), .room(.closeReport): break
        case .change, .read, .room(.report): if policy.roomsByAdminsOnly || id.isDirect { throw .roomNotFound }
        case .room: throw .roomNotFound
        case .user: break
        }
    }

    private func checkBans(_ submission: Submission, reads: Bool, at time: Timestamp) throws(Problem) {
        for id in [nil, submission.room] {
            guard let ban = bans[BanTable.Key(room: id, user: submission.sender)], ban.isInForce(at: time),
                ban.scope == .all || !reads, id == nil || !submission.isAdmin
            else { continue }
            throw .banned(ban, isFromRoom: id != nil)
        }
    }

    private func checkDirect(_ submission: Submission, _ id: RoomID) throws(Problem) {
        let user = submission.sender
        guard let direct = rooms[id]?.direct else { return }
        var (isOver, isBlocked) = (direct.contains(.deleted), false)
        for other in direct where other != user && direct.contains(user) {
            if person(other).life > 0, !rooms[id]!.returned.contains(person(other)) { isOver = true }
            if blocks[[other, user]] != nil { isBlocked = true }
        }
        switch submission.change {
        case .send: break
        case .change(let change):
            switch change.action {
            case .edit, .addReaction, .pin: break
            case .unpin: isOver = false
            case .delete, .removeReaction: return
            }
        case .room(.set): isOver = false
        case .read, .room, .user: return
        }
        if isOver { throw .directRoomOver }
        if isBlocked { throw .blocked }
    }

    // MARK: Messages

    private mutating func create(_ id: RoomID, _ user: UserID) {
        rooms[id] = Room(members: [person(user): .owner], returned: [person(user)])
        memberships.append(MembershipChange(user: user, room: id, kind: .joined(rev: 0)))
    }

    /// Puts a direct room into the list of one of its users.
    private mutating func show(_ id: RoomID, to user: UserID) {
        guard rooms[id]!.hidden.remove(user) != nil else { return }
        memberships.append(MembershipChange(user: user, room: id, kind: .joined(rev: rooms[id]!.rev)))
    }

    private mutating func setDirect(
        _ other: UserID, _ id: RoomID, _ submission: Submission
    ) throws(Problem) -> Receipt {
        let user = submission.sender
        if other == user { throw .directRoomWithOneself }
        guard let room = rooms[id] else {
            if !submission.isAdmin, policy.roomsByAdminsOnly || policy.membersByAdminsOnly {
                throw .directRoomsByAdminsOnly
            }
            if blocks[[other, user]] != nil { throw .blocked }
            let both = [person(user), person(other)]
            rooms[id] = Room(
                isPrivate: true, members: [both[0]: .owner, both[1]: .owner], direct: [user, other], hidden: [other],
                returned: Set(both))
            memberships.append(MembershipChange(user: user, room: id, kind: .joined(rev: 0)))
            return .room(isNew: true)
        }
        guard let direct = room.direct, !direct.contains(.deleted) else { throw .directRoomOver }
        if blocks[[other, user]] != nil { throw .blocked }
        show(id, to: user)
        return .room(isNew: false)
    }

    private func stored(_ message: Message) -> StoredMessage {
        var body: [UInt8] = []
        message.encode(into: &body)
        return StoredMessage(seq: message.seq, rev: message.rev, body: body)
    }

    /// Answers a repeated send; returns `nil` for another one. A message of an earlier life with the same id is erased.
    private mutating func repeated(_ draft: Draft, _ id: RoomID?, _ user: UserID) -> Result<Receipt, Problem>? {
        guard let id, let clientID = draft.clientMessageID,
            let index = rooms[id]?.posts.firstIndex(where: {
                $0.message.clientMessageID == clientID && $0.message.sender == user
            })
        else { return nil }
        let post = rooms[id]!.posts[index]
        guard post.author == person(user) else {
            erase(index, id)
            return nil
        }
        let content = post.message.content
        let isStored = [draft.content, draft.firstContent].contains { content.isSame(as: $0) }
        guard post.firstContent.isSame(as: draft.firstContent) || post.message.isAsSent && isStored else {
            return .failure(.clientMessageIDReused)
        }
        return .success(.message(stored(post.message), isNew: false))
    }

    private mutating func send(
        _ draft: Draft, _ id: RoomID, _ submission: Submission, at time: Timestamp
    ) throws(Problem) -> Receipt {
        let user = submission.sender
        if let reply = draft.content.replyTo, reply > rooms[id]?.posts.count ?? 0 { throw .replyToNotFound }
        let head = Int64(rooms[id]?.posts.count ?? 0)
        let hasMoved = draft.expectHead.map { $0 != head } ?? false
        if rooms[id] == nil {
            if hasMoved { throw .headMoved(head) }
            create(id, user)
        }
        let manners = rooms[id]!.manners
        var isSlow = false
        if role(user, id) != .owner, !submission.isAdmin {
            if manners.posting == .owners { throw .postingRestricted }
            let slow = Int64(manners.slowSeconds) * 1000
            if let last = rooms[id]!.slowSends[person(user)], slow > 0 {
                let passed = time.milliseconds - last.milliseconds
                if passed > -slow, passed < slow {
                    let wait = min(slow, slow - passed)
                    throw .slowMode(retryAfter: Int(wait / 1000 + (wait % 1000 > 0 ? 1 : 0)))
                }
            }
            isSlow = slow > 0
        }
        if hasMoved { throw .headMoved(head) }
        if draft.content.mentions.room { try checkRoomMention(submission, id) }
        if isSlow { rooms[id]!.slowSends[person(user)] = time }
        for user in rooms[id]!.direct ?? [] { show(id, to: user) }
        rooms[id]!.rev += 1
        rooms[id]!.latest = max(time, rooms[id]!.latest)
        let room = rooms[id]!
        let message = Message(
            room: id, seq: Int64(room.posts.count) + 1, rev: room.rev, sender: user,
            clientMessageID: draft.clientMessageID, content: draft.content, createdAt: room.latest)
        rooms[id]!.posts.append(Post(message: message, author: person(user), firstContent: draft.firstContent))
        return .message(stored(message), isNew: true)
    }

    private func checkRoomMention(_ submission: Submission, _ id: RoomID) throws(Problem) {
        let members = rooms[id]!.members.keys.count { $0 == person($0.user) }
        let isOwner = submission.isAdmin || role(submission.sender, id) == .owner
        if isOwner || members <= policy.roomMentionMembers { return }
        throw .roomMention(limit: policy.roomMentionMembers)
    }

    private mutating func read(_ seq: Int64, _ id: RoomID, _ user: UserID) -> Receipt {
        guard let room = rooms[id] else { return .readMark(seq: 0, hasMoved: false) }
        let (old, new) = (room.marks[person(user)] ?? 0, min(seq, Int64(room.posts.count)))
        if new <= old { return .readMark(seq: old, hasMoved: false) }
        rooms[id]!.marks[person(user)] = new
        return .readMark(seq: new, hasMoved: true)
    }

    /// Gives a message the room's next revision, with the reactions that it has.
    private mutating func changed(_ index: Int, _ id: RoomID) {
        rooms[id]!.rev += 1
        let post = rooms[id]!.posts[index]
        rooms[id]!.posts[index].message.rev = rooms[id]!.rev
        var keys: [ReactionKey] = post.message.reactions.compactMap { try? ReactionKey($0.key) }
        keys += post.reactions.map(\.key).filter { !keys.contains($0) }
        rooms[id]!.posts[index].message.reactions = keys.compactMap { key in
            let users = post.reactions.filter { $0.key == key }.map(\.person.user)
            return users.isEmpty
                ? nil : Reaction(key: key.string, count: users.count, users: Array(users.prefix(Limits.reactionUsers)))
        }
    }

    private mutating func makeTombstone(_ index: Int, _ id: RoomID) {
        rooms[id]!.posts[index].message = rooms[id]!.posts[index].message.tombstone
        rooms[id]!.posts[index].reactions = []
        changed(index, id)
    }

    /// Lets the message at `seq` expire.
    package mutating func expire(_ seq: Int64, _ id: RoomID) {
        makeTombstone(Int(seq) - 1, id)
    }

    /// Erases a message of an earlier life.
    package mutating func erase(_ index: Int, _ id: RoomID) {
        erasedMessages[rooms[id]!.posts[index].author.user, default: 0] += 1
        rooms[id]!.posts[index].message.sender = .deleted
        rooms[id]!.posts[index].message.clientMessageID = nil
        makeTombstone(index, id)
    }

    private mutating func change(
        _ change: MessageChange, _ id: RoomID, _ submission: Submission, at time: Timestamp
    ) throws(Problem) -> Receipt {
        let user = submission.sender
        guard let room = rooms[id], change.seq > 0, change.seq <= Int64(room.posts.count) else {
            throw .messageNotFound
        }
        let index = Int(change.seq) - 1
        if room.posts[index].message.sender == user, room.posts[index].author != person(user) { erase(index, id) }
        if case .addReaction(let key) = change.action,
            let old = room.posts[index].reactions.firstIndex(where: {
                $0.key == key && $0.person.user == user && $0.person != person(user)
            }), !rooms[id]!.posts[index].message.deleted
        {
            rooms[id]!.posts[index].reactions.remove(at: old)
            changed(index, id)
        }
        let message = rooms[id]!.posts[index].message
        let isOwner = submission.isAdmin || role(user, id) == .owner
        switch change.action {
        case .delete:
            if !submission.isAdmin, message.sender != user, let direct = room.direct, direct.contains(user),
                direct.contains(where: { $0 != user && blocks[[$0, user]] != nil })
            {
                throw .blocked
            }
        case .pin, .unpin:
            if !isOwner, room.manners.pinning == .owners { throw .notAnOwner }
            if !isOwner, role(user, id) == nil { throw .notAMember }
        default: break
        }
        if try isAsRequested(message, change, by: user, isOwner: isOwner) {
            return .message(stored(message), isNew: false)
        }
        let own = rooms[id]!.posts[index].reactions.firstIndex { reaction in
            switch change.action {
            case .addReaction(let key), .removeReaction(let key):
                reaction.key == key && reaction.person.user == user
            default: false
            }
        }
        switch change.action {
        case .edit(let edit):
            let content = try edit.applied(to: message.content)
            if content.isSame(as: message.content) { break }
            if content.mentions.room, !message.content.mentions.room { try checkRoomMention(submission, id) }
            rooms[id]!.posts[index].message.content = content
            rooms[id]!.posts[index].message.editedAt = max(time, message.editedAt ?? message.createdAt)
            changed(index, id)
        case .delete: makeTombstone(index, id)
        case .addReaction(let key):
            if !message.reactions.contains(where: { $0.key.utf8.elementsEqual(key.string.utf8) }),
                message.reactions.count == Limits.reactionKeys
            {
                throw .tooManyReactions
            }
            if own != nil { break }
            rooms[id]!.posts[index].reactions.append((key, person(user)))
            changed(index, id)
        case .removeReaction:
            guard let own else { break }
            rooms[id]!.posts[index].reactions.remove(at: own)
            changed(index, id)
        case .pin:
            if message.pinned != nil { break }
            if room.posts.count(where: { $0.message.pinned != nil }) >= Limits.pins { throw .tooManyPins }
            rooms[id]!.posts[index].message.pinned = Pin(by: user, at: time)
            changed(index, id)
        case .unpin:
            if message.pinned == nil { break }
            rooms[id]!.posts[index].message.pinned = nil
            changed(index, id)
        }
        return .message(stored(rooms[id]!.posts[index].message), isNew: false)
    }

    /// Checks the sender, that the message is there, and its revision, in this order. Returns true if there is nothing to do.
    private func isAsRequested(
        _ message: Message, _ change: MessageChange, by user: UserID, isOwner: Bool
    ) throws(Problem) -> Bool {
        var edit: Edit?
        var needsMessage = true
        switch change.action {
        case .edit(let new):
            edit = new
            if message.sender != user { throw .notTheSender }
        case .delete:
            needsMessage = false
            if message.sender != user, !isOwner { throw .notTheSender }
        case .removeReaction, .unpin: needsMessage = false
        case .addReaction, .pin: break
        }
        if message.deleted {
            if needsMessage { throw .messageDeleted }
            return true
        }
        guard let revs = change.revs, !revs.contains(message.rev) else { return false }
        let isEarlier = revs.contains { (1..<message.rev).contains($0) }
        let result = try? edit?.applied(to: message.content)
        if isEarlier, message.editedAt != nil, let result, result.isSame(as: message.content) { return true }
        throw .preconditionFailed(rev: message.rev)
    }

    // MARK: Rooms

    private mutating func change(
        _ change: RoomChange, _ id: RoomID, _ submission: Submission, at time: Timestamp
    ) throws(Problem) -> Receipt {
        let user = submission.sender
        let isOwner = submission.isAdmin || role(user, id) == .owner
        let owners = rooms[id]?.members.filter { $0.value == .owner && $0.key == person($0.key.user) }.count
        switch change {
        case .set(let settings):
            let isNew = rooms[id] == nil
            if isNew { create(id, user) } else if !isOwner { throw .notAnOwner }
            if rooms[id]!.direct != nil, settings.visibility == .open { throw .directRoom }
            if settings.visibility == .private, !rooms[id]!.isPrivate { ends.append(.becamePrivate(id)) }
            if let visibility = settings.visibility { rooms[id]!.isPrivate = visibility == .private }
            if let title = settings.title { rooms[id]!.title = title.isEmpty ? nil : title }
            if let posting = settings.posting { rooms[id]!.manners.posting = posting }
            if let pinning = settings.pinning { rooms[id]!.manners.pinning = pinning }
            if let seconds = settings.slowSeconds { rooms[id]!.manners.slowSeconds = seconds }
            if let days = settings.keepDays { rooms[id]!.manners.keepDays = days == 0 ? nil : days }
            if let isSearchable = settings.isSearchable { rooms[id]!.manners.isSearchable = isSearchable }
            if let avatar = settings.avatar { rooms[id]!.manners.avatar = avatar.isEmpty ? nil : avatar }
            if let data = settings.data { rooms[id]!.manners.data = data }
            return .room(isNew: isNew)
        case .setNotify(let settings):
            if let until = settings.until, until <= time { throw .invalidField("until", must: "a time in the future") }
            rooms[id]!.notify[person(user)] = settings
            var body: [UInt8] = []
            settings.encode(into: &body)
            return .record(body, isNew: false)
        case .report(let seq, let draft): return try report(seq, draft, id, user, at: time)
        case .closeReport(let seq, let action):
            if !submission.isAdmin { throw .notAnAdmin }
            guard var reported = reports[id]?[seq] else { throw .reportNotFound }
            reported.closing = Report.Closing(action: action, at: reported.closing?.at ?? time, by: user)
            reports[id]![seq] = reported
            let entries = reported.entries.sorted {
                ($0.createdAt.milliseconds, $0.user.string) < ($1.createdAt.milliseconds, $1.user.string)
            }
            var body: [UInt8] = []
            Report(
                number: 0, room: id, seq: seq, message: reported.message, reportedAt: reported.at,
                reasons: Dictionary(grouping: entries, by: \.reason).mapValues { Int64($0.count) }, entries: entries,
                closing: reported.closing
            ).encode(into: &body)
            return .record(body, isNew: false)
        case .setBlock(let other, let isBlocked):
            if other == user { throw .blockOfOneself }
            if !isBlocked { return .room(isNew: blocks.removeValue(forKey: [user, other]) != nil) }
            let isNew = blocks[[user, other]] == nil
            if isNew, blocks.keys.count(where: { $0[0] == user }) >= mostBlocks { throw .tooManyBlocks }
            if isNew { blocks[[user, other]] = time }
            var body: [UInt8] = []
            Block(user: other, createdAt: blocks[[user, other]]!).encode(into: &body)
            return .record(body, isNew: isNew)
        case .setDirect(let other): return try setDirect(other, id, submission)
        case .delete:
            if !isOwner { throw .notAnOwner }
            if rooms[id]!.direct != nil, !submission.isAdmin { throw .directRoom }
            rooms[id] = Room(isDeleted: true)
            bans = bans.filter { $0.key.room != id }
            ends.append(.roomDeleted(id))
            return .room(isNew: false)
        case .setMember(let other, let asked):
            let old = role(other, id)
            let new = asked ?? old ?? .member
            if !isOwner, other != user || new == .owner { throw .notAnOwner }
            if rooms[id]!.direct != nil, new != old { throw .directRoom }
            if old == nil, other != user, !submission.isAdmin, policy.membersByAdminsOnly { throw .membersByAdminsOnly }
            if old == .owner, new == .member, owners == 1 { throw .lastOwner }
            if old == nil, other != user, !submission.isAdmin, blocks[[other, user]] != nil { throw .blocked }
            rooms[id]!.members[person(other)] = new
            if old == nil {
                memberships.append(MembershipChange(user: other, room: id, kind: .joined(rev: rooms[id]!.rev)))
            }
            return .room(isNew: old == nil)
        case .removeMember(let other):
            if other != user, !isOwner { throw .notAnOwner }
            guard let old = role(other, id) else { return .room(isNew: false) }
            if rooms[id]!.direct != nil {
                if other != user { throw .directRoom }
                if rooms[id]!.hidden.insert(user).inserted {
                    memberships.append(MembershipChange(user: user, room: id, kind: .left))
                }
                return .room(isNew: false)
            }
            if old == .owner, owners == 1 { throw .lastOwner }
            (rooms[id]!.members[person(other)], rooms[id]!.notify[person(other)]) = (nil, nil)
            memberships.append(MembershipChange(user: other, room: id, kind: .left))
            ends.append(.removed(other, from: id))
            return .room(isNew: false)
        case .setBan(let other, let settings):
            if !isOwner { throw .notAnOwner }
            if other == user { throw .banOfOneself }
            if !submission.isAdmin, role(other, id) == .owner { throw .banOfOwner }
            let old = bans[BanTable.Key(room: id, user: other)]
            let others = bans.count { $0.key.room == id && $0.value.isInForce(at: time) }
            if old?.isInForce(at: time) != true, others >= mostBans { throw .tooManyBans }
            return try ban(other, settings, id, submission, at: time)
        case .removeBan(let other):
            if !isOwner { throw .notAnOwner }
            liftBan(of: other, from: id, at: time)
            return .room(isNew: false)
        }
    }

    private mutating func liftBan(of user: UserID, from room: RoomID?, at time: Timestamp) {
        let key = BanTable.Key(room: room, user: user)
        if bans[key]?.isInForce(at: time) == true { bans[key] = nil }
    }

    private mutating func report(
        _ seq: Int64, _ draft: ReportDraft, _ id: RoomID, _ user: UserID, at time: Timestamp
    ) throws(Problem) -> Receipt {
        guard let room = rooms[id], seq > 0, seq <= Int64(room.posts.count) else { throw .messageNotFound }
        var entry = ReportEntry(user: user, reason: draft.reason, note: draft.note, createdAt: time)
        if let known = reports[id]?[seq]?.entries.first(where: { $0.user == user }) {
            entry = known
        } else {
            var message = room.posts[Int(seq) - 1].message
            if message.deleted || room.posts[Int(seq) - 1].author != person(message.sender) { throw .messageDeleted }
            let recent = reports.values.flatMap(\.values).flatMap(\.entries).filter {
                $0.user == user && $0.createdAt.milliseconds > time.milliseconds - 60_000
            }.map(\.createdAt.milliseconds).sorted()
            if recent.count >= 5 {
                throw .rateLimited(retryAfter: max(1, Int((recent[0] + 60_000 - time.milliseconds + 999) / 1000)))
            }
            (message.reactions, message.pinned) = ([], nil)
            var body: [UInt8] = []
            message.encode(into: &body)
            var reported = reports[id]?[seq] ?? Reported(sender: message.sender, message: body, at: time)
            if reported.closing != nil { (reported.closing, reported.at) = (nil, time) }
            reported.entries.append(entry)
            reports[id, default: [:]][seq] = reported
        }
        var body: [UInt8] = []
        entry.encode(into: &body)
        return .record(body, isNew: true)
    }

    /// Removes the reports of an erased user's messages, those by the user, and the name in decisions.
    private mutating func eraseReports(of user: UserID) {
        for (id, reported) in reports {
            reports[id] = reported.filter { $0.value.sender != user }.mapValues { reported in
                var reported = reported
                reported.entries.removeAll { $0.user == user }
                if reported.closing?.by == user { reported.closing!.by = .deleted }
                return reported
            }
        }
    }

    private mutating func ban(
        _ user: UserID, _ settings: BanSettings, _ id: RoomID?, _ submission: Submission, at time: Timestamp
    ) throws(Problem) -> Receipt {
        if let until = settings.until, until <= time { throw .banOver }
        let ban = Ban(
            user: user, scope: settings.scope, until: settings.until, reason: settings.reason, by: submission.sender,
            createdAt: time)
        let old = bans.updateValue(ban, forKey: BanTable.Key(room: id, user: user))
        if ban.scope == .all { ends.append(.banned(ban, from: id)) }
        var body: [UInt8] = []
        ban.encode(into: &body)
        return .record(body, isNew: old?.isInForce(at: time) != true)
    }

    private mutating func change(
        _ user: UserID, _ change: UserChange, _ submission: Submission, at time: Timestamp
    ) throws(Problem) -> Receipt {
        if case .setProfile(let settings) = change {
            if user != submission.sender, !submission.isAdmin { throw .profileOfOther }
            let old = profiles[user]
            let profile = (old ?? Profile(user: user)).applying(settings)
            let isEmpty = profile == Profile(user: user)
            profiles[user] = isEmpty ? nil : profile
            var body: [UInt8] = []
            profile.encode(into: &body)
            return .record(body, isNew: old == nil && !isEmpty)
        }
        if !submission.isAdmin { throw .notAnAdmin }
        switch change {
        case .setProfile: preconditionFailure("done above")
        case .ban(let settings):
            if user == submission.sender { throw .banOfOneself }
            return try ban(user, settings, nil, submission, at: time)
        case .liftBan:
            liftBan(of: user, from: nil, at: time)
            return .room(isNew: false)
        case .erase:
            lives[user, default: 0] += 1
            blocks = blocks.filter { !$0.key.contains(user) }
            eraseReports(of: user)
            profiles[user] = nil
            for (key, ban) in bans where ban.by == user {
                (bans[key]!.by, bans[key]!.reason) = (.deleted, nil)
            }
            ends.append(.erased(user))
            var body: [UInt8] = []
            ErasureStatus(user: user, state: .erasing, messages: erasedMessages[user] ?? 0).encode(into: &body)
            return .record(body, isNew: true)
        }
    }
}
