import Chat
import Wire

/// Answers queries in one read transaction: every answer is of the same moment.
struct Snapshot {
    let statements: ReaderStatements
    let epoch: String
    let deflater: PushDeflater

    /// Answers a query.
    func answer(_ query: Query) throws -> Answer.Content {
        let room = try statements.room(query.room)
        let state = room?.state ?? RoomState()
        let number = room?.number ?? 0
        switch query.kind {
        case .state:
            return .state(state)
        case .message(let seq):
            return .message(room == nil ? nil : try statements.message(room: number, seq: seq))
        case .clientMessage(let sender, let id):
            return .message(
                room == nil ? nil : try statements.message(room: number, sender: sender, clientMessageID: id))
        case .page(let request):
            return .page(try page(request, room: number, state))
        case .changes(let since, let limit):
            return .changes(try changes(room: number, since: since, limit: limit, state))
        case .replay(let since, let format, let bytes):
            return .replay(try replay(room: number, since: since ?? state.rev, format, bytes: bytes, state))
        }
    }

    // MARK: Pages

    private func page(_ request: PageRequest, room: Int64, _ state: RoomState) throws -> PageSlice {
        let window = try window(request, room: room, head: state.head)
        return PageSlice(
            messages: window.count > 0 ? try statements.messages(room: room, window) : [], count: window.count,
            firstSeq: window.count > 0 ? window.start : 0, lastSeq: window.count > 0 ? window.end - 1 : 0,
            hasBefore: window.hasBefore, hasAfter: window.hasAfter(head: state.head), state: state)
    }

    private func window(_ request: PageRequest, room: Int64, head: Int64) throws -> PageWindow {
        switch request.anchor {
        case .newest:
            return .newest(head: head, limit: request.limit)
        case .before(let place):
            let gap = try seq(of: place, room: room, head: head)
            return .before(gap: gap, head: head, limit: request.limit)
        case .after(let place):
            let seq = try seq(of: place, room: room, head: head)
            // A time is a gap already; a message is passed over.
            if case .time = place { return .after(gap: seq, head: head, limit: request.limit) }
            return .after(gap: seq == .max ? seq : seq + 1, head: head, limit: request.limit)
        case .around(let place):
            return .around(try seq(of: place, room: room, head: head), head: head, limit: request.limit)
        }
    }

    /// The `seq` of a place; of a time, that of the first message stored at it or after it.
    private func seq(of place: Place, room: Int64, head: Int64) throws -> Int64 {
        switch place {
        case .seq(let seq): return seq
        case .first: return 1
        case .last: return head
        // There are no read marks yet: nobody has read anything.
        case .read: return 0
        case .time(let time): return try firstSeq(at: time, room: room, head: head)
        }
    }

    /// Halving works because times never fall along `seq`; so there needs to be no index of times.
    private func firstSeq(at time: Timestamp, room: Int64, head: Int64) throws -> Int64 {
        try firstSeq(upTo: head) { seq in
            try statements.createdAt(room: room, seq: seq).map { $0 >= time.milliseconds } ?? true
        }
    }

    // MARK: Changes

    private func changes(room: Int64, since: Int64, limit: Int, _ state: RoomState) throws -> ChangeSlice {
        var messages: [UInt8] = []
        var count = 0
        let last = try forEachChange(room: room, since: since, state) { _, row in
            if count > 0 { messages.append(UInt8(ascii: ",")) }
            row.append(1, to: &messages)
            count += 1
            return count < limit
        }
        return ChangeSlice(messages: messages, rev: last, hasMore: last < state.rev, state: state)
    }

    private func replay(
        room: Int64, since: Int64, _ format: PushFormat, bytes: Int, _ state: RoomState
    ) throws -> ReplaySlice {
        var frames: [UInt8] = []
        let last = try forEachChange(room: room, since: since, state) { rev, row in
            switch format {
            case .webSocket: row.withBytes(1) { PushEncoding.appendFrame($0, to: &frames) }
            case .deflatedWebSocket: row.withBytes(1) { deflater.appendFrame($0, to: &frames) }
            case .serverSentEvents:
                row.withBytes(1) { PushEncoding.appendEvent($0, epoch: epoch, rev: rev, to: &frames) }
            }
            return frames.count < bytes
        }
        return ReplaySlice(frames: frames, rev: last, hasMore: last < state.rev, state: state)
    }

    /// Hands over what changed after `since`, until `body` answers `false`.
    ///
    /// - Returns: the revision up to which everything has been handed over. The room's latest one always has its
    ///   message, so who has that one has all.
    private func forEachChange(
        room: Int64, since: Int64, _ state: RoomState, _ body: (Int64, borrowing PreparedStatement.Row) -> Bool
    ) throws -> Int64 {
        guard since < state.rev else { return since }
        var last = since
        let first = try firstSeq(in: room, after: since, state)
        try statements.changes(room: room, since: since, first: first) { rev, row in
            last = rev
            return body(rev, row)
        }
        return last
    }

    /// The first message that was sent after revision `since`.
    private func firstSeq(in room: Int64, after since: Int64, _ state: RoomState) throws -> Int64 {
        // Where nothing was ever changed, each message took one revision.
        if state.rev == state.head { return since + 1 }
        return try firstSeq(upTo: state.head) { seq in
            try statements.rev(room: room, seq: seq).map { $0 > since } ?? true
        }
    }

    /// The first `seq` for which `isPast` holds, or the one behind `head`. It holds for all that follow one.
    private func firstSeq(upTo head: Int64, where isPast: (Int64) throws -> Bool) rethrows -> Int64 {
        var low: Int64 = 1
        var high = head + 1
        while low < high {
            let middle = (low + high) / 2
            if try isPast(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
