import Chat
import Wire

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
    /// The unread messages that mention the user.
    var mentions = Mentioned()

    init(mark: Int64) {
        last = mark
    }

    /// True if the scan needs the next message.
    var goesOn: Bool {
        guard let first else { return true }
        return count < Self.maximumCount && last - first < Self.maximumScan
    }

    /// Adds the messages up to `end`.
    ///
    /// - Parameter found: The unread ones among them that a scan within the bounds has found.
    mutating func add(_ found: Found?, through end: Int64) {
        guard let found else {
            last = end
            return
        }
        (first, count) = (found.first, found.count)
        last = min(end, found.first + Self.maximumScan)
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

    /// Returns the end of the run after `seq` in which nothing is unread; 0 if unknown.
    func end(of room: Int64, for user: UserID, after seq: Int64) -> Int64 {
        guard !runs.isEmpty, let run = runs[Key(room: room, user: user)], run.lowerBound <= seq else { return 0 }
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

extension UnreadMessages {
    /// The unread messages that a scan has found.
    struct Found {
        /// The `seq` of the first one.
        var first: Int64
        /// Their number within the bounds of ``UnreadMessages``.
        var count: Int64
    }

    /// The unread messages that mention a user or the room: rows after the mark, which deletions and edits remove.
    struct Mentioned {
        /// Their number, up to ``maximumCount``.
        var count: Int64 = 0
        /// The `seq` of the first one; `nil` if there is none.
        var first: Int64?
    }

    /// Maximum number of mentions examined after the mark. Later ones do not count, if a user has that many of others who
    /// do not count, or mentions the room that often.
    static let maximumMentionScan: Int64 = 10_000

    /// The end of a tombstone's snapshot, which identifies it: strings have their quotes escaped, and the last member of
    /// a snapshot is never an object. Only the snapshots of changed messages are read.
    static let tombstoneEnd = Array(#","deleted":true}"#.utf8)

    /// Returns true for the snapshot of a tombstone.
    static func isTombstone(_ snapshot: Span<UInt8>) -> Bool {
        // The pointer is used only inside the closure, while the span's owner is alive.
        snapshot.withUnsafeBufferPointer { $0.suffix(tombstoneEnd.count).elementsEqual(tombstoneEnd) }
    }

    /// The scan for the messages up to $1 and after $4 that are unread for $2, where $3 is ``tombstoneEnd``; and for the
    /// mentions up to $5, because mentions are stored before their messages are filed.
    static let sql = """
        SELECT first.id, (
            SELECT count(*) FROM (
                SELECT 1 FROM messages
                WHERE id >= first.id AND id <= $1 AND id <= first.id + \(maximumScan) AND \(isUnread)
                ORDER BY id LIMIT \(maximumCount)
            ) AS counted
        ), mentioned.number, mentioned.first
        FROM (
            SELECT count(*) AS number, min(message) AS first FROM (
                \(mentions(of: "$2")) AND \(MentionRows.isPresent("$2", in: "message"))
                UNION \(mentions(of: "'\(MentionRows.room)'"))
                ORDER BY 1 LIMIT \(maximumCount)
            ) AS found
        ) AS mentioned
        LEFT JOIN (SELECT id FROM messages WHERE id > $4 AND id <= $1 AND \(isUnread) ORDER BY id LIMIT 1) AS first
            ON 1 = 1
        """

    private static let isUnread = """
        sender <> $2 AND (changed IS NULL OR substr(body, length(body) - \(tombstoneEnd.count - 1)) <> $3)
        """

    /// Returns the query for the messages that mention somebody.
    private static func mentions(of user: String) -> String {
        """
        SELECT message FROM (
            SELECT message, sender FROM mentions WHERE "user" = \(user) AND message > $4 AND message <= $5
            ORDER BY message LIMIT \(maximumMentionScan)
        ) AS scanned WHERE \(MentionRows.counts(for: "$2", by: "sender"))
        """
    }
}

extension ReadState {
    /// Creates the state of a user with this read mark.
    init(mark: Int64, _ unread: UnreadMessages) {
        self.init(
            read: mark, unread: unread.count, firstUnread: unread.first, unreadMentions: unread.mentions.count,
            firstUnreadMention: unread.mentions.first)
    }
}
