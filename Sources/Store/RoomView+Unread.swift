import Chat
import Wire

/// What a user has not read.
extension RoomView {
    /// Up to where a user has read; 0 for nothing.
    func readMark(of user: UserID) throws -> Int64 {
        try statements.unread.mark(of: user, in: number)
    }

    /// What lies behind a user's read mark.
    func unread(after mark: Int64, for user: UserID) throws -> UnreadMessages {
        // What has expired is not to be read, and there may be more of it than is looked at.
        let mark = max(mark, try statements.unread.expired(in: number))
        var unread = UnreadMessages(mark: mark)
        if mark < filed {
            try statements.unread.forEachMessage(room: number, after: mark, for: user) { isUnread in
                unread.add(isUnread: isUnread)
                return unread.goesOn
            }
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
/// than ``maximumScan`` messages looked at.
struct UnreadMessages {
    /// How far is counted; it stands for all that is more, too.
    static let maximumCount: Int64 = 1000
    /// How many messages are looked at. Those behind them count as unread, whatever they are: that matters to a user who
    /// has as many messages of their own, or deleted ones, behind the mark.
    static let maximumScan: Int64 = 5000

    /// How many there are, up to ``maximumCount``.
    private(set) var count: Int64 = 0
    /// The `seq` of the first; `nil` when there is none.
    private(set) var first: Int64?
    /// The `seq` of the last message that was looked at.
    private(set) var last: Int64
    private let mark: Int64

    init(mark: Int64) {
        self.mark = mark
        last = mark
    }

    /// Whether the next message is to be looked at.
    var goesOn: Bool { count < Self.maximumCount && last - mark < Self.maximumScan }

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
        if first == nil { first = last + 1 }
    }
}
