public import Wire

/// The facts that a ``Decision`` on one submission needs.
///
/// The store starts with what it has at hand, and loads the others when the decision names them, usually in one or two steps:
///
/// | Submission | Room and caller | What follows |
/// |---|---|---|
/// | send | ``room``, ``role`` in a private room | ``first`` with a client message id, then ``isFirstContent``; ``role`` and ``hasManyMembers`` to mention the room; ``role`` in a room that limits sends, ``lastSend`` in slow mode |
/// | edit, delete | the same | ``message``; ``role`` to delete a message of another user; ``role`` and ``hasManyMembers`` to mention the room |
/// | reaction | the same | ``message`` and ``reaction``; ``reactingUsers`` to remove a listed user |
/// | read mark | the same | ``mark`` |
/// | pin | the same | ``message`` and ``hasMaximumPins``; ``role`` |
/// | settings, deletion | ``room``, ``role`` unless by an admin | |
/// | member | ``room``, ``role``, ``subjectRole`` | ``hasOtherOwners`` of an owner; ``isBlocked`` and ``hasTakenPart`` of a new member |
/// | direct room | ``room`` | ``isBlocked`` |
/// | block | ``room`` | ``block``, then ``hasMaximumBlocks`` |
/// | report | the same | ``message`` and ``ownReport``, then ``recentReports`` |
/// | decision on a report | ``room`` | ``report`` |
/// | ban from a room | ``room``, ``role``, ``subjectRole`` unless by an admin | ``ban``, then ``hasMaximumBans`` |
/// | ban from the server | | ``ban`` |
/// | end of a ban | ``room``, ``role`` unless by an admin | ``ban`` |
/// | erasure | | ``erasure`` |
/// | profile | | ``profile`` |
///
/// If the caller, or the user to become a member, is being erased, ``past`` and ``subjectPast`` come first; so does
/// ``subjectPast`` of the other user of a direct room for what is written to that user. The ``subjectPast`` of the sender of a
/// reported message comes after ``message``.
///
/// A plain value.
public struct Facts: Sendable {
    /// A set of facts by name.
    public struct Names: OptionSet, Sendable, Hashable {
        /// The facts as bits.
        public let rawValue: UInt32

        /// Creates a set from its bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// ``Facts/time``.
        public static let time = Names(rawValue: 1 << 0)
        /// ``Facts/room``.
        public static let room = Names(rawValue: 1 << 1)
        /// ``Facts/role``.
        public static let role = Names(rawValue: 1 << 2)
        /// ``Facts/past``.
        public static let past = Names(rawValue: 1 << 3)
        /// ``Facts/subjectRole``.
        public static let subjectRole = Names(rawValue: 1 << 4)
        /// ``Facts/subjectPast``.
        public static let subjectPast = Names(rawValue: 1 << 5)
        /// ``Facts/hasOtherOwners``.
        public static let hasOtherOwners = Names(rawValue: 1 << 6)
        /// ``Facts/hasTakenPart``.
        public static let hasTakenPart = Names(rawValue: 1 << 7)
        /// ``Facts/first``.
        public static let first = Names(rawValue: 1 << 8)
        /// ``Facts/isFirstContent``.
        public static let isFirstContent = Names(rawValue: 1 << 9)
        /// ``Facts/message``.
        public static let message = Names(rawValue: 1 << 10)
        /// ``Facts/reaction``.
        public static let reaction = Names(rawValue: 1 << 11)
        /// ``Facts/reactingUsers``.
        public static let reactingUsers = Names(rawValue: 1 << 12)
        /// ``Facts/mark``.
        public static let mark = Names(rawValue: 1 << 13)
        /// ``Facts/ban``.
        public static let ban = Names(rawValue: 1 << 14)
        /// ``Facts/hasMaximumBans``.
        public static let hasMaximumBans = Names(rawValue: 1 << 15)
        /// ``Facts/erasure``.
        public static let erasure = Names(rawValue: 1 << 16)
        /// ``Facts/isBlocked``.
        public static let isBlocked = Names(rawValue: 1 << 17)
        /// ``Facts/hasManyMembers``.
        public static let hasManyMembers = Names(rawValue: 1 << 18)
        /// ``Facts/block``.
        public static let block = Names(rawValue: 1 << 19)
        /// ``Facts/hasMaximumBlocks``.
        public static let hasMaximumBlocks = Names(rawValue: 1 << 20)
        /// ``Facts/ownReport``.
        public static let ownReport = Names(rawValue: 1 << 21)
        /// ``Facts/recentReports``.
        public static let recentReports = Names(rawValue: 1 << 22)
        /// ``Facts/report``.
        public static let report = Names(rawValue: 1 << 23)
        /// ``Facts/lastSend``.
        public static let lastSend = Names(rawValue: 1 << 24)
        /// ``Facts/hasMaximumPins``.
        public static let hasMaximumPins = Names(rawValue: 1 << 25)
        /// ``Facts/profile``.
        public static let profile = Names(rawValue: 1 << 26)
    }

