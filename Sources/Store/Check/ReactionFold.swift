import Wire

/// The reactions to one message in the table, in the order of keys and revisions.
struct ReactionFold {
    private var groups: [Reaction] = []
    private var lastRev: Int64 = 0

    /// Adds the next reaction.
    mutating func add(_ key: String, _ user: String, rev: Int64) {
        lastRev = max(lastRev, rev)
        if groups.last?.key.hasSameBytes(as: key) != true { groups.append(Reaction(key: key, count: 0, users: [])) }
        let last = groups.count - 1
        groups[last].count += 1
        if groups[last].users.count < Limits.reactionUsers { groups[last].users.append(UserID(trusted: user)) }
    }

    /// Returns the first difference from the reactions in the message's snapshot; `nil` if they agree.
    func difference(from message: Message) -> String? {
        if lastRev > message.rev {
            return "the last reaction has revision \(lastRev), but the message has revision \(message.rev)"
        }
        for group in groups {
            guard let shown = message.reactions.first(where: { $0.key.hasSameBytes(as: group.key) }) else {
                return "the table has the reaction \(group.key), but the snapshot does not"
            }
            guard shown.count == group.count, shown.users == group.users else {
                return "the snapshot and the table name different users for the reaction \(group.key)"
            }
        }
        guard
            let unknown = message.reactions.first(where: { shown in
                !groups.contains { $0.key.hasSameBytes(as: shown.key) }
            })
        else { return nil }
        return "the snapshot has the reaction \(unknown.key), but the table does not"
    }
}
