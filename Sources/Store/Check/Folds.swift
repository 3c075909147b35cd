import Wire

/// The columns of a message's row that repeat fields of its snapshot.
struct MessageFacts {
    var room: String
    var seq: Int64
    /// The revision of its latest change.
    var rev: Int64
    var createdAt: Int64
    var sender: String
    var clientMessageID: String?

    /// Returns the first difference between these columns and the snapshot; `nil` if they agree.
    func difference(from message: Message) -> String? {
        func differ(_ name: String, _ snapshot: some Any, _ row: some Any) -> String {
            "\(name) is \(snapshot) in the message's snapshot, but \(row) in its row"
        }
        if !message.room.string.hasSameBytes(as: room) { return differ("the room", message.room.string, room) }
        if message.seq != seq { return differ("seq", message.seq, seq) }
        if message.rev != rev { return differ("rev", message.rev, rev) }
        if !message.sender.string.hasSameBytes(as: sender) {
            return differ("the sender", message.sender.string, sender)
        }
        let (mine, other) = (clientMessageID ?? "", message.clientMessageID ?? "")
        if !mine.hasSameBytes(as: other) { return differ("the client_message_id", "'\(other)'", "'\(mine)'") }
        let time = Timestamp(milliseconds: createdAt)
        if message.createdAt != time { return differ("created_at", message.createdAt, time) }
        return nil
    }
}

/// The state of one room while its messages are checked in the order of `seq`.
struct RoomFold {
    let name: String
    /// The highest `seq` so far.
    private(set) var head: Int64
    /// The highest known revision: that at which the last message was sent, or that of a later change.
    private(set) var rev: Int64
    private(set) var createdAt: Int64

    /// Creates the state of a room whose messages before `head` have been checked.
    init(_ name: String, head: Int64 = 0, rev: Int64 = 0, createdAt: Int64 = .min) {
        self.name = name
        self.head = head
        self.rev = rev
        self.createdAt = createdAt
    }

    /// Checks the next message, which was sent at revision `rev`.
    mutating func add(_ seq: Int64, sentAt rev: Int64, createdAt: Int64, _ findings: Findings) {
        if seq > head + 1 {
            let missing = seq == head + 2 ? "message \(head + 1) is" : "messages \(head + 1) to \(seq - 1) are"
            findings.add("\(missing) missing", room: name, seq: seq)
        } else if seq <= head {
            findings.add("this message does not follow message \(head)", room: name, seq: seq)
        }
        if rev <= self.rev {
            findings.add(
                "this message was sent at revision \(rev), but the message before it at revision \(self.rev)",
                room: name, seq: seq)
        }
        if createdAt < self.createdAt {
            findings.add("this message has an earlier created_at than the message before it", room: name, seq: seq)
        }
        head = max(head, seq)
        self.rev = max(self.rev, rev)
        self.createdAt = max(self.createdAt, createdAt)
    }

    /// Decodes a snapshot and compares it with its row.
    ///
    /// - Returns: the message; `nil` if it cannot be decoded.
    func read(_ snapshot: [UInt8], of facts: MessageFacts, _ findings: Findings) -> Message? {
        let message: Message
        do throws(Problem) {
            message = try Message(decoding: snapshot)
        } catch {
            findings.add("the snapshot cannot be read: \(error.detail)", room: name, seq: facts.seq)
            return nil
        }
        if let difference = facts.difference(from: message) { findings.add(difference, room: name, seq: facts.seq) }
        if let replyTo = message.content.replyTo, !(1..<facts.seq).contains(replyTo) {
            findings.add(
                "this message replies to message \(replyTo), which is not an earlier one", room: name, seq: facts.seq)
        }
        return message
    }
}

/// The mentions of one message in the table.
struct MentionFold {
    private var users: Set<String> = []
    private var differs: String?

    /// Adds a mention. Its row repeats the sender and the time of the message.
    mutating func add(_ user: String, sender: String, createdAt: Int64, in message: Message?) {
        users.insert(user)
        guard let message else { return }
        if !message.sender.string.hasSameBytes(as: sender) || message.createdAt.milliseconds != createdAt {
            differs = "a mention of this message has another sender or created_at"
        }
    }

    /// Returns the first difference from the message's snapshot; `nil` if they agree.
    ///
    /// - Parameter isErased: Returns true for a user who was erased. The rows of such users are removed.
    func difference(from message: Message, _ isErased: (UserID) throws -> Bool) rethrows -> String? {
        if let differs { return differs }
        let mentions = message.content.mentions
        let named = mentions.users.filter { $0 != message.sender }
        let extra = users.subtracting(named.map(\.string) + (mentions.room ? [MentionRows.room] : []))
        if let user = extra.min() {
            return user == MentionRows.room
                ? "the table has a mention of the room, but the snapshot does not"
                : "the table has a mention of \(user), but the snapshot does not"
        }
        if mentions.room, !users.contains(MentionRows.room) {
            return "the snapshot mentions the room, but the table does not"
        }
        for user in named where !users.contains(user.string) {
            if try !isErased(user) { return "the snapshot mentions \(user), but the table does not" }
        }
        return nil
    }
}

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