    /// The rules that a server can set.
    public struct Policy: Sendable, Hashable {
        /// True if only admins may create rooms; otherwise the first send to a room creates it.
        public var roomsByAdminsOnly: Bool
        /// True if only admins may make other users members of rooms.
        public var membersByAdminsOnly: Bool
        /// Maximum number of members of a room in which everybody may mention the room; in others its owners may.
        public var roomMentionMembers: Int

        /// Default of ``roomMentionMembers``.
        public static let defaultRoomMentionMembers = 100

        /// Creates a policy; by default everything is permitted.
        public init(
            roomsByAdminsOnly: Bool = false, membersByAdminsOnly: Bool = false,
            roomMentionMembers: Int = Self.defaultRoomMentionMembers
        ) {
            self.roomsByAdminsOnly = roomsByAdminsOnly
            self.membersByAdminsOnly = membersByAdminsOnly
            self.roomMentionMembers = roomMentionMembers
        }
    }

    /// The rest of an erased user in a room, while somebody may use the id again.
    public struct Past: Sendable, Hashable {
        /// The last `seq` and revision that count as the erased user's; `nil` if everything does.
        public var boundary: Boundary?
        /// True if the erased user's membership has not been removed yet.
        public var isMember: Bool
        /// The room's title; `nil` if it has none.
        public var title: String?

        /// Creates the past of a user in a room.
        public init(boundary: Boundary? = nil, isMember: Bool = false, title: String? = nil) {
            self.boundary = boundary
            self.isMember = isMember
            self.title = title
        }
    }

    /// The end of an erased user's messages and reactions in a room. Later ones are those of a new user with the same id.
    public struct Boundary: Sendable, Hashable {
        /// The last `seq` of the erased user's messages.
        public var seq: Int64
        /// The last revision of the erased user's reactions.
        public var rev: Int64

        /// Creates a boundary.
        public init(seq: Int64, rev: Int64) {
            self.seq = seq
            self.rev = rev
        }
    }

    /// Time in which a user makes at most ``Limits/reportsPerMinute`` reports, in milliseconds.
    public static let reportTime: Int64 = 60_000

    /// The facts that are loaded.
    public private(set) var known: Names = []

    // MARK: At hand

    /// The rules of this server.
    public let policy: Policy
    /// The users who are being erased.
    public let erasing: Set<UserID>
    /// The caller's bans from the room and from the server, also those that have ended.
    public let bans: [BanTable.Key: Ban]
    /// The time of the commit. Not known if the database assigns it.
    public private(set) var time = Timestamp.earliest

    // MARK: Room and caller

    /// The room; `nil` if it does not exist.
    public var room: RoomFacts? { didSet { known.insert(.room) } }
    /// The caller's role in the room; `nil` if the caller is not a member.
    public var role: RoomMember.Role? { didSet { known.insert(.role) } }

    // MARK: What follows

    /// The message that the caller has sent with the draft's client message id.
    public var first: StoredMessage? { didSet { known.insert(.first) } }
    /// The caller's read mark; 0 if nothing has been read.
    public var mark: Int64 = 0 { didSet { known.insert(.mark) } }

    /// The facts that sends and read marks seldom need. They are apart, so that a copy of the facts is small.
    private struct Others {
        var past = Past()
        var subjectRole: RoomMember.Role?
        var subjectPast = Past()
        var hasOtherOwners = false
        var hasManyMembers = false
        var hasTakenPart = false
        var isFirstContent = false
        var message: [UInt8]?
        var reaction: Int64?
        var reactingUsers: [UserID] = []
        var lastSend: Timestamp?
        var hasMaximumPins = false
        var ban: Ban?
        var hasMaximumBans = false
        var erasure: ErasureStatus?
        var isBlocked = false
        var block: Block?
        var hasMaximumBlocks = false
        var ownReport: ReportEntry?
        var recentReports: [Timestamp] = []
        var report: Report?
        var profile: Profile?
    }

    // Empty until one of them is known.
    private var box: [Others] = []

    private var others: Others {
        get { box.first ?? Others() }
        set { box = [newValue] }
    }

