import Chat
import Wire

/// A room in a read transaction: its filed messages, followed by those that only the journal has.
struct RoomView {
    /// The room's highest `seq` and revision.
    let state: RoomState
    /// The room's number in the database.
    let number: Int64
    /// True if only members may read the room.
    let isPrivate: Bool
    /// True if the room has been deleted. Rows that it still has must not be read.
    let isDeleted: Bool
    /// The highest `seq` of a filed message.
    let filed: Int64
    /// The messages after the filed ones.
    let recent: ArraySlice<RecentMessage>
    let statements: ReaderStatements
    /// A page that was read together with the room; only with PostgreSQL.
    let page: Page?

    /// A page that was read together with its room.
    struct Page {
        /// True if the user who reads it is a member of the room.
        var isForMember: Bool
        var window: PageWindow
        /// The snapshots, joined by commas.
        var messages: [UInt8]
    }

    /// Creates a view of a room that was read together with a page.
    init(
        number: Int64, isPrivate: Bool, isDeleted: Bool, _ state: RoomState, _ page: Page,
        _ statements: ReaderStatements
    ) {
        self.number = number
        self.isPrivate = isPrivate
        self.isDeleted = isDeleted
        self.state = state
        self.page = page
        filed = state.head
        recent = []
        self.statements = statements
    }

    /// Creates a view from the recent messages, which were taken before the transaction; `nil` if there is no room.
    ///
    /// Messages filed since then are also in the database, possibly changed, and the database takes precedence.
    init?(_ room: RoomID, recent: [RecentMessage], _ statements: ReaderStatements) throws {
        guard let (row, filed) = try statements.room(room) else { return nil }
        number = row.number
        isPrivate = row.isPrivate
        isDeleted = row.isDeleted
        self.filed = filed.head
        self.statements = statements
        page = nil
        self.recent = recent.drop { $0.seq <= filed.head }
        state = self.recent.last.map { RoomState(head: $0.seq, rev: $0.rev) } ?? filed
    }

    // MARK: One message

    /// Returns a message; `nil` if there is none.
    func message(seq: Int64) throws -> StoredMessage? {
        seq > filed ? recentMessage(seq).map(StoredMessage.init) : try statements.message(room: number, seq: seq)
    }

    /// Returns the message that was sent with a client message id; `nil` also for a user who is being erased.
    func message(sender: UserID, clientMessageID: String) throws -> StoredMessage? {
        let recent = recent.first { $0.wasSent(by: sender, as: clientMessageID) }.map(StoredMessage.init)
        let message =
            try recent ?? statements.lookup.message(room: number, sender: sender, clientMessageID: clientMessageID)
        guard let message, try !statements.erasures.isFormer(message.seq, in: number, of: sender) else { return nil }
        return message
    }

    private func recentMessage(_ seq: Int64) -> RecentMessage? {
        // Recent messages are consecutive.
        guard let first = recent.first?.seq, seq >= first, seq - first < recent.count else { return nil }
        return recent[recent.startIndex + Int(seq - first)]
    }

    // MARK: Pages

    /// Returns the snapshots of a page with at least one message, joined by commas; `nil` if it has several messages
    /// with more than `limit` bytes.
    func messages(_ window: PageWindow, within limit: Int) throws -> [UInt8]? {
        if let page, page.window == window { return page.messages }
        var messages = try statements.messages(
            room: number, from: window.start, through: min(filed, window.end - 1), until: limit)
        for seq in max(window.start, filed + 1)..<max(window.end, filed + 1) where messages.count <= limit {
            if !messages.isEmpty { messages.append(UInt8(ascii: ",")) }
            messages += recentMessage(seq)!.body
        }
        return messages.count <= limit || window.count == 1 ? messages : nil
    }

    /// Returns the `seq` of the first message stored at `time` or later; the next `seq` to be assigned if there is
    /// none.
    ///
    /// It is a binary search, because times never decrease as `seq` grows. So no index of times is needed.
    func firstSeq(at time: Timestamp) throws -> Int64 {
        if let seq = try statements.firstSeq(room: number, head: state.head, storedAt: time) { return seq }
        return try firstSeq { seq in
            if let recent = recentMessage(seq) { return recent.createdAt >= time }
            return try statements.createdAt(room: number, seq: seq).map { $0 >= time.milliseconds } ?? true
        }
    }

    // MARK: Changes

    /// Passes `body` the snapshot of each message that was sent or changed after `since`, once, in the order of latest
    /// revisions, until it returns false.
    ///
    /// - Returns: the revision up to which all changes have been passed. The room's latest revision always belongs to a
    ///   message, so a client that has reached it is up to date.
    func forEachChange(since: Int64, _ body: (Int64, Span<UInt8>) -> Bool) throws -> Int64 {
        guard since < state.rev else { return since }
        var last = since
        var isWanted = true
        // Every change of a filed message came before the first recent message was sent.
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

    /// Returns the `seq` of the first message sent after revision `since`.
    private func firstSeq(after since: Int64) throws -> Int64 {
        // In a room without changes, each message took one revision.
        if state.rev == state.head { return since + 1 }
        if let seq = try statements.firstSeq(room: number, head: state.head, sentAfter: since) { return seq }
        return try firstSeq { seq in
            if let recent = recentMessage(seq) { return recent.rev > since }
            return try statements.rev(room: number, seq: seq).map { $0 > since } ?? true
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
}

extension StoredMessage {
    /// A recent message, as it was sent.
    fileprivate init(_ message: RecentMessage) {
        self.init(seq: message.seq, rev: message.rev, body: message.body)
    }
}
