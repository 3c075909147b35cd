public import BackscrollTimeline
public import Observation
public import Wire

/// The user's rooms at a moment.
public struct InboxView: Hashable, Sendable {
    /// The rooms, latest activity first; at most ``ClientOptions/inboxRooms``.
    public let rooms: [RoomSummary]
    /// True once the first rooms have been loaded, from the store or from the server. Before that an empty list means
    /// nothing.
    public let isListed: Bool
    /// True while the list is complete and the socket reports every change.
    public let isLive: Bool
    /// True if the user has more rooms than the list may have.
    public let hasMore: Bool

    /// Number of rooms with unread messages.
    public var unreadRooms: Int { rooms.count { $0.unread > 0 } }
    /// Number of unread messages in all rooms, for a badge. If ``hasMoreUnread`` is true there may be more.
    public var unread: Int { rooms.reduce(0) { $0 + $1.unread } }
    /// Returns the number of unread messages that may disturb the user at a time, as the user has set it for each room:
    /// for a badge that leaves muted rooms out. If ``hasMoreUnread`` is true there may be more.
    public func loudUnread(at time: Timestamp) -> Int { rooms.reduce(0) { $0 + $1.loudUnread(at: time) } }
    /// True if a room has ``RoomSummary/countedUnread`` unread messages or more, beyond which nobody counts.
    public var hasMoreUnread: Bool { rooms.contains(where: \.hasMoreUnread) }

    static let empty = InboxView(rooms: [], isListed: false, isLive: false, hasMore: false)
}

/// The steps from one list of rooms to a later one.
public typealias InboxDifference = ListDifference<RoomSummary>

extension ListDifference.Placed where Row == RoomSummary {
    /// The room.
    public var room: RoomSummary { row }
}

/// A change of the list of rooms.
public struct InboxChange: Sendable {
    /// The rooms after the change.
    public let view: InboxView
    /// The steps from the rooms of the previous change to those of ``view``. The first change of a loop inserts all
    /// rooms.
    public let difference: InboxDifference
}

/// The changes of the list of rooms. Each loop has its own.
public struct InboxChanges: AsyncSequence, Sendable {
    /// A change.
    public typealias Element = InboxChange
    /// The sequence does not fail. ``Inbox/ending`` has the reason why an inbox has ended.
    public typealias Failure = Never

    let inbox: Inbox

    /// Returns an iterator whose first change has all rooms.
    public func makeAsyncIterator() -> Iterator {
        Iterator(inbox: inbox)
    }

    /// The changes of one loop.
    public struct Iterator: AsyncIteratorProtocol {
        private let inbox: Inbox
        private var version = 0
        private var shown: InboxView?

        fileprivate init(inbox: Inbox) {
            self.inbox = inbox
        }

        /// Waits for the next change. Returns nil when the inbox has ended, or when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> InboxChange? {
            while let state = await inbox.next(after: version) {
                version = state.version
                // A frame may change nothing that is shown.
                if state.view == shown { continue }
                let difference = InboxDifference(from: shown?.rooms ?? [], to: state.view.rooms)
                shown = state.view
                return InboxChange(view: state.view, difference: difference)
            }
            return nil
        }

        /// Waits for the next change, like ``next(isolation:)``.
        public mutating func next() async -> InboxChange? {
            await next(isolation: nil)
        }
    }
}

/// The user's rooms, for SwiftUI: observe its properties in a view's body.
@MainActor @Observable
public final class InboxList {
    /// The list now.
    public private(set) var view = InboxView.empty
    /// The rooms, latest activity first. A body that reads only them is not drawn when other parts of ``view`` change.
    public private(set) var rooms: [RoomSummary] = []
    /// The error because of which the store lacks changes; see ``Inbox/storeFailure``.
    public private(set) var storeFailure: BackscrollClientError?
    /// The error that ended the inbox; nil while it may be used.
    public private(set) var ending: BackscrollClientError?
    @ObservationIgnored private var version = 0

    nonisolated init() {}

    /// Shows a state, unless a later one is shown.
    func show(_ state: InboxState) {
        guard state.version > version else { return }
        version = state.version
        if view != state.view { view = state.view }
        if rooms != view.rooms { rooms = view.rooms }
        if storeFailure != state.storeFailure { storeFailure = state.storeFailure }
        if ending != state.ending { ending = state.ending }
    }
}

/// The inbox at a moment.
struct InboxState: Sendable {
    /// A number that grows with each state.
    let version: Int
    let view: InboxView
    let storeFailure: BackscrollClientError?
    let ending: BackscrollClientError?
}
