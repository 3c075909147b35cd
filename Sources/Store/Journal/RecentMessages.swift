import Chat
import Synchronization
import Wire

/// The messages that are in the journal only, for the writer, which adds and files them, and the readers.
///
/// A room is its rows among the messages and, behind them, these. Who reads takes these first, and then its snapshot of
/// the database: what has been filed in between is in both, and nothing is in neither.
final class RecentMessages: Sendable {
    private let backlog: Mutex<Backlog>

    init(_ limits: Backlog.Limits) {
        backlog = Mutex(Backlog(limits: limits))
    }

    // MARK: Reading

    /// The recent messages of each query's room.
    func messages(for queries: ArraySlice<Query>) -> [[RecentMessage]] {
        backlog.withLock { backlog in
            queries.map { query in
                guard let room = query.room else { return [] }
                return backlog.messages(of: room)
            }
        }
    }

    /// The recent messages of rooms, however many: the writer is let in now and then.
    func messages(ofAll rooms: [RoomID]) -> [[RecentMessage]] {
        var all: [[RecentMessage]] = []
        all.reserveCapacity(rooms.count)
        while all.count < rooms.count {
            let some = rooms[all.count..<min(rooms.count, all.count + Self.roomsAtOnce)]
            backlog.withLock { backlog in for room in some { all.append(backlog.messages(of: room)) } }
        }
        return all
    }

    /// The number of rooms that are looked up while the writer may have to wait: some 20 µs.
    private static let roomsAtOnce = 256

    /// The number of rooms that have recent messages.
    var roomCount: Int { backlog.withLock(\.roomCount) }

    /// The rooms that have recent messages.
    var rooms: [RoomID] { backlog.withLock(\.roomIDs) }

    // MARK: Writing

    /// The messages of a room that have not been filed.
    func messages(of room: RoomID) -> [RecentMessage] {
        backlog.withLock { $0.messages(of: room) }
    }

    /// The newest message of a room; `nil` when it has been filed.
    func newest(of room: RoomID) -> RecentMessage? {
        backlog.withLock { $0.newest(of: room) }
    }

    /// The message that was sent to a room under a client message id; `nil` when it has been filed or there is none.
    func message(_ key: ClientMessageKey, in room: RoomID) -> RecentMessage? {
        backlog.withLock { $0.message(key, in: room) }
    }

    /// True if everything has been filed.
    var isEmpty: Bool { backlog.withLock { $0.count == 0 } }

    /// The bytes of messages of rooms that are set aside.
    var asideBytes: Int { backlog.withLock(\.asideBytes) }

    /// Returns whether a room that is set aside holds a message of a user.
    func hasAsideMessage(of user: UserID) -> Bool { backlog.withLock { $0.hasAsideMessage(of: user) } }

    /// Keeps the messages of a room for readers, and files them no more.
    func setAside(_ room: RoomID) {
        backlog.withLock { $0.setAside(room) }
    }

    /// What the next commit has to file, see ``Backlog/due(before:_:)``.
    func due(before row: Int64, _ time: Timestamp) -> Backlog.Filing {
        backlog.withLock { $0.due(before: row, time) }
    }

    /// What has waited for longest, of `most` messages or a few more.
    func oldest(_ most: Int) -> Backlog.Filing {
        backlog.withLock { $0.oldest(most) }
    }

    /// All messages of these rooms that have not been filed.
    func filing(of rooms: ArraySlice<RoomID>) -> Backlog.Filing {
        backlog.withLock { $0.filing(of: rooms) }
    }

    /// The first row of the journal that is needed when `filing` is done; `nil` when none is.
    func firstRow(after filing: Backlog.Filing) -> Int64? {
        backlog.withLock { $0.firstRow(after: filing) }
    }

    /// A commit is durable that has filed `filing` and put messages into a row of the journal; at `time`, or before.
    func commit(_ filing: Backlog.Filing, _ messages: [RecentMessage], row: Int64, at time: Timestamp) {
        backlog.withLock { backlog in
            if !filing.isEmpty { backlog.remove(filing) }
            for message in messages { backlog.append(message, row: row, at: time) }
        }
    }
}
