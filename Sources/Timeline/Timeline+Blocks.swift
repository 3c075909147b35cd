// Blocked users (rule 23).

extension Timeline {
    mutating func takeBlocked(_ users: [String]) {
        let known = blocked
        blocked = [:]
        for user in users where !user.isExactly(me) { blocked[UserID(user)] = known[UserID(user)] ?? [] }
        guard let window, !list.isStale else { return }
        for message in window.messages where isFolded(message) != list.row(seq: message.seq).isFolded {
            list.replace(row(of: message), seq: message.seq)
        }
    }

    mutating func show(_ seq: Int64) {
        guard let message = window?.message(seq), isFolded(message) else { return }
        blocked[UserID(message.senderID)]?.insert(seq)
        if !list.isStale { list.replace(row(of: message), seq: seq) }
    }

    func isFolded(_ message: Message) -> Bool {
        guard !blocked.isEmpty, !message.isDeleted, let shown = blocked[UserID(message.senderID)] else { return false }
        return !shown.contains(message.seq)
    }
}
