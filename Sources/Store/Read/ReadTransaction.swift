import Chat
import Wire

/// A read transaction, which answers queries. All its answers show the same state.
struct ReadTransaction {
    let statements: ReaderStatements
    let epoch: String
    let deflater: PushDeflater
    /// Maximum number of bytes of messages in an answer. The last message may exceed it.
    let answerBytes: Int
    let roomsByAdminsOnly: Bool
    let bans: BanTable
    let clock: @Sendable () -> Timestamp

    /// Answers a read of the room `id` by a user who may read it.
    ///
    /// - Returns: the number of bytes of messages in the answer.
    func answer(_ read: Query.RoomRead, _ id: RoomID, _ room: RoomView?, for query: Query) throws -> Int {
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
        case .members(let user, let limit, let reply):
            reply.answer(try members(of: room, after: user, limit: limit))
        case .member(let user, let reply): reply.answer(try member(user, of: room))
        case .reactions(let seq, let key, let user, let limit, let reply):
            reply.answer(try reactingUsers(seq, key, of: room, after: user, limit: limit))
        case .bans(let read): try answer(read, of: room, for: query)
        }
        return 0
    }

    // MARK: Pages

    /// Returns a page with the requested number of messages, or with fewer around the same position if they have too
    /// many bytes.
    private func page(_ request: PageRequest, of room: RoomView?, for user: UserID?) throws -> PageSlice {
        let state = room?.state ?? RoomState()
        var readState: ReadState?
        if request.anchor.place?.isPersonal == true, let user { readState = try self.readState(of: room, for: user) }
        var limit = request.limit
        while true {
            let window = try window(request.anchor, limit: limit, of: room, readState, head: state.head)
            var messages: [UInt8] = []
            if let room, window.count > 0 {
                guard let read = try room.messages(window, within: answerBytes) else {
                    limit = window.count / 2
                    continue
                }
                messages = read
            }
            return PageSlice(
                messages: messages, count: window.count, firstSeq: window.count > 0 ? window.start : 0,
                lastSeq: window.count > 0 ? window.end - 1 : 0, hasBefore: window.hasBefore,
                hasAfter: window.hasAfter(head: state.head), state: state, readState: readState)
        }
    }

    private func window(
        _ anchor: PageRequest.Anchor, limit: Int, of room: RoomView?, _ readState: ReadState?, head: Int64
    ) throws -> PageWindow {
        switch anchor {
        case .newest:
            return .newest(head: head, limit: limit)
        case .before(let place):
            let gap = try seq(of: place, in: room, readState, head: head)
            return .before(gap: gap, head: head, limit: limit)
        case .after(let place):
            let seq = try seq(of: place, in: room, readState, head: head)
            // A time is already a gap between messages; a message itself is skipped.
            if case .time = place { return .after(gap: seq, head: head, limit: limit) }
            return .after(gap: seq == .max ? seq : seq + 1, head: head, limit: limit)
        case .around(let place):
            return .around(try seq(of: place, in: room, readState, head: head), head: head, limit: limit)
        }
    }

    /// Returns the `seq` of a position. For a time, that is the first message stored then or later.
    ///
    /// - Parameter readState: the reader's state; `nil` for a reader without a name, who has no read mark and nothing
    ///   unread.
    private func seq(of place: Place, in room: RoomView?, _ readState: ReadState?, head: Int64) throws -> Int64 {
        switch place {
        case .seq(let seq): return seq
        case .first: return 1
        case .last: return head
        case .read: return readState?.read ?? 0
        case .unread: return readState?.firstUnread ?? head
        case .time(let time): return try room?.firstSeq(at: time) ?? 1
        }
    }

    // MARK: Changes

    private func changes(of room: RoomView?, since: Int64, limit: Int) throws -> ChangeSlice {
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
        of room: RoomView?, since: Int64?, _ format: PushFormat, bytes: Int
    ) throws -> ReplaySlice {
        let state = room?.state ?? RoomState()
        let since = since ?? state.rev
        var frames: [UInt8] = []
        let last = try room?.forEachChange(since: since) { rev, snapshot in
            switch format {
            case .webSocket: PushEncoding.appendFrame(snapshot, to: &frames)
            case .deflatedWebSocket: deflater.appendFrame(snapshot, to: &frames)
            case .serverSentEvents: PushEncoding.appendEvent(snapshot, epoch: epoch, rev: rev, to: &frames)
            }
            return frames.count < bytes
        }
        return ReplaySlice(frames: frames, rev: last ?? since, hasMore: last ?? since < state.rev, state: state)
    }
}

// MARK: - Access

extension ReadTransaction {
    /// Answers a read of a room. Access is checked in the same snapshot.
    ///
    /// - Parameters:
    ///   - recent: the room's recent messages, taken before the transaction.
    ///   - page: the room with the page that the query asks for, if it was read before the transaction.
    /// - Returns: the number of bytes of messages in the answer.
    /// - Throws: the ``Problem`` that the read is refused with.
    func answer(
        _ read: Query.RoomRead, of id: RoomID, _ recent: [RecentMessage], _ page: RoomView? = nil, for query: Query
    ) throws -> Int {
        let room = try page ?? RoomView(id, recent: recent, statements)
        if room?.isDeleted == true { throw Problem.roomDeleted }
        guard try mayRead(room, query) else { throw Problem.roomNotFound }
        if !bans.isEmpty,
            let refusal = bans.refusal(of: query.user, in: id, isAdmin: query.isAdmin, for: .read, at: clock())
        {
            throw refusal
        }
        return try answer(read, id, room, for: query)
    }

