import Chat
import Wire

/// What a socket has to know while it is subscribed to its user's rooms.
///
/// The log tells of every membership that begins or ends, in order, and is asked for a list now and then: at the beginning,
/// and when a new token allows more. A list is of some moment before it comes. What has happened to a room meanwhile has
/// been acted upon already, so the list has nothing to say of such rooms.
final class OwnRooms {
    /// What a list is asked for.
    enum Purpose {
        /// All rooms.
        case all
        /// Those that one of these, who were the caller before, was not allowed.
        case newlyAllowed([Identity])

        /// Returns whether it is about a room.
        func means(_ room: RoomID) -> Bool {
            switch self {
            case .all: true
            case .newlyAllowed(let callers): callers.contains { !$0.allows(room: room) }
            }
        }
    }

    /// The rooms that are subscribed to because they are the user's: not those that the client has named.
    var rooms: Set<RoomID> = []
    /// True if the client has been told that there are more rooms than it may be subscribed to.
    var hasToldLimit = false
    /// The rooms that the client has unsubscribed from, which no list brings back: ``limit`` of them at most, those beyond
    /// that may come back with a new token.
    private var unwanted: Set<RoomID> = []
    /// The rooms of which a list that is awaited has nothing to say; `nil` when none is awaited.
    private var touched: Set<RoomID>?
    /// True if so much has happened that the list has to be asked for once more.
    private var isOutdated = false
    /// Those who were the caller before, since a list was asked for that is awaited.
    private var callers: [Identity] = []
    /// The number of rooms that are remembered as unwanted, and while a list is awaited.
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// A list is wanted.
    ///
    /// - Returns: whether to ask for it now; otherwise ``listed(for:)`` says when.
    func want(_ purpose: Purpose) -> Bool {
        guard touched == nil else {
            if case .newlyAllowed(let more) = purpose { callers += more }
            return false
        }
        touched = []
        return true
    }

    /// Something has happened to a room, and has been acted upon.
    func touch(_ room: RoomID) {
        guard touched != nil else { return }
        if touched!.count == limit {
            touched = []
            isOutdated = true
        }
        touched!.insert(room)
    }

    /// The client unsubscribes from a room.
    func reject(_ room: RoomID) {
        touch(room)
        if unwanted.count < limit { unwanted.insert(room) }
    }

    /// The client subscribes to a room itself, or the user's membership has begun or ended: so what the client has rejected
    /// is no more.
    func accept(_ room: RoomID) {
        unwanted.remove(room)
    }

    /// Returns whether the list that has come has something to say of a room.
    func listTells(of room: RoomID) -> Bool {
        touched?.contains(room) == false && !isOutdated && !unwanted.contains(room)
    }

    /// The list for `purpose` has been gone through.
    ///
    /// - Returns: what the next one is for, which is to be asked for.
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
