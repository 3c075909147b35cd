import Chat
import Wire

/// A read transaction, which answers queries. All its answers show the same state.
struct ReadTransaction<View: StoreView> {
    let store: View
    let context: ReadContext
    let deflater: PushDeflater

    var db: View.DB { store.statements.db }
    /// Maximum number of bytes of messages in an answer. The last message may exceed it.
    var answerBytes: Int { context.configuration.answerBytes }

    init(_ store: View, _ context: ReadContext, _ deflater: PushDeflater) {
        self.store = store
        self.context = context
        self.deflater = deflater
    }

    /// Answers a read of a room; `nil` if the room does not exist. Access is checked in the same transaction.
    ///
    /// - Returns: The number of bytes of messages in the answer.
    /// - Throws: The ``Problem`` that the read is refused with.
    func answer(_ query: Query, _ room: View.Room?) throws -> Int {
        guard case .room(let id, let read) = query.kind else { return 0 }
        try context.rules.check(query, of: room.map { ($0.isPrivate, $0.isDeleted) }) { user in
            try room.flatMap { try db.role(of: user, in: $0.number) } != nil
        }
        switch read {
        case .page(let request, let reply):
            let page = try page(request, of: room, for: query.user)
            reply.answer(page)
            return page.messages.count
        case .message(let seq, let reply):
            let message = try room?.message(seq: seq)
            reply.answer(message)
            return message?.body.count ?? 0
        case .clientMessage(let sender, let id, let reply):
            let message = try room?.message(sender: sender, clientMessageID: id)
            reply.answer(message)
            return message?.body.count ?? 0
        case .changes(let since, let limit, let reply):
            let changes = try changes(of: room, since: since, limit: limit)
            reply.answer(changes)
            return changes.messages.count
        case .replay(let since, let format, let bytes, let reply):
            let replay = try replay(of: room, since: since, format, bytes: bytes)
            reply.answer(replay)
            return replay.frames.count
        case .state(let reply): reply.answer(room?.state ?? RoomState())
        case .summary(let reply): reply.answer(try summary(of: id, room, for: query.user))
        case .members(let user, let limit, let withProfiles, let reply):
            reply.answer(try members(of: room, after: user, limit: limit, withProfiles: withProfiles))
        case .member(let user, let reply): reply.answer(try member(user, of: room))
        case .reads(let user, let seq, let limit, let reply):
            reply.answer(try reads(of: room, after: user, from: seq, limit: limit))
        case .reactions(let seq, let key, let user, let limit, let reply):
            reply.answer(try reactingUsers(seq, key, of: room, after: user, limit: limit))
        case .pins(let rev, let limit, let reply):
            let pins = try pins(of: room, before: rev, limit: limit)
            reply.answer(pins)
            return pins.messages.count
        case .isBlocked(let reply):
            guard let room, let user = query.user else {
                reply.answer(false)
                break
            }
            reply.answer(try db.isBlocked(user, in: room.number))
        case .bans(let read): try answer(read, of: room, for: query)
        }
        return 0
    }

    // MARK: Pages

    /// Returns a page with the requested number of messages, or with fewer around the same position if they have too
    /// many bytes.
    private func page(_ request: PageRequest, of room: View.Room?, for user: UserID?) throws -> PageSlice {
        let state = room?.state ?? RoomState()
        var readState: ReadState?
        if request.anchor.place?.isPersonal == true, let user { readState = try self.readState(of: room, for: user) }
        var limit = request.limit
        while true {
            let window = try request.anchor.bounds(limit: limit) { place in
                try seq(of: place, in: room, readState, head: state.head)
            }.window(head: state.head)
            guard let room, window.count > 0 else { return PageSlice(window, [], state, readState) }
            if let messages = try room.messages(window, within: answerBytes) {
                return PageSlice(window, messages, state, readState)
            }
            limit = window.count / 2
        }
    }

