import Chat
import Wire

/// A room in a read transaction of SQLite: its filed messages, followed by those that only the journal has.
struct SQLiteRoom: RoomView {
    let state: RoomState
    let number: Int64
    let isPrivate: Bool
    let isDeleted: Bool
    let isSearchable: Bool
    let direct: DirectPair?
    /// The highest `seq` of a filed message.
    let filed: Int64
    /// The messages after the filed ones, which are consecutive.
    let recent: ArraySlice<RecentMessage>
    private let statements: SQLiteReaderStatements
    private var db: SQLiteConnection { statements.shared.db }

    /// Creates a view from the recent messages, which were taken before the transaction; `nil` if there is no room.
    ///
    /// Messages filed since then are also in the database, possibly changed, and the database takes precedence.
    init?(_ room: RoomID, recent: [RecentMessage], _ statements: SQLiteReaderStatements) throws {
        let db = statements.shared.db
        guard let row = try db.row(of: room, locking: false) else { return nil }
        let progress = try db.progress(of: row.number)
        number = row.number
        isPrivate = row.facts.isPrivate
        isDeleted = row.facts.isDeleted
        isSearchable = row.isSearchable
        direct = row.direct
        filed = progress.head
        self.statements = statements
        self.recent = recent.drop { $0.seq <= progress.head }
        state =
            self.recent.last.map { RoomState(head: $0.seq, rev: $0.rev) }
            ?? RoomState(head: progress.head, rev: progress.rev)
    }

    // MARK: One message

    func message(seq: Int64) throws -> StoredMessage? {
        seq > filed
            ? recentMessage(seq).map(StoredMessage.init) : try db.message(room: number, seq: seq)
    }

    func message(sender: UserID, clientMessageID: String) throws -> StoredMessage? {
        guard let message = recent.first(where: { $0.wasSent(by: sender, as: clientMessageID) }) else {
            return try db.currentMessage(room: number, sender: sender, clientMessageID: clientMessageID)
        }
        return try db.isFormer(message.seq, in: number, of: sender) ? nil : StoredMessage(message)
    }

    private func recentMessage(_ seq: Int64) -> RecentMessage? {
        guard let first = recent.first?.seq, seq >= first, seq - first < recent.count else { return nil }
        return recent[recent.startIndex + Int(seq - first)]
    }

    // MARK: Pages

    func messages(_ window: PageWindow, within limit: Int) throws -> [UInt8]? {
        var messages = try statements.shared.messages(
            room: number, from: window.start, through: min(filed, window.end - 1), until: limit)
        for seq in max(window.start, filed + 1)..<max(window.end, filed + 1) where messages.count <= limit {
            if !messages.isEmpty { messages.append(UInt8(ascii: ",")) }
            messages += recentMessage(seq)!.body
        }
        return messages.count <= limit || window.count == 1 ? messages : nil
    }

    func newest(from first: Int64, before end: Int64, most: Int) throws -> [RoomMessage] {
        let unfiled = recent.lazy.filter { $0.seq >= first && $0.seq < end }.suffix(most).reversed()
            .map { ($0.seq, $0.createdAt.milliseconds, $0.body) as RoomMessage }
        return unfiled
            + (try statements.shared.newest(
                room: number, from: first, through: min(filed, end - 1), most: most - unfiled.count))
    }

    /// It is a binary search, because times never decrease as `seq` grows. So no index of times is needed.
    func firstSeq(at time: Timestamp) throws -> Int64 {
        try firstSeq { seq in
            if let recent = recentMessage(seq) { return recent.createdAt >= time }
            return try db.createdAt(room: number, seq: seq).map { $0 >= time.milliseconds } ?? true
        }
    }

    func sentRevision(of seq: Int64) throws -> Int64 {
        if seq > filed, let recent = recentMessage(seq) { return recent.rev }
        return try db.rev(room: number, seq: seq) ?? state.rev
    }

    // MARK: Changes

    func forEachChange(since: Int64, _ body: (Int64, Span<UInt8>) -> Bool) throws -> Int64 {
        guard since < state.rev else { return since }
        var last = since
        var isWanted = true
        // Every change of a filed message came before the first recent message was sent.
        if since < recent.first.map({ $0.rev - 1 }) ?? state.rev {
            let first = try firstSeq(after: since)
            try statements.shared.changes(room: number, since: since, first: first) { rev, snapshot in
                last = rev
                isWanted = body(rev, snapshot)
                return isWanted
            }
        }
        // Their revisions rise. Those who follow a room lack only the last ones.
        let first = recent.lastIndex { $0.rev <= since }.map { $0 + 1 } ?? recent.startIndex
        for message in recent[first...] where isWanted {
            last = message.rev
            let snapshot = message.body
            isWanted = body(message.rev, snapshot.span)
        }
        return last
    }

    func firstSeq(after since: Int64) throws -> Int64 {
        // In a room without changes, each message took one revision.
        if state.rev == state.head { return since + 1 }
        return try firstSeq { seq in
            if let recent = recentMessage(seq) { return recent.rev > since }
            return try db.rev(room: number, seq: seq).map { $0 > since } ?? true
        }
    }

    /// Returns the first `seq` for which `isPast` is true, or the next `seq` to be assigned. `isPast` must stay true
    /// for all later ones.
    private func firstSeq(where isPast: (Int64) throws -> Bool) rethrows -> Int64 {
        var low: Int64 = 1
        var high = state.head + 1
        while low < high {
            let middle = (low + high) / 2
            if try isPast(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    // MARK: Unread messages

    func readState(of user: UserID) throws -> ReadState {
        // The mark comes from this transaction, and the recent messages are older. A message sent and read in between
        // is not included yet.
        let mark = min(try db.readMark(of: user, in: number), state.head)
        var unread = try statements.shared.unread(
            after: mark, through: filed, head: state.head, in: number, for: user)
        for message in recent where unread.goesOn && message.seq > unread.last {
            // A recent message is never deleted: a message is filed before it is changed.
            unread.add(isUnread: message.sender != user)
        }
        unread.finish(head: state.head)
        return ReadState(mark: mark, unread)
    }
}

extension StoredMessage {
    /// A recent message, as it was sent.
    fileprivate init(_ message: RecentMessage) {
        self.init(seq: message.seq, rev: message.rev, body: message.body)
    }
}
