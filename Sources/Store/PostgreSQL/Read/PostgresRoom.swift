import Chat
import Wire

/// A room in a read transaction of PostgreSQL.
struct PostgresRoom: RoomView {
    let state: RoomState
    let number: Int64
    let isPrivate: Bool
    let isDeleted: Bool
    let isSearchable: Bool
    let direct: DirectPair?
    private let statements: PostgresReaderStatements
    private var db: PostgresConnection { statements.shared.db }

    /// Looks up a room; `nil` if there is none.
    init?(_ room: RoomID, _ statements: PostgresReaderStatements) throws {
        let db = statements.shared.db
        guard let row = try db.row(of: room, locking: false), let progress = row.progress else { return nil }
        state = RoomState(head: progress.head, rev: progress.rev)
        number = row.number
        isPrivate = row.facts.isPrivate
        isDeleted = row.facts.isDeleted
        isSearchable = row.isSearchable
        direct = row.direct
        self.statements = statements
    }

    func message(seq: Int64) throws -> StoredMessage? {
        try db.message(room: number, seq: seq)
    }

    func message(sender: UserID, clientMessageID: String) throws -> StoredMessage? {
        try db.currentMessage(room: number, sender: sender, clientMessageID: clientMessageID)
    }

    func messages(_ window: PageWindow, within limit: Int) throws -> [UInt8]? {
        let messages = try statements.shared.messages(
            room: number, from: window.start, through: window.end - 1, until: limit)
        return messages.count <= limit || window.count == 1 ? messages : nil
    }

    func newest(from first: Int64, before end: Int64, most: Int) throws -> [RoomMessage] {
        try statements.shared.newest(room: number, from: first, through: end - 1, most: most)
    }

    func firstSeq(at time: Timestamp) throws -> Int64 {
        try db.firstSeq(room: number, head: state.head, storedAt: time)
    }

    func firstSeq(after since: Int64) throws -> Int64 {
        // In a room without changes, each message took one revision.
        try state.rev == state.head
            ? since + 1 : db.firstSeq(room: number, head: state.head, sentAfter: since)
    }

    func sentRevision(of seq: Int64) throws -> Int64 { try db.rev(room: number, seq: seq) ?? state.rev }

    func forEachChange(since: Int64, _ body: (Int64, Span<UInt8>) -> Bool) throws -> Int64 {
        guard since < state.rev else { return since }
        let first = try firstSeq(after: since)
        try db.sendAhead { try statements.shared.changes(room: number, since: since, first: first) { _, _ in false } }
        var last = since
        try statements.shared.changes(room: number, since: since, first: first) { rev, snapshot in
            last = rev
            return body(rev, snapshot)
        }
        return last
    }

    func readState(of user: UserID) throws -> ReadState {
        let mark = try db.readMark(of: user, in: number)
        var unread = try statements.shared.unread(
            after: mark, through: state.head, head: state.head, in: number, for: user)
        unread.finish(head: state.head)
        return ReadState(mark: mark, unread)
    }
}