    /// Returns the `seq` of a position. For a time, that is the first message stored then or later.
    ///
    /// - Parameter readState: The reader's state; `nil` for a reader without a name, who has no read mark and nothing
    ///   unread.
    private func seq(of place: Place, in room: View.Room?, _ readState: ReadState?, head: Int64) throws -> Int64 {
        switch place {
        case .seq(let seq): return seq
        case .first: return 1
        case .last: return head
        case .read: return readState?.read ?? 0
        case .unread: return readState?.firstUnread ?? head
        case .mention: return readState?.firstUnreadMention ?? readState?.firstUnread ?? head
        case .time(let time): return try room?.firstSeq(at: time) ?? 1
        }
    }

    /// Returns pinned messages of a room, at most `limit`.
    private func pins(of room: View.Room?, before rev: Int64?, limit: Int) throws -> PinSlice {
        var slice = PinSlice()
        guard let room else { return slice }
        var (count, last) = (0, Int64(0))
        try db.forEachPin(of: room.number, before: rev ?? .max) { rev, snapshot in
            guard count < limit, slice.messages.count < answerBytes else {
                slice.next = last
                return false
            }
            if count > 0 { slice.messages.append(UInt8(ascii: ",")) }
            // The pointer is used only inside the closure, while the span's owner is alive.
            snapshot.withUnsafeBufferPointer { slice.messages.append(contentsOf: $0) }
            (count, last) = (count + 1, rev)
            return true
        }
        return slice
    }

    // MARK: Changes

    private func changes(of room: View.Room?, since: Int64, limit: Int) throws -> ChangeSlice {
        var messages: [UInt8] = []
        var count = 0
        let last = try room?.forEachChange(since: since) { _, snapshot in
            if count > 0 { messages.append(UInt8(ascii: ",")) }
            // The pointer is used only inside the closure, while the span's owner is alive.
            snapshot.withUnsafeBufferPointer { messages.append(contentsOf: $0) }
            count += 1
            return count < limit && messages.count < answerBytes
        }
        let state = room?.state ?? RoomState()
        return ChangeSlice(messages: messages, rev: last ?? since, hasMore: last ?? since < state.rev, state: state)
    }

    private func replay(
        of room: View.Room?, since: Int64?, _ format: PushFormat, bytes: Int
    ) throws -> ReplaySlice {
        let state = room?.state ?? RoomState()
        let since = since ?? state.rev
        var frames: [UInt8] = []
        let last = try room?.forEachChange(since: since) { rev, snapshot in
            switch format {
            case .webSocket: PushEncoding.appendFrame(snapshot, to: &frames)
            case .deflatedWebSocket: deflater.appendFrame(snapshot, to: &frames)
            case .serverSentEvents:
                PushEncoding.appendEvent(snapshot, epoch: context.epoch, rev: rev, to: &frames)
            }
            return frames.count < bytes
        }
        return ReplaySlice(frames: frames, rev: last ?? since, hasMore: last ?? since < state.rev, state: state)
    }

    // MARK: People

    /// Returns at most `limit` members of a room after `user`.
    private func members(
        of room: View.Room?, after user: UserID?, limit: Int, withProfiles: Bool
    ) throws -> RoomMembers {
        guard let room else { return RoomMembers(members: [], hasMore: false) }
        var members =
            withProfiles
            ? try db.membersWithProfiles(of: room.number, after: user, limit: limit + 1)
            : try db.members(of: room.number, after: user, limit: limit + 1)
        let hasMore = members.count > limit
        if hasMore { members.removeLast() }
        return RoomMembers(members: members, hasMore: hasMore)
    }

    /// Returns a member of a room; `nil` if the user is not a member.
    private func member(_ user: UserID, of room: View.Room?) throws -> RoomMember? {
        let role = try room.flatMap { try db.role(of: user, in: $0.number) }
        return role.map { RoomMember(user: user, role: $0) }
    }

