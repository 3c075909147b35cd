/// The messages from `first` to `last` without gaps, each in the latest known snapshot.
///
/// The window keeps the number of its unread messages, so that no event has to count them.
struct MessageWindow<Message: TimelineMessage>: Sendable {
    /// The message with `seq` is at `seq - first`.
    private(set) var messages: [Message] = []
    /// The lowest `seq` in the window, or the place of the first message of an empty window.
    private(set) var first: Int64
    /// True if the room has messages before ``first``.
    var hasBefore: Bool
    /// True if the room has messages after ``last``; false means that the window is at the head.
    var hasAfter: Bool
    /// The number of messages in the window after the read mark that others sent and that are not deleted.
    private(set) var unread: Int64 = 0
    /// The ids of own messages in the window, each with its `seq`.
    private var ownIDs: [SendID: Int64] = [:]
    /// The own messages whose id is already that of another message in the window.
    ///
    /// The answer to a POST does not name its epoch. After the server was restored from a backup, the answer may belong
    /// to the new epoch while the frames still belong to the old one. An id then has two places until the reset.
    private var twins: Set<Int64> = []
    private let me: String
    private var mark: Int64

    /// Creates a window of these messages, which ascend without gaps. `first` is the place of an empty window.
    init(_ messages: [Message], first: Int64, hasBefore: Bool, hasAfter: Bool, me: String, mark: Int64?) {
        self.first = messages.first?.seq ?? first
        self.hasBefore = hasBefore
        self.hasAfter = hasAfter
        self.me = me
        self.mark = mark ?? 0
        self.messages = messages
        for message in messages {
            enter(message)
            if isUnread(message) { unread += 1 }
        }
    }

    /// The highest `seq` in the window; `first - 1` while it is empty.
    var last: Int64 { first + Int64(messages.count) - 1 }

    var isEmpty: Bool { messages.isEmpty }

    var count: Int { messages.count }

    func has(_ seq: Int64) -> Bool {
        seq >= first && seq <= last
    }

    /// Returns the message with this `seq`, if it is in the window.
    func message(_ seq: Int64) -> Message? {
        has(seq) ? messages[Int(seq - first)] : nil
    }

    /// Returns the `seq` of the own message with this id, if it is in the window.
    func seq(ofOwn id: SendID) -> Int64? {
        ownIDs[id]
    }

    func hasOwn(_ id: SendID) -> Bool {
        ownIDs[id] != nil
    }

    /// Returns true if the message's `client_message_id` is already that of another one in the window.
    func isTwin(_ seq: Int64) -> Bool {
        !twins.isEmpty && twins.contains(seq)
    }

    /// Returns true if the window has every message after `mark` up to ``last``.
    func reachesBack(to mark: Int64) -> Bool {
        !hasBefore || first <= mark + 1
    }

    /// Appends a message, whose `seq` is `last + 1`.
    mutating func append(_ message: Message) {
        messages.append(message)
        enter(message)
        if isUnread(message) { unread += 1 }
    }

    /// Prepends messages; the last of them has the `seq` `first - 1`.
    mutating func prepend(_ earlier: [Message]) {
        messages.insert(contentsOf: earlier, at: 0)
        first -= Int64(earlier.count)
        for message in earlier {
            enter(message)
            if isUnread(message) { unread += 1 }
        }
    }

    /// Removes the first messages, but not all, and sets ``hasBefore``.
    mutating func removeFirst(_ count: Int) {
        for message in messages.prefix(count) { leave(message) }
        messages.removeFirst(count)
        first += Int64(count)
        hasBefore = true
    }

    /// Removes the last messages, but not all, and sets ``hasAfter``.
    mutating func removeLast(_ count: Int) {
        for message in messages.suffix(count) { leave(message) }
        messages.removeLast(count)
        hasAfter = true
    }

    /// Replaces a message in the window if this snapshot is newer (rule 4), and returns the old snapshot.
    mutating func replace(_ message: Message) -> Message? {
        let index = Int(message.seq - first)
        let known = messages[index]
        guard message.rev > known.rev else { return nil }
        unread += (isUnread(message) ? 1 : 0) - (isUnread(known) ? 1 : 0)
        messages[index] = message
        if let id = known.sendID, ownIDs[id] == known.seq { ownIDs[id] = nil }
        twins.remove(known.seq)
        enter(message)
        return known
    }

    /// Moves the read mark forward, and returns the number of unread messages that it passed. A message outside the
    /// window counts as one of another user.
    mutating func moveMark(to seq: Int64) -> Int64 {
        let from = max(mark + 1, first)
        let to = min(seq, last)
        var passed = seq - mark - max(0, to - from + 1)
        if from <= to {
            for message in messages[Int(from - first)...Int(to - first)] where isUnread(message) {
                passed += 1
                unread -= 1
            }
        }
        mark = seq
        return passed
    }

    /// Records an own message's id.
    private mutating func enter(_ message: Message) {
        guard let id = message.sendID, message.senderID.isExactly(me) else { return }
        if let seq = ownIDs[id], seq != message.seq {
            twins.insert(message.seq)
        } else {
            ownIDs[id] = message.seq
        }
    }

    /// Forgets a message that is removed.
    private mutating func leave(_ message: Message) {
        if isUnread(message) { unread -= 1 }
        guard let id = message.sendID else { return }
        if ownIDs[id] == message.seq { ownIDs[id] = nil }
        twins.remove(message.seq)
    }

    private func isUnread(_ message: Message) -> Bool {
        message.seq > mark && !message.isDeleted && !message.senderID.isExactly(me)
    }
}