    /// Sends ahead the statements that read the rooms of queries, so that there is one wait for the rows of all rooms
    /// and one for all memberships. Only with PostgreSQL.
    ///
    /// - Parameter pages: The rooms that have been read already.
    func runAhead(_ queries: ArraySlice<Query>, _ pages: [RoomView?]) throws {
        let rest = zip(queries, pages).filter { $0.1 == nil }.map(\.0)
        for query in rest { try statements.lookup.runAhead(rowOf: query.room!) }
        for query in rest where !query.isAdmin {
            guard let user = query.user, let room = try statements.lookup.row(of: query.room!), room.isPrivate else {
                continue
            }
            try statements.lookup.runAhead(roleOf: user, in: room.number)
        }
    }

    private func mayRead(_ room: RoomView?, _ query: Query) throws -> Bool {
        guard let room else { return !roomsByAdminsOnly }
        guard room.isPrivate, !query.isAdmin else { return true }
        guard let user = query.user else { return false }
        if let page = room.page { return page.isForMember }
        return try statements.lookup.role(of: user, in: room.number) != nil
    }

    /// Returns at most `limit` members of a room after `user`.
    func members(of room: RoomView?, after user: UserID?, limit: Int) throws -> RoomMembers {
        guard let room else { return RoomMembers(members: [], hasMore: false) }
        var members = try statements.rooms.members(of: room.number, after: user, limit: limit + 1)
        let hasMore = members.count > limit
        if hasMore { members.removeLast() }
        return RoomMembers(members: members, hasMore: hasMore)
    }

    /// Returns users who reacted to a message; `nil` if there is no message.
    func reactingUsers(
        _ seq: Int64, _ key: ReactionKey, of room: RoomView?, after user: UserID?, limit: Int
    ) throws -> ReactingUsers? {
        guard let room, try room.message(seq: seq) != nil else { return nil }
        var users = try statements.rooms.users(
            reacting: key, to: RowKey(room: room.number, seq), after: user, limit: limit + 1)
        let hasMore = users.count > limit
        if hasMore { users.removeLast() }
        return ReactingUsers(users: users, hasMore: hasMore)
    }

    /// Returns a member of a room; `nil` if the user is not a member.
    func member(_ user: UserID, of room: RoomView?) throws -> RoomMember? {
        let role = try room.flatMap { try statements.lookup.role(of: user, in: $0.number) }
        return role.map { RoomMember(user: user, role: $0) }
    }
}

// MARK: - Rooms as a user sees them

extension ReadTransaction {
    /// Returns a room as a user sees it; without a user, nothing personal.
    func summary(of id: RoomID, _ room: RoomView?, for user: UserID?) throws -> RoomSummary {
        var summary = RoomSummary(room: id, head: room?.state.head ?? 0, rev: room?.state.rev ?? 0, epoch: epoch)
        if let room { try statements.runAhead(summaryOf: room.number, for: user) }
        summary.visibility = room?.isPrivate == true ? .private : .open
        summary.title = try room.flatMap { try statements.rooms.title(of: $0.number) }
        guard let user else { return summary }
        let readState = try readState(of: room, for: user)
        summary.read = readState.read
        summary.unread = readState.unread
        summary.firstUnread = readState.firstUnread
        guard let room else { return summary }
        summary.role = try statements.lookup.role(of: user, in: room.number)
        return summary
    }

    /// Returns a user's read mark in a room and the unread messages after it.
    func readState(of room: RoomView?, for user: UserID) throws -> ReadState {
        guard let room else { return ReadState() }
        try statements.runAhead(readStateOf: room.number, for: user)
        // The mark comes from this transaction, and the recent messages are older. A message sent and read in between
        // is not included yet.
        let mark = min(try room.readMark(of: user), room.state.head)
        let unread = try room.unread(after: mark, for: user)
        return ReadState(read: mark, unread: unread.count, firstUnread: unread.first)
    }
}

// MARK: - Bans

extension ReadTransaction {
    /// Answers a read of the bans from a room, which its owners and admins may see.
    func answer(_ read: Query.BanRead, of room: RoomView?, for query: Query) throws {
        let role = try room.flatMap { room in
            try query.user.flatMap { try statements.lookup.role(of: $0, in: room.number) }
        }
        guard query.isAdmin || role == .owner else { throw Problem.notAnOwner }
        try answer(read, from: room?.number)
    }

    /// Answers a read of the bans from a room of this number, or from the whole server; `nil` for an unused room.
    func answer(_ read: Query.BanRead, from number: Int64?) throws {
        switch read {
        case .one(let user, let reply):
            reply.answer(try number.flatMap { try statements.bans.ban(of: user, from: $0, at: clock()) })
        case .all(let user, let limit, let reply):
            var bans = try number.map { try statements.bans.bans(from: $0, after: user, at: clock(), limit: limit + 1) }
            let hasMore = (bans?.count ?? 0) > limit
            if hasMore { bans?.removeLast() }
            reply.answer(Bans(bans: bans ?? [], hasMore: hasMore))
        }
    }
}
