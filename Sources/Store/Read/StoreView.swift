import Chat
import Wire

/// The content of a store as one read transaction shows it.
protocol StoreView {
    associatedtype DB: SQLDatabase
    associatedtype Room: RoomView

    var statements: ReaderStatements<DB> { get }

    /// Returns a room; `nil` if it does not exist.
    func room(_ id: RoomID) throws -> Room?
    /// Returns rooms of a user after a position of their list, in no order. They include the first `limit` rooms that the
    /// user is engaged in and the first `limit` of the others, plus one more of each if there is one.
    ///
    /// - Parameter withHidden: True to include direct rooms that are not in the user's list.
    func rooms(
        of user: UserID, after last: InboxCursor.Activity?, limit: Int, withHidden: Bool,
        where isWanted: (RoomID) -> Bool
    ) throws -> [OwnRoom]
    /// Prepares to read rooms as each user sees them.
    func prepare(_ rooms: [(user: UserID, rooms: ArraySlice<OwnRoom>)]) throws
    /// Returns the snapshots of messages by their keys. Those that this transaction does not show are missing.
    func bodies(of messages: [(key: RowKey, room: RoomID)]) throws -> [Int64: [UInt8]]
    /// Passes `body` messages that may match a search, newest first, until it returns false. All matches are among them
    /// that are indexed or among the newest of their room.
    ///
    /// - Returns: The time up to which everything is indexed, in milliseconds since 1970; `nil` if nothing is missing.
    func forEachCandidate(
        _ search: CandidateSearch, in rooms: [SearchedRoom], _ body: (SearchCandidate) throws -> Bool
    ) throws -> Int64?
    /// Returns at most `limit` rooms of the server after a position of their list, latest activity first.
    func rooms(after last: InboxCursor.Activity?, limit: Int) throws -> [ServerRoom]
    /// Returns the time of a user's latest message, in milliseconds since 1970, as far as it is searched.
    func lastSend(of user: UserID) throws -> Int64?
}

/// A room that a user is a member of.
struct OwnRoom {
    /// Its number in the database.
    var number: Int64
    /// Its latest activity, by which lists are sorted.
    var activity: InboxCursor.Activity
    /// True if the user has sent to the room, read it, created it or joined it.
    var isEngaged: Bool
    /// True for a direct room that is not in the user's list.
    var isHidden = false

    /// The activity in the row of a membership whose room's activity is not stored there.
    static let unknownActivity = Int64.max
}

/// A message of a room with its time, in milliseconds since 1970, and its snapshot.
typealias RoomMessage = (seq: Int64, createdAt: Int64, body: [UInt8])

/// A room in a read transaction.
protocol RoomView {
    /// Its number in the database.
    var number: Int64 { get }
    /// True if only members may read it.
    var isPrivate: Bool { get }
    /// True if it has been deleted. Rows that it still has must not be read.
    var isDeleted: Bool { get }
    /// True if searches look into it.
    var isSearchable: Bool { get }
    /// The two members of a direct room; `nil` for other rooms.
    var direct: DirectPair? { get }
    /// Its highest `seq` and revision.
    var state: RoomState { get }

    /// Returns a message; `nil` if there is none.
    func message(seq: Int64) throws -> StoredMessage?
    /// Returns the message that was sent with a client message id; `nil` also for a user who is being erased.
    func message(sender: UserID, clientMessageID: String) throws -> StoredMessage?
    /// Returns the snapshots of a page with at least one message, joined by commas; `nil` if it has several messages
    /// with more than `limit` bytes.
    func messages(_ window: PageWindow, within limit: Int) throws -> [UInt8]?
    /// Returns messages, newest first: at most `most` of those from `first` and before `end`.
    func newest(from first: Int64, before end: Int64, most: Int) throws -> [RoomMessage]
    /// Returns the `seq` of the first message stored at `time` or later; the next `seq` to be assigned if there is none.
    func firstSeq(at time: Timestamp) throws -> Int64
    /// Returns the `seq` of the first message sent after revision `since`; the next `seq` to be assigned if there is none.
    func firstSeq(after since: Int64) throws -> Int64
    /// Returns the room's revision at which a message was sent; its `seq` must be 1 to the highest one.
    func sentRevision(of seq: Int64) throws -> Int64
    /// Passes `body` the snapshot of each message that was sent or changed after `since`, once, in the order of latest
    /// revisions, until it returns false.
    ///
    /// - Returns: The revision up to which all changes have been passed. The room's latest revision always belongs to a
    ///   message, so a client that has reached it is up to date.
    func forEachChange(since: Int64, _ body: (Int64, Span<UInt8>) -> Bool) throws -> Int64
    /// Returns a user's read mark, at most the room's highest `seq`, and the unread messages after it.
    func readState(of user: UserID) throws -> ReadState
}
