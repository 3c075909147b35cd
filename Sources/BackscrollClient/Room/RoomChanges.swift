public import BackscrollTimeline
public import Observation

/// A change of a room's screen.
public struct RoomChange: Sendable {
    /// The content of the screen after the change.
    public let view: RoomView
    /// The steps from the rows of the previous change to those of ``view``. The first change of a loop inserts all
    /// rows.
    public let difference: RoomDifference
    /// The place to bring into sight once ``view`` is drawn; nil to leave the reader where they are.
    public let scroll: RoomMachine.ScrollTarget?
    /// The `seq` up to which other users have read, by user; see ``Room/readers``.
    public let readers: [String: Int64]
    /// The read marks of the members; see ``Room/readership``.
    public let readership: Readership?
    /// The error because of which the store lacks changes; see ``Room/storeFailure``.
    public let storeFailure: BackscrollClientError?
}

/// The changes of a room's screen. Each loop has its own.
public struct RoomChanges: AsyncSequence, Sendable {
    /// A change.
    public typealias Element = RoomChange
    /// The sequence does not fail. ``Room/ending`` has the reason why a room has ended.
    public typealias Failure = Never

    let room: Room

    /// Returns an iterator whose first change has all rows.
    public func makeAsyncIterator() -> Iterator {
        Iterator(room: room)
    }

    /// The changes of one loop.
    public struct Iterator: AsyncIteratorProtocol {
        private let room: Room
        private var version = 0
        private var rows: RoomView?
        private var readership: Readership?
        private var storeFailure: BackscrollClientError?

        fileprivate init(room: Room) {
            self.room = room
        }

        /// Waits for the next change. Returns nil when the room has ended, or when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> RoomChange? {
            while let state = await room.next(after: version) {
                let isFirst = rows == nil
                let scroll = state.scroll.flatMap { $0.version > version ? $0.target : nil }
                let earlier = rows ?? RoomMachine(me: "", room: "").view
                let difference = state.view.difference(from: earlier)
                version = state.version
                // An event may change nothing that is shown.
                if !isFirst, scroll == nil, difference.isEmpty, state.view == earlier,
                    state.storeFailure == storeFailure, state.readership == readership
                {
                    continue
                }
                rows = state.view
                storeFailure = state.storeFailure
                readership = state.readership
                return RoomChange(
                    view: state.view, difference: difference, scroll: scroll, readers: state.readers,
                    readership: state.readership, storeFailure: state.storeFailure)
            }
            return nil
        }

        /// Waits for the next change, like ``next(isolation:)``.
        public mutating func next() async -> RoomChange? {
            await next(isolation: nil)
        }
    }
}

/// The content of a room's screen, for SwiftUI: observe its properties in a view's body.
///
/// Each property is observed by itself, so that a typing notice draws only what reads ``typing``. A body that reads
/// ``view`` is drawn with every change.
@MainActor @Observable
public final class RoomTimeline {
    /// The content of the screen now.
    public private(set) var view = RoomMachine(me: "", room: "").view
    /// The lines of the list, oldest first.
    public private(set) var rows: [RoomRow] = []
    /// The users who are typing, in the order in which they began.
    public private(set) var typing: [String] = []
    /// The number of users in the room; nil while it is unknown.
    public private(set) var online: Int64?
    /// The state of the connection.
    public private(set) var connection = RoomMachine.Connection.offline
    /// The number of messages of others after the read mark. At ``RoomSummary/countedUnread`` there may be more.
    public private(set) var unread: Int64 = 0
    /// The unread messages of others that arrived since the reader was last at the bottom; nil if there are none.
    public private(set) var toast: RoomMachine.Toast?
    /// The last place to bring into sight. It is a new one each time that ``scrollNumber`` changes.
    public private(set) var scrollTarget: RoomMachine.ScrollTarget?
    /// A number that changes with each place to bring into sight.
    public private(set) var scrollNumber = 0
    /// The `seq` up to which other users have read, by user; see ``Room/readers``.
    public private(set) var readers: [String: Int64] = [:]
    /// The read marks of the members; see ``Room/readership``.
    public private(set) var readership: Readership?
    /// The error because of which the store lacks changes; see ``Room/storeFailure``.
    public private(set) var storeFailure: BackscrollClientError?
    /// The error that ended the room; nil while it is open.
    public private(set) var ending: BackscrollClientError?
    @ObservationIgnored private var version = 0

    nonisolated init() {}

    /// Shows a state, unless a later one is shown.
    func show(_ state: RoomState) {
        guard state.version > version else { return }
        version = state.version
        if view != state.view { view = state.view }
        update(\.rows, view.rows)
        update(\.typing, view.typing)
        update(\.online, view.online)
        update(\.connection, view.connection)
        update(\.unread, view.unread)
        update(\.toast, view.unreadToast)
        if let scroll = state.scroll, scroll.version > scrollNumber {
            scrollTarget = scroll.target
            scrollNumber = scroll.version
        }
        update(\.readers, state.readers)
        update(\.readership, state.readership)
        update(\.storeFailure, state.storeFailure)
        update(\.ending, state.ending)
    }

    /// Assigns a property only if that changes it, because an assignment draws what observes it.
    private func update<Value: Equatable>(_ property: ReferenceWritableKeyPath<RoomTimeline, Value>, _ value: Value) {
        if self[keyPath: property] != value { self[keyPath: property] = value }
    }
}
