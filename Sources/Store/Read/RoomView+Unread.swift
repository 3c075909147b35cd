import Chat
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
