import Chat
import Wire

/// The state of a socket's subscription to its user's rooms.
///
/// The log reports every membership change, in order. In addition, a list of memberships is requested at the start and
/// when a new token allows more rooms. A list may be stale when it arrives: rooms that have changed since the request
/// are already up to date, so the list does not apply to them.
final class OwnRooms {
    /// The rooms that a list was requested for.
    enum Purpose {
        /// All rooms.
        case all
        /// Rooms that at least one of these former identities of the caller did not allow.
        case newlyAllowed([Identity])

        /// Returns true if the purpose covers the room.
        func covers(_ room: RoomID) -> Bool {
            switch self {
            case .all: true
            case .newlyAllowed(let callers): callers.contains { !$0.allows(room: room) }
            }
        }
    }

    /// The rooms that are subscribed to as the user's own, without those that the client has named.
    var rooms: Set<RoomID> = []
    /// True if the client has been told that it has more rooms than it may subscribe to.
    var hasToldLimit = false
    /// Rooms that the client has unsubscribed from; lists do not add them again. At most ``limit`` rooms: further ones
    /// may be added again after a new token.
    private var unwanted: Set<RoomID> = []
    /// Rooms changed since the pending list was requested; the list may be stale for them. `nil` if no list is pending.
    private var touched: Set<RoomID>?
    /// True if too many rooms have changed, so that the list must be requested again.
    private var isOutdated = false
    /// The former identities of the caller since the pending list was requested.
    private var callers: [Identity] = []
    /// Maximum number of rooms in ``unwanted`` and in ``touched``.
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// Registers the need for a list.
    ///
    /// - Returns: True to request it now; otherwise ``listed(for:)`` returns it later.
    func want(_ purpose: Purpose) -> Bool {
        guard touched == nil else {
            if case .newlyAllowed(let more) = purpose { callers += more }
            return false
        }
        touched = []
        return true
    }

    /// Records that a room has changed and the change was handled.
    func touch(_ room: RoomID) {
        guard touched != nil else { return }
        if touched!.count == limit {
            touched = []
            isOutdated = true
        }
        touched!.insert(room)
    }

    /// Records that the client has unsubscribed from a room.
    func reject(_ room: RoomID) {
        touch(room)
        if unwanted.count < limit { unwanted.insert(room) }
    }

    /// Records that the client has subscribed to a room, or that the user's membership has changed. An earlier
    /// unsubscription no longer counts.
    func accept(_ room: RoomID) {
        unwanted.remove(room)
    }

    /// Returns true if the pending list applies to a room.
    func listApplies(to room: RoomID) -> Bool {
        touched?.contains(room) == false && !isOutdated && !unwanted.contains(room)
    }

    /// Finishes the list for `purpose`.
    ///
    /// - Returns: The purpose of the next list to request; `nil` for none.
    func listed(for purpose: Purpose) -> Purpose? {
        touched = nil
        if isOutdated {
            isOutdated = false
            return purpose
        }
        defer { callers = [] }
        return callers.isEmpty ? nil : .newlyAllowed(callers)
    }
}
