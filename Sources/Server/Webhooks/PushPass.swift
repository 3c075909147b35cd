import Chat
import Store
import Wire

/// A pass over the members of a large room, page by page, because a message mentions the room.
///
/// It is only in memory: after a restart, another pass leaves out those who have got the push.
struct PushPass {
    /// Maximum number of users of a room whose connections are watched. Others wait for their time.
    private static let watchedUsers = 1000

    /// The last message that it looks at.
    let end: Int64
    /// The last member who was looked at.
    private var member: UserID?
    /// True once all members were looked at.
    var isComplete = false
    /// The first message that somebody waits for; `nil` if nobody does.
    private(set) var firstOpen: Int64?
    /// The time when the first of them is due.
    private(set) var wake: ContinuousClock.Instant?
    /// The users who wait because they have a live connection.
    var waiting: Set<UserID> = []

    /// Creates a pass that begins with the first member.
    init(end: Int64) { self.end = end }

    /// Takes what was decided of some members.
    mutating func add(_ decision: PushDecision, _ wake: ContinuousClock.Instant?) {
        firstOpen = [firstOpen, decision.firstOpen].compactMap(\.self).min()
        self.wake = [self.wake, wake].compactMap(\.self).min()
        waiting.formUnion(decision.waiting.prefix(max(0, Self.watchedUsers - waiting.count)))
    }

    /// Takes what was decided of a page.
    mutating func add(_ decision: PushDecision, _ wake: ContinuousClock.Instant?, of page: RoomPushes.Page) {
        add(decision, wake)
        (member, isComplete) = (page.end, page.isLast)
    }

    /// Makes a look go on with the next page; after the last one it reads no page for the messages of the pass.
    func continues(_ look: inout LargeRoomLook) {
        if isComplete { look.seq = end } else { look.member = member }
    }

    /// True if it is complete, and somebody of those who waited is due.
    func isOver(at now: ContinuousClock.Instant) -> Bool {
        guard isComplete, let wake else { return false }
        return wake <= now || waiting.isEmpty
    }
}