    /// The past of a caller who is being erased.
    public var past: Past {
        get { others.past }
        set {
            others.past = newValue
            known.insert(.past)
        }
    }
    /// The role of the user whose membership or ban is changed, if that is not the caller.
    public var subjectRole: RoomMember.Role? {
        get { others.subjectRole }
        set {
            others.subjectRole = newValue
            known.insert(.subjectRole)
        }
    }
    /// The past of a new member, of the other user of a direct room, or of the sender of a reported message, who is being erased.
    public var subjectPast: Past {
        get { others.subjectPast }
        set {
            others.subjectPast = newValue
            known.insert(.subjectPast)
        }
    }
    /// True if the room has at least two owners.
    public var hasOtherOwners: Bool {
        get { others.hasOtherOwners }
        set {
            others.hasOtherOwners = newValue
            known.insert(.hasOtherOwners)
        }
    }
    /// True if the room has more members than ``Policy/roomMentionMembers``.
    public var hasManyMembers: Bool {
        get { others.hasManyMembers }
        set {
            others.hasManyMembers = newValue
            known.insert(.hasManyMembers)
        }
    }
    /// True if the new member has sent to the room or read it.
    public var hasTakenPart: Bool {
        get { others.hasTakenPart }
        set {
            others.hasTakenPart = newValue
            known.insert(.hasTakenPart)
        }
    }
    /// True if ``first`` was first sent with the content of the draft, and the hash of that is remembered, because it was
    /// edited, deleted, or stored with another content.
    public var isFirstContent: Bool {
        get { others.isFirstContent }
        set {
            others.isFirstContent = newValue
            known.insert(.isFirstContent)
        }
    }
    /// The snapshot of the message to change; `nil` if it is missing.
    public var message: [UInt8]? {
        get { others.message }
        set {
            others.message = newValue
            known.insert(.message)
        }
    }
    /// The revision at which the caller has reacted to the message with the key; `nil` without such a reaction.
    public var reaction: Int64? {
        get { others.reaction }
        set {
            others.reaction = newValue
            known.insert(.reaction)
        }
    }
    /// The first users who have reacted with the key, in the order of their reactions: one more than a message lists.
    public var reactingUsers: [UserID] {
        get { others.reactingUsers }
        set {
            others.reactingUsers = newValue
            known.insert(.reactingUsers)
        }
    }
    /// The time of the caller's last message in slow mode; `nil` if there is none.
    public var lastSend: Timestamp? {
        get { others.lastSend }
        set {
            others.lastSend = newValue
            known.insert(.lastSend)
        }
    }
    /// True if the room has the maximum number of pinned messages.
    public var hasMaximumPins: Bool {
        get { others.hasMaximumPins }
        set {
            others.hasMaximumPins = newValue
            known.insert(.hasMaximumPins)
        }
    }
    /// The ban to change; `nil` if there is none in force.
    public var ban: Ban? {
        get { others.ban }
        set {
            others.ban = newValue
            known.insert(.ban)
        }
    }
    /// True if the room has the maximum number of bans.
    public var hasMaximumBans: Bool {
        get { others.hasMaximumBans }
        set {
            others.hasMaximumBans = newValue
            known.insert(.hasMaximumBans)
        }
    }
    /// The profile to change; `nil` if there is none.
    public var profile: Profile? {
        get { others.profile }
        set {
            others.profile = newValue
            known.insert(.profile)
        }
    }
    /// The latest erasure of the user to erase.
    public var erasure: ErasureStatus? {
        get { others.erasure }
        set {
            others.erasure = newValue
            known.insert(.erasure)
        }
    }

    /// True if the other user of the change, who is added or written to, blocks the caller.
    public var isBlocked: Bool {
        get { others.isBlocked }
        set {
            others.isBlocked = newValue
            known.insert(.isBlocked)
        }
    }

    /// The caller's block of the other user; `nil` if there is none.
    public var block: Block? {
        get { others.block }
        set {
            others.block = newValue
            known.insert(.block)
        }
    }
    /// True if the caller blocks the maximum number of users.
    public var hasMaximumBlocks: Bool {
        get { others.hasMaximumBlocks }
        set {
            others.hasMaximumBlocks = newValue
            known.insert(.hasMaximumBlocks)
        }
    }

    /// The caller's report of the message; `nil` if there is none.
    public var ownReport: ReportEntry? {
        get { others.ownReport }
        set {
            others.ownReport = newValue
            known.insert(.ownReport)
        }
    }
    /// The times of the caller's reports in the last minute, oldest first: at most as many as a minute may have.
    public var recentReports: [Timestamp] {
        get { others.recentReports }
        set {
            others.recentReports = newValue
            known.insert(.recentReports)
        }
    }
    /// The report of the message; `nil` if nobody has reported it.
    public var report: Report? {
        get { others.report }
        set {
            others.report = newValue
            known.insert(.report)
        }
    }

    /// Creates the facts that are at hand.
    ///
    /// - Parameter time: The time of the commit; `nil` if the database assigns it.
    public init(
        at time: Timestamp?, _ policy: Policy, erasing: Set<UserID> = [], bans: [BanTable.Key: Ban] = [:]
    ) {
        self.policy = policy
        self.erasing = erasing
        self.bans = bans
        guard let time else { return }
        self.time = time
        known.insert(.time)
    }

    /// Returns the user whose ``subjectPast`` a submission may need: the user whom it is about, the sender of the message that it
    /// reports, or the other user of a direct room.
    public func subject(of submission: Submission) -> UserID? {
        if case .room(.report) = submission.change { return message.flatMap { try? Message(decoding: $0).sender } }
        return submission.subject ?? room?.direct?.other(of: submission.sender)
    }

    /// Checks that facts are known.
    func require(_ names: Names) throws(Halt) {
        if !known.isSuperset(of: names) { throw .lacks(names.subtracting(known)) }
    }
}

/// The reason why a decision is not an accepted submission.
enum Halt: Error {
    case refused(Problem)
    /// The rules need more facts.
    case lacks(Facts.Names)
}
