import Chat
import Wire

/// A room in a snapshot: its rows among the messages, and behind them those that are in the journal only.
struct RoomView {
    /// How far the room has come.
    let state: RoomState
    /// The room's number in the database.
    let number: Int64
    /// True if it is for members only.
    let isPrivate: Bool
    /// True if it has been deleted: what there may still be of it is nobody's to read.
    let isDeleted: Bool
    /// The `seq` of the last message among the rows.
    let filed: Int64
    /// The messages behind those.
    let recent: ArraySlice<RecentMessage>
    let statements: ReaderStatements

    /// A room with these recent messages, taken before the snapshot; `nil` when nobody has used it.
    ///
    /// What has been filed since is among the rows, which are ahead then. They may also have been changed there: a
    /// message is changed in its place only.
    init?(_ room: RoomID, recent: [RecentMessage], _ statements: ReaderStatements) throws {
        guard let (row, filed) = try statements.room(room) else { return nil }
        number = row.number
        isPrivate = row.isPrivate
        isDeleted = row.isDeleted
        self.filed = filed.head
        self.statements = statements
        self.recent = recent.drop { $0.seq <= filed.head }
        state = self.recent.last.map { RoomState(head: $0.seq, rev: $0.rev) } ?? filed
    }

    // MARK: One message

    /// A message.
    func message(seq: Int64) throws -> Stored? {
        seq > filed ? recentMessage(seq).map(Stored.init) : try statements.message(room: number, seq: seq)
    }

    /// The message that was sent under a client message id.
    func message(sender: UserID, clientMessageID: String) throws -> Stored? {
        let message = recent.first { $0.wasSent(by: sender, as: clientMessageID) }
        return try message.map(Stored.init)
            ?? statements.lookup.message(room: number, sender: sender, clientMessageID: clientMessageID)
    }

    private func recentMessage(_ seq: Int64) -> RecentMessage? {
        // They are consecutive.
        guard let first = recent.first?.seq, seq >= first, seq - first < recent.count else { return nil }
        return recent[recent.startIndex + Int(seq - first)]
    }

    // MARK: Pages

    /// The snapshots of a page that is not empty, joined by commas; `nil` when they are several, and more than so many bytes.
    func messages(_ window: PageWindow, within limit: Int) throws -> [UInt8]? {
        var messages = try statements.messages(
            room: number, from: window.start, through: min(filed, window.end - 1), until: limit)
        for seq in max(window.start, filed + 1)..<max(window.end, filed + 1) where messages.count <= limit {
            if !messages.isEmpty { messages.append(UInt8(ascii: ",")) }
            messages += recentMessage(seq)!.body
        }
        return messages.count <= limit || window.count == 1 ? messages : nil
    }

    /// The `seq` of the first message that was stored at a time or later; the one behind the head when there is none.
    ///
    /// Halving works because times never fall along `seq`; so there needs to be no index of times.
    func firstSeq(at time: Timestamp) throws -> Int64 {
        try firstSeq { seq in
            if let recent = recentMessage(seq) { return recent.createdAt >= time }
            return try statements.createdAt(room: number, seq: seq).map { $0 >= time.milliseconds } ?? true
        }
    }

    // MARK: Changes

    /// Hands over the snapshots of what changed after `since`, each message once, by its latest revision, until `body`
    /// answers `false`.
    ///
    /// - Returns: the revision up to which everything has been handed over. The room's latest one always has its
    ///   message, so who has that one has all.
    func forEachChange(since: Int64, _ body: (Int64, Span<UInt8>) -> Bool) throws -> Int64 {
        guard since < state.rev else { return since }
        var last = since
        var isWanted = true
        // Whatever was changed was changed before the first of the recent messages was sent.
        if since < recent.first.map({ $0.rev - 1 }) ?? state.rev {
            let first = try firstSeq(after: since)
            try statements.changes(room: number, since: since, first: first) { rev, row in
                last = rev
                isWanted = row.withBytes(1) { body(rev, $0) }
                return isWanted
            }
        }
        for message in recent where isWanted && message.rev > since {
            last = message.rev
            let snapshot = message.body
            isWanted = body(message.rev, snapshot.span)
        }
        return last
    }

    /// The first message that was sent after revision `since`.
    private func firstSeq(after since: Int64) throws -> Int64 {
        // Where nothing was ever changed, each message took one revision.
        if state.rev == state.head { return since + 1 }
        return try firstSeq { seq in
            if let recent = recentMessage(seq) { return recent.rev > since }
            return try statements.rev(room: number, seq: seq).map { $0 > since } ?? true
        }
    }

    /// The first `seq` for which `isPast` holds, or the one behind the head. It holds for all that follow one.
    private func firstSeq(where isPast: (Int64) throws -> Bool) rethrows -> Int64 {
        var low: Int64 = 1
        var high = state.head + 1
        while low < high {
            let middle = (low + high) / 2
            if try isPast(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Stored {
    /// A message that is in the journal only, as it was sent.
    fileprivate init(_ message: RecentMessage) {
        self.init(seq: message.seq, rev: message.rev, body: message.body)
    }
}
