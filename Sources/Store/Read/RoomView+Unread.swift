import Chat
import Wire

/// What a user has not read.
extension RoomView {
    /// Up to where a user has read; 0 for nothing.
    func readMark(of user: UserID) throws -> Int64 {
        try statements.lookup.readMark(of: user, in: number)
    }

    /// What lies behind a user's read mark.
    func unread(after mark: Int64, for user: UserID) throws -> UnreadMessages {
        let unreadStatements = statements.unread
        // What has expired is not to be read, and there may be more of it than is looked at.
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
            // None of these is deleted: messages are changed in their places only.
            unread.add(isUnread: message.sender != user)
        }
        unread.finish(head: state.head)
        return unread
    }
}

/// The messages after a read mark that are of others and not deleted, counted one by one.
///
/// That takes no longer for a large room than for a small one: not more than ``maximumCount`` are counted, and not more
/// than ``maximumScan`` messages looked at behind the first. What lies before the first is looked through once, see
/// ``ClearedRuns``.
struct UnreadMessages {
    /// How far is counted; it stands for all that is more, too.
    static let maximumCount: Int64 = 1000
    /// The number of messages that are looked at behind the first unread one: some 30 ms. Those behind them count as
    /// unread, whatever
    /// they are: that matters to a user who has as many messages of their own, or deleted ones, between a few of others.
    static let maximumScan: Int64 = 100_000

    /// How many there are, up to ``maximumCount``.
    private(set) var count: Int64 = 0
    /// The `seq` of the first; `nil` when there is none.
    private(set) var first: Int64?
    /// The `seq` of the last message that was looked at.
    private(set) var last: Int64

    init(mark: Int64) {
        last = mark
    }

    /// True if the next message is to be looked at.
    var goesOn: Bool {
        guard let first else { return true }
        return count < Self.maximumCount && last - first < Self.maximumScan
    }

    /// Takes the next message.
    mutating func add(isUnread: Bool) {
        last += 1
        guard isUnread else { return }
        count += 1
        if first == nil { first = last }
    }

    /// There are no more that are to be looked at.
    mutating func finish(head: Int64) {
        guard last < head else { return }
        count = min(Self.maximumCount, count + head - last)
    }
}