    /// Returns at most `limit` read marks in a room at or beyond `seq`, of users after `user`.
    private func reads(of room: View.Room?, after user: UserID?, from seq: Int64, limit: Int) throws -> RoomReads {
        guard let room else { return RoomReads(reads: [], hasMore: false) }
        var reads = try db.reads(of: room.number, after: user, from: seq, limit: limit + 1)
        let hasMore = reads.count > limit
        if hasMore { reads.removeLast() }
        return RoomReads(reads: reads, hasMore: hasMore)
    }

    /// Returns users who reacted to a message; `nil` if there is no message.
    private func reactingUsers(
        _ seq: Int64, _ key: ReactionKey, of room: View.Room?, after user: UserID?, limit: Int
    ) throws -> ReactingUsers? {
        guard let room, let message = try room.message(seq: seq) else { return nil }
        // A job may not have removed its reactions yet.
        if UnreadMessages.isTombstone(message.body.span) { return ReactingUsers(users: [], hasMore: false) }
        var users = try db.users(
            reacting: key, to: RowKey(room: room.number, seq), after: user, limit: limit + 1)
        let hasMore = users.count > limit
        if hasMore { users.removeLast() }
        return ReactingUsers(users: users, hasMore: hasMore)
    }

    // MARK: Rooms as a user sees them

    /// Returns a room as a user sees it; without a user, nothing personal.
    func summary(of id: RoomID, _ room: View.Room?, for user: UserID?) throws -> RoomSummary {
        var summary = RoomSummary(
            room: id, head: room?.state.head ?? 0, rev: room?.state.rev ?? 0, epoch: context.epoch)
        summary.visibility = room?.isPrivate == true ? .private : .open
        if let room {
            let settings = try db.settings(of: room.number, for: user)
            (summary.title, summary.manners) = (settings.title, settings.manners)
            if let notify = settings.notify, notify.isInForce(at: context.configuration.clock()) {
                summary.notify = notify
            }
        }
        guard let user else { return summary }
        let readState = try readState(of: room, for: user)
        summary.read = readState.read
        summary.unread = readState.unread
        summary.firstUnread = readState.firstUnread
        summary.unreadMentions = readState.unreadMentions
        summary.firstUnreadMention = readState.firstUnreadMention
        guard let room else { return summary }
        summary.role = try db.role(of: user, in: room.number)
        summary.direct = room.direct?.other(of: user)
        return summary
    }

    /// Returns a user's read mark in a room and the unread messages after it.
    private func readState(of room: View.Room?, for user: UserID) throws -> ReadState {
        try room?.readState(of: user) ?? ReadState()
    }

    // MARK: A user's own

    /// Answers a read of what is a user's own.
    func answer(_ read: Query.OwnRead, of user: UserID) throws {
        switch read {
        case .blocks(let after, let limit, let reply):
            var blocks = try db.blocks(of: user, after: after, limit: limit + 1)
            let hasMore = blocks.count > limit
            if hasMore { blocks.removeLast() }
            reply.answer(Blocks(blocks: blocks, hasMore: hasMore))
        }
    }

    // MARK: Bans

    /// Answers a read of the bans from a room, which its owners and admins may see.
    private func answer(_ read: Query.BanRead, of room: View.Room?, for query: Query) throws {
        let role = try room.flatMap { room in
            try query.user.flatMap { try db.role(of: $0, in: room.number) }
        }
        try context.rules.checkOwner(query, role: role)
        try answer(read, from: room?.number)
    }

    /// Answers a read of the bans from a room of this number, or from the whole server; `nil` for an unused room.
    func answer(_ read: Query.BanRead, from number: Int64?) throws {
        let now = context.configuration.clock()
        switch read {
        case .one(let user, let reply):
            reply.answer(try number.flatMap { try db.ban(of: user, from: $0, at: now) })
        case .all(let user, let limit, let reply):
            var bans = try number.map { try db.bans(from: $0, after: user, at: now, limit: limit + 1) }
            let hasMore = (bans?.count ?? 0) > limit
            if hasMore { bans?.removeLast() }
            reply.answer(Bans(bans: bans ?? [], hasMore: hasMore))
        }
    }
}
