import Synchronization
public import Wire

/// The bans of rooms and of the whole server, in memory: every change, read and subscription is held against it. As long as
/// nobody is banned that is one look at an integer.
///
/// The log fills it from what is stored, and changes it when a commit is durable, before anybody hears of that.
public final class BanTable: Sendable {
    /// The place of a ban: a user, in a room or on the whole server.
    public struct Key: Sendable, Hashable {
        /// The room; `nil` for the whole server.
        public var room: RoomID?
        /// The banned user.
        public var user: UserID

        /// The key of a user's ban from `room`, or from the whole server.
        public init(room: RoomID?, user: UserID) {
            self.room = room
            self.user = user
        }
    }

    /// A use that a ban may refuse.
    public enum Use: Sendable {
        /// Change something, or have others hear of something.
        case change
        /// Read or subscribe.
        case read
    }

    private struct State {
        var bans: [Key: Ban] = [:]
        /// With how many bans those that have ended are looked for.
        var sweep = 1024
    }

    private let state = Mutex(State())
    private let count = Atomic<Int>(0)

    /// Nobody is banned.
    public init() {}

    /// True if nobody is banned from anything.
    public var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// A user's ban from a room, or from the whole server; also one that has ended.
    public subscript(key: Key) -> Ban? { state.withLock { $0.bans[key] } }

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

    /// Forgets the bans from a room that is no more.
    public func remove(_ room: RoomID) {
        if isEmpty { return }
        state.withLock { state in
            state.bans = state.bans.filter { $0.key.room != room }
            count.store(state.bans.count, ordering: .releasing)
        }
    }

    /// The reason why a user may not do something in a room, or with `nil` anywhere; `nil` when no ban is in the way.
    ///
    /// - Parameters:
    ///   - user: `nil` for a caller without a name, who is never banned.
    ///   - isAdmin: whether the user is an admin, to whom bans from single rooms do not apply.
    public func refusal(
        of user: UserID?, in room: RoomID?, isAdmin: Bool, for use: Use, at time: Timestamp
    ) -> Problem? {
        guard let user, !isEmpty else { return nil }
        return Self.refusal(of: user, in: room, isAdmin: isAdmin, for: use, at: time) { self[$0] }
    }

    /// The same, of bans that `ban` finds.
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
