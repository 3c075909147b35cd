import Synchronization
public import Wire

/// All bans in memory. Every change, read and subscription is checked against it. Without bans, a check reads one
/// integer.
///
/// The log fills the table from the database, and updates it when a commit is durable, before the commit is reported.
public final class BanTable: Sendable {
    /// The key of a ban: a user, and a room or the whole server.
    public struct Key: Sendable, Hashable {
        /// The room; `nil` for the whole server.
        public var room: RoomID?
        /// The banned user.
        public var user: UserID

        /// Creates the key of a ban from `room`, or from the whole server if `nil`.
        public init(room: RoomID?, user: UserID) {
            self.room = room
            self.user = user
        }
    }

    /// A use that a ban may refuse.
    public enum Use: Sendable {
        /// Changes, and notices to other users.
        case change
        /// Reads and subscriptions.
        case read
    }

    private struct State {
        var bans: [Key: Ban] = [:]
        /// The number of bans above which expired ones are removed.
        var sweep = 1024
    }

    private let state = Mutex(State())
    private let count = Atomic<Int>(0)

    /// Creates a table without bans.
    public init() {}

    /// True if there are no bans.
    public var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// A user's ban from a room or from the whole server, including expired bans that are still in the table.
    public subscript(key: Key) -> Ban? { state.withLock { $0.bans[key] } }

    /// Returns the keys of the bans that concern a user in a room; without a room, that of a ban from the server.
    public static func keys(of user: UserID, in room: RoomID?) -> [Key] {
        room == nil ? [Key(room: nil, user: user)] : [Key(room: nil, user: user), Key(room: room, user: user)]
    }

    /// Returns a user's bans from a room and from the whole server, including expired bans that are still in the table.
    public func bans(of user: UserID, in room: RoomID?) -> [Key: Ban] {
        if isEmpty { return [:] }
        return state.withLock { state in
            var bans: [Key: Ban] = [:]
            for key in Self.keys(of: user, in: room) { bans[key] = state.bans[key] }
            return bans
        }
    }

    /// Sets or lifts (`nil`) bans.
    public func change(_ changes: [Key: Ban?], at time: Timestamp) {
        state.withLock { state in
            for (key, ban) in changes { state.bans[key] = ban }
            if state.bans.count > state.sweep {
                state.bans = state.bans.filter { $0.value.isInForce(at: time) }
                state.sweep = max(1024, 2 * state.bans.count)
            }
            count.store(state.bans.count, ordering: .releasing)
        }
    }

    /// Replaces all bans.
    public func replace(by bans: [Key: Ban]) {
        state.withLock { state in
            state = State(bans: bans, sweep: max(1024, 2 * bans.count))
            count.store(bans.count, ordering: .releasing)
        }
    }

    /// Removes the bans from a deleted room.
    public func remove(_ room: RoomID) {
        if isEmpty { return }
        state.withLock { state in
            state.bans = state.bans.filter { $0.key.room != room }
            count.store(state.bans.count, ordering: .releasing)
        }
    }

    /// Returns the reason why a user may not use a room in this way; `nil` if no ban prevents it. Without a room, only
    /// bans from the whole server count.
    ///
    /// - Parameters:
    ///   - user: The user; `nil` for a caller without a name, who is never banned.
    ///   - isAdmin: True for an admin. Bans from single rooms do not apply to admins.
    public func refusal(
        of user: UserID?, in room: RoomID?, isAdmin: Bool, for use: Use, at time: Timestamp
    ) -> Problem? {
        guard let user, !isEmpty else { return nil }
        return Self.refusal(of: user, in: room, isAdmin: isAdmin, for: use, at: time) { self[$0] }
    }

    /// Returns the reason why a user may not use a room in this way, looking bans up with `ban`; `nil` if no ban
    /// prevents it.
    public static func refusal(
        of user: UserID, in room: RoomID?, isAdmin: Bool, for use: Use, at time: Timestamp, ban: (Key) -> Ban?
    ) -> Problem? {
        func refusal(_ key: Key) -> Problem? {
            guard let ban = ban(key), ban.isInForce(at: time), use == .change || ban.scope == .all else { return nil }
            return .banned(ban, isFromRoom: key.room != nil)
        }
        if let problem = refusal(Key(room: nil, user: user)) { return problem }
        guard let room, !isAdmin else { return nil }
        return refusal(Key(room: room, user: user))
    }
}
