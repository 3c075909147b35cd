/// What the read marks of a room's members tell of its messages: how many members have not read each, and how far own
/// messages have been read.
///
/// The sender of a message counts as having read it. A member without a mark has read nothing. So a member who has
/// joined lately counts for all messages beyond the mark, also for those before the joining, and somebody who has left
/// counts for none: both without any change of the messages.
public struct Readership: Hashable, Sendable {
    /// How far an own message has been read.
    public enum Tick: String, Hashable, Sendable {
        /// No other member has read it.
        case stored
        /// Some of the other members have read it.
        case readBySome = "read_by_some"
        /// All other members have read it.
        case readByAll = "read_by_all"
    }

    private let members: [UserID]
    private let marks: [UserID: Int64]
    /// The marks of all members, lowest first.
    private let sorted: [Int64]

    /// Creates the readership of a room.
    ///
    /// - Parameters:
    ///   - members: The ids of all members, the user's own included.
    ///   - marks: The `seq` up to which users have read, by id, the user's own included. Marks of others than members do
    ///     not count.
    public init(members: some Sequence<String>, marks: some Sequence<(key: String, value: Int64)>) {
        var known: [UserID: Int64] = [:]
        for (id, seq) in marks { known[UserID(id)] = max(seq, known[UserID(id)] ?? 0) }
        var own: [UserID: Int64] = [:]
        var order: [UserID] = []
        for id in members {
            let user = UserID(id)
            if own.updateValue(known[user] ?? 0, forKey: user) == nil { order.append(user) }
        }
        self.members = order
        self.marks = own
        sorted = own.values.sorted()
    }

    /// Returns the number of members who have not read a message.
    public func unreadCount(of seq: Int64, from sender: String) -> Int {
        let count = below(seq)
        return (marks[UserID(sender)] ?? seq) < seq ? count - 1 : count
    }

    /// Returns how far a message of this sender has been read by the others.
    public func tick(of seq: Int64, from sender: String) -> Tick {
        let others = marks[UserID(sender)] == nil ? members.count : members.count - 1
        let unread = unreadCount(of: seq, from: sender)
        if unread == others { return .stored }
        return unread == 0 ? .readByAll : .readBySome
    }

    /// Returns the members who have read a message, in the order of the members, without its sender.
    public func readers(of seq: Int64, from sender: String) -> [String] {
        members.filter { marks[$0]! >= seq && !$0.string.isExactly(sender) }.map(\.string)
    }

    /// Returns the number of marks below a `seq`.
    private func below(_ seq: Int64) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < seq { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension Timeline.Row {
    /// Returns the number of members who have not read the row's message; nil for a row that has no such number: a line, a
    /// deleted message, or a send that is not known to be stored.
    public func unreadCount(in readership: Readership) -> Int? {
        guard case .message(let message, _) = content, !message.isDeleted else { return nil }
        return readership.unreadCount(of: message.seq, from: message.senderID)
    }

    /// Returns how far the row's message has been read; nil unless it is an own one that is stored and not deleted.
    public func tick(in readership: Readership) -> Readership.Tick? {
        guard case .message(let message, isMine: true) = content, !message.isDeleted else { return nil }
        return readership.tick(of: message.seq, from: message.senderID)
    }

    /// Returns the members who have read the row's message, without its sender; none for a row without a number.
    public func readers(in readership: Readership) -> [String] {
        guard case .message(let message, _) = content, !message.isDeleted else { return [] }
        return readership.readers(of: message.seq, from: message.senderID)
    }
}
