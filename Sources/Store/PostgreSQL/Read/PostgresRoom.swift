import Chat
import Wire

/// A room in a read transaction of PostgreSQL.
struct PostgresRoom: RoomView {
    let state: RoomState
    let number: Int64
    let isPrivate: Bool
    let isDeleted: Bool
    private let statements: PostgresReaderStatements

    /// Looks up a room; `nil` if there is none.
    init?(_ room: RoomID, _ statements: PostgresReaderStatements) throws {
        let lookup = statements.shared.lookup
        guard let row = try lookup.row(of: room) else { return nil }
        let (head, rev, _) = try lookup.progress(of: row)
        state = RoomState(head: head, rev: rev)
        number = row.number
        isPrivate = row.isPrivate
        isDeleted = row.isDeleted
        self.statements = statements
    }

    func message(seq: Int64) throws -> StoredMessage? {
        try statements.shared.message(room: number, seq: seq)
    }

    func message(sender: UserID, clientMessageID: String) throws -> StoredMessage? {
        try statements.shared.message(room: number, sender: sender, clientMessageID: clientMessageID)
    }

    func messages(_ window: PageWindow, within limit: Int) throws -> [UInt8]? {
        let messages = try statements.shared.messages(
            room: number, from: window.start, through: window.end - 1, until: limit)
        return messages.count <= limit || window.count == 1 ? messages : nil
    }

    func firstSeq(at time: Timestamp) throws -> Int64 {
        try statements.firstSeq(room: number, head: state.head, storedAt: time)
    }

    func forEachChange(since: Int64, _ body: (Int64, Span<UInt8>) -> Bool) throws -> Int64 {
        guard since < state.rev else { return since }
        // In a room without changes, each message took one revision.
        let first =
            try state.rev == state.head
            ? since + 1 : statements.firstSeq(room: number, head: state.head, sentAfter: since)
        try statements.sendAhead(changesIn: number, since: since, first: first)
        var last = since
        try statements.shared.changes(room: number, since: since, first: first) { rev, row in
            last = rev
            return row.withBytes(1) { body(rev, $0) }
        }
        return last
    }

    func readState(of user: UserID) throws -> ReadState {
        let mark = try statements.shared.lookup.readMark(of: user, in: number)
        var unread = try statements.shared.unread.messages(after: mark, through: state.head, in: number, for: user)
        unread.finish(head: state.head)
        return ReadState(read: mark, unread: unread.count, firstUnread: unread.first)
    }
}
