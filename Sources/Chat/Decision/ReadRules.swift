public import Wire

/// The rules of reads: which queries a caller may make, and which rooms a caller may see. A change of a room begins with the
/// same rule, see ``Rules``.
///
/// A store may call ``check(_:)`` before its transaction. It asks the other rules inside, so an answer that shows a message
/// knows every ban that was answered before the message was sent. Safe to use from any thread.
public struct ReadRules: Sendable {
    private let policy: Facts.Policy
    private let bans: BanTable
    private let now: @Sendable () -> Timestamp

    /// Creates the rules of a server with a policy, the bans in force, and a clock.
    public init(policy: Facts.Policy, bans: BanTable, now: @escaping @Sendable () -> Timestamp) {
        self.policy = policy
        self.bans = bans
        self.now = now
    }

    // MARK: Queries

    /// Checks that the caller may make the query. If it is about one room, ``check(_:of:isMember:)`` must follow.
    public func check(_ query: Query) throws(Problem) {
        switch query.kind {
        case .ownRooms where query.user == nil: throw .unauthenticated("A list of rooms is that of a user.")
        case .own where query.user == nil: throw .unauthenticated("These are a user's own.")
        case .search where query.user == nil: throw .unauthenticated("Only users with a name may search.")
        case .server where !query.isAdmin: throw .notAnAdmin
        case .room, .ownRooms, .own, .search, .profiles, .server: break
        }
        if query.room == nil, let refusal = banned(query, from: nil) { throw refusal }
    }

    /// Checks that the caller may see the room that the query is about.
    ///
    /// - Parameters:
    ///   - room: The room; `nil` if it does not exist.
    ///   - isMember: Returns true if a user is a member. Asked if that matters.
    public func check(
        _ query: Query, of room: (isPrivate: Bool, isDeleted: Bool)?, isMember: (UserID) throws -> Bool
    ) throws {
        guard let id = query.room else { preconditionFailure("A query about a room names it.") }
        let refusal = try Self.refusal(of: id, room, isAdmin: query.isAdmin, policy) {
            try query.user.map(isMember) ?? false
        }
        if let refusal = refusal ?? banned(query, from: id) { throw refusal }
    }

    /// Checks that the caller owns the room or is an admin. ``check(_:of:isMember:)`` comes first.
    public func checkOwner(_ query: Query, role: RoomMember.Role?) throws(Problem) {
        guard Self.isOwner(role, isAdmin: query.isAdmin) else { throw .notAnOwner }
    }

    /// Returns a filter for lists of rooms: true for rooms that match `patterns` (`nil` for all) and from which no ban keeps
    /// the caller. The store calls it inside its transaction.
    public func mayList(within patterns: [RoomPattern]?, for query: Query) -> (RoomID) -> Bool {
        { room in RoomPattern.allow(room, patterns) && banned(query, from: room) == nil }
    }

    /// Returns true if a list may have messages of a room: it matches `patterns` (`nil` for all), and the caller may see it.
    /// The store calls it inside its transaction.
    ///
    /// - Parameter isMember: True if the caller is a member of the room.
    public func mayList(
        _ id: RoomID, _ room: (isPrivate: Bool, isDeleted: Bool), isMember: Bool, within patterns: [RoomPattern]?,
        for query: Query
    ) -> Bool {
        mayList(within: patterns, for: query)(id)
            && Self.refusal(of: id, room, isAdmin: query.isAdmin, policy, isMember: { isMember }) == nil
    }

    /// Returns the ban that keeps the caller from a room, or without a room from the whole server.
    private func banned(_ query: Query, from room: RoomID?) -> Problem? {
        if bans.isEmpty { return nil }
        return bans.refusal(of: query.user, in: room, isAdmin: query.isAdmin, for: .read, at: now())
    }

    // MARK: Rooms

    /// Returns the reason why a caller may not see a room, apart from bans; `nil` if there is none.
    ///
    /// A room that does not exist counts as empty. It is `room_not_found` if only admins create rooms, or if its id is that
    /// of a direct room.
    ///
    /// - Parameters:
    ///   - id: The room's id.
    ///   - room: The room; `nil` if it does not exist.
    ///   - isMember: Returns true if the caller is a member. Asked if that matters.
    package static func refusal<Failure: Error>(
        of id: RoomID, _ room: (isPrivate: Bool, isDeleted: Bool)?, isAdmin: Bool, _ policy: Facts.Policy,
        isMember: () throws(Failure) -> Bool
    ) throws(Failure) -> Problem? {
        guard let room else { return policy.roomsByAdminsOnly || id.isDirect ? .roomNotFound : nil }
        if room.isDeleted { return .roomDeleted }
        guard room.isPrivate, !isAdmin else { return nil }
        return try isMember() ? nil : .roomNotFound
    }

    /// Returns true for those who administer a room: its owners, and admins in every room.
    static func isOwner(_ role: RoomMember.Role?, isAdmin: Bool) -> Bool { isAdmin || role == .owner }
}
