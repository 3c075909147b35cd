public import Wire

/// A member of a room with new messages, as far as push events depend on it.
public struct PushMember: Sendable, Hashable {
    /// The member.
    public var user: UserID
    /// The member's read mark.
    public var mark: Int64
    /// The `seq` of the newest message that was pushed to the member; 0 if none is outstanding.
    public var pushed: Int64
    /// The member's choice of what may disturb; `nil` if everything may.
    public var notify: NotifySettings?

    /// Creates a member.
    public init(user: UserID, mark: Int64 = 0, pushed: Int64 = 0, notify: NotifySettings? = nil) {
        self.user = user
        self.mark = mark
        self.pushed = pushed
        self.notify = notify
    }
}

/// The reason why a message is pushed to a member.
public enum PushReason: String, Sendable, Hashable {
    /// The message mentions the member, or the room.
    case mention
    /// It is in a direct room.
    case direct
    /// Neither of both.
    case message
}

/// The facts about a room whose new messages may be due for push events.
public struct PushFacts: Sendable {
    /// The messages in the order of `seq`, in their present state.
    public var messages: [Message]
    /// The members who may have something due.
    public var members: [PushMember]
    /// The users who block a sender, or whom a sender blocks.
    public var blocks: [UserID: Set<UserID>] = [:]
    /// True in a direct room.
    public var isDirect = false
    /// True in a room with so many members that only mentions are pushed.
    public var isLarge = false

    /// Creates facts.
    public init(messages: [Message], members: [PushMember]) {
        self.messages = messages
        self.members = members
    }
}

/// The members of a room who are due for a push event, and those who wait.
///
/// A member is due if an unread message of another user may disturb the member, and the time for reading it is over: the
/// delay after the first such message while the member has a live connection, no time without one. So the timer of a member
/// follows from the messages, later ones do not restart it, and a restart of the server does not change it.
public struct PushDecision: Sendable {
    /// A member who is due.
    public struct Recipient: Sendable, Hashable {
        /// The member.
        public var user: UserID
        /// The `seq` of the newest message that is due.
        public var seq: Int64
        /// The reason why this message is pushed.
        public var reason: PushReason

        /// Creates a member who is due.
        public init(user: UserID, seq: Int64, reason: PushReason) {
            (self.user, self.seq, self.reason) = (user, seq, reason)
        }
    }

    /// The members who are due, in the order of the facts.
    public private(set) var due: [Recipient] = []
    /// The members who have a live connection, and time to read.
    public private(set) var waiting: [UserID] = []
    /// The time when the first of them is due; `nil` if nobody waits.
    public private(set) var next: Timestamp?
    /// The `seq` of the first message that somebody is due for, or waits for; `nil` if nobody does.
    public private(set) var firstOpen: Int64?

    /// Decides.
    ///
    /// - Parameters:
    ///   - delay: The time that members with a live connection have for reading.
    ///   - isLive: Returns true for a user with a live connection.
    public init(_ facts: PushFacts, at now: Timestamp, delay: Duration, isLive: (UserID) -> Bool) {
        let messages = facts.messages.filter { !$0.deleted && !$0.content.silent }
        guard !messages.isEmpty else { return }
        for member in facts.members {
            let notify = member.notify.flatMap { $0.isInForce(at: now) ? $0 : nil } ?? NotifySettings()
            if notify.level == .none { continue }
            let seen = max(member.mark, member.pushed)
            func reason(_ message: Message) -> PushReason? {
                guard message.seq > seen, message.sender != member.user,
                    facts.blocks[message.sender]?.contains(member.user) != true
                else { return nil }
                let mentions = message.content.mentions
                if mentions.users.contains(member.user) || (mentions.room && notify.roomMentions) {
                    return .mention
                }
                if facts.isLarge || notify.level == .mentions { return nil }
                return facts.isDirect ? .direct : .message
            }
            guard let first = messages.first(where: { reason($0) != nil }) else { continue }
            firstOpen = min(firstOpen ?? first.seq, first.seq)
            let end = Timestamp(milliseconds: first.createdAt.milliseconds + Int64(delay.milliseconds))
            if now < end, isLive(member.user) {
                waiting.append(member.user)
                next = min(next ?? end, end)
                continue
            }
            for message in messages.reversed() {
                guard let reason = reason(message) else { continue }
                due.append(Recipient(user: member.user, seq: message.seq, reason: reason))
                break
            }
        }
    }
}
