import Chat
import Wire

/// Answers queries in one read transaction, so all answers show the same state.
struct Snapshot {
    let statements: ReaderStatements
    let epoch: String
    let deflater: PushDeflater
    /// Maximum number of bytes of messages in an answer. The last message may exceed it.
    let answerBytes: Int
    let roomsByAdminsOnly: Bool
    let bans: BanTable
    let clock: @Sendable () -> Timestamp

    /// Answers a read of the room `id` by somebody who may read it.
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
