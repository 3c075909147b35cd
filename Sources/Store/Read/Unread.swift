import Chat
import GRDB
import Wire

/// Unread messages.
extension RoomView {
    /// Returns a user's read mark; 0 if nothing has been read.
    func readMark(of user: UserID) throws -> Int64 {
        try statements.lookup.readMark(of: user, in: number)
    }

    /// Returns the unread messages after a user's read mark.
    func unread(after mark: Int64, for user: UserID) throws -> UnreadMessages {
        let unreadStatements = statements.unread
        // Expired messages are never unread, and there may be more of them than the scan examines.
        let place = max(mark, try unreadStatements.expired(in: number))
        let start = max(place, unreadStatements.cleared.end(of: number, for: user, after: place))
        var unread = UnreadMessages(mark: start)
        if start < filed {
            try unreadStatements.forEachMessage(room: number, after: start, for: user) { isUnread in
                unread.add(isUnread: isUnread)
                return unread.goesOn
            }
            let end = unread.first.map { $0 - 1 } ?? unread.last
            unreadStatements.cleared.add(number, for: user, from: start, through: end)
        }
        for message in recent where unread.goesOn && message.seq > unread.last {
            // A recent message is never deleted: a message is filed before it is changed.
            unread.add(isUnread: message.sender != user)
        }
        unread.finish(head: state.head)
        return unread
    }
}

/// The number of unread messages after a read mark: messages of others that are not deleted.
///
/// The cost has a bound, whatever the room's size: the scan stops after ``maximumCount`` unread messages, or
/// ``maximumScan`` messages after the first unread one. The messages before the first unread one are examined once, see
/// ``ClearedRuns``.
struct UnreadMessages {
    /// The highest count, which also stands for more.
    static let maximumCount: Int64 = 1000
    /// Maximum number of messages examined after the first unread one. All later messages count as unread. The count is
    /// therefore too high for a user with that many own or deleted messages among the unread ones.
    static let maximumScan: Int64 = 100_000

    /// The number of unread messages so far, up to ``maximumCount``.
    private(set) var count: Int64 = 0
    /// The `seq` of the first unread message; `nil` if there is none.
    private(set) var first: Int64?
    /// The `seq` of the last message examined.
    private(set) var last: Int64

    init(mark: Int64) {
        last = mark
    }

    /// True if the scan needs the next message.
    var goesOn: Bool {
        guard let first else { return true }
        return count < Self.maximumCount && last - first < Self.maximumScan
    }

    /// Adds the next message.
    mutating func add(isUnread: Bool) {
        last += 1
        guard isUnread else { return }
        count += 1
        if first == nil { first = last }
    }

    /// Ends the scan; `head` is the room's highest `seq`.
    mutating func finish(head: Int64) {
        guard last < head else { return }
        count = min(Self.maximumCount, count + head - last)
    }
}

/// A cache of runs of messages after a user's read mark that hold nothing unread: only the user's own messages and
/// tombstones.
///
/// A run never becomes unread. A message changes its sender only when it becomes a tombstone, and tombstones stay. A
/// mark moves back only when its user is erased; then the run still holds from its own start. So the messages of a run
/// are examined once, not on each read of the room.
struct ClearedRuns {
    /// Minimum length of a run to remember, in messages.
    static let minimum: Int64 = 256
    /// Maximum number of runs remembered. Beyond it the cache is emptied.
    static let limit = 16_384

    private struct Key: Hashable {
        let room: Int64
        let user: UserID
    }

    private var runs: [Key: ClosedRange<Int64>] = [:]

    /// Returns the `seq` up to which nothing after `place` is unread; 0 if unknown.
    func end(of room: Int64, for user: UserID, after place: Int64) -> Int64 {
        guard !runs.isEmpty, let run = runs[Key(room: room, user: user)], run.lowerBound <= place else { return 0 }
        return run.upperBound
    }

    /// Records that the messages from `start` through `end` hold nothing unread for a user.
    mutating func add(_ room: Int64, for user: UserID, from start: Int64, through end: Int64) {
        guard end - start >= Self.minimum else { return }
        if runs.count >= Self.limit { runs.removeAll() }
        let key = Key(room: room, user: user)
        // The run extends the known one if it starts where that one ends; otherwise it replaces it.
        let known = runs[key].flatMap { $0.upperBound == start ? $0.lowerBound : nil }
        runs[key] = (known ?? start)...end
    }
}

/// A reader's statements for unread messages.
///
/// Confined to its connection.
final class UnreadStatements {
    /// The cache of runs without unread messages.
    var cleared = ClearedRuns()
    private let selectExpired: PreparedStatement
    private let selectMessages: PreparedStatement

    init(_ db: Connection) throws {
        selectExpired = try PreparedStatement("SELECT seq FROM expired WHERE room = ?", db)
        // The end of a snapshot identifies a tombstone: no string can contain that text, and no object comes last. Only
        // the snapshots of changed messages are read.
        let end = db.sql(
            sqlite: #"CAST(',"deleted":true}' AS BLOB)"#, postgres: #"convert_to(',"deleted":true}', 'UTF8')"#)
        selectMessages = try PreparedStatement(
            """
            SELECT sender <> ? AND (changed IS NULL OR substr(body, length(body) - 15) <> \(end))
            FROM messages WHERE id > ? AND id <= ? ORDER BY id
            """, isLong: true, db)
    }

    /// Announces a call of ``expired(in:)``.
    func runAhead(expiredIn room: Int64) throws {
        try selectExpired.bind(room, at: 1)
        try selectExpired.runAhead()
    }

    /// Returns the `seq` up to which a room's messages have expired; 0 if none have.
    func expired(in room: Int64) throws -> Int64 {
        try selectExpired.bind(room, at: 1)
        return try selectExpired.firstRow { $0.integer(0) } ?? 0
    }

    /// Passes `body`, for each message after `mark` in order, whether it counts as unread for a user, until it returns
    /// false.
    func forEachMessage(
        room: Int64, after mark: Int64, for user: UserID, _ body: (Bool) -> Bool
    ) throws {
        try selectMessages.bind(user.string, at: 1)
        try selectMessages.bind(RowKey(room: room, mark).rawValue, at: 2)
        try selectMessages.bind(RowKey(room: room, RowKey.maximumPlace).rawValue, at: 3)
        try selectMessages.withRows { rows in
            while rows.hasRow {
                guard body(rows.row.integer(0) != 0) else { return }
                try rows.next()
            }
        }
    }
}
