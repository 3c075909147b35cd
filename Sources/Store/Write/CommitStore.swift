import Chat
import Wire

/// A commit's messages and rooms, where the stores differ. All else that a commit stores is in ``SQLDatabase``.
protocol CommitStore {
    associatedtype DB: SQLDatabase

    var db: DB { get }

    /// Returns the error that ends the transaction because a submission could not be applied.
    ///
    /// - Parameters:
    ///   - error: The error that its statements have thrown.
    ///   - index: The index of the submission among those of the commit.
    ///   - hasRoom: True if the submission is about a room that exists.
    func failure(_ error: any Error, of submission: Submission, at index: Int, hasRoom: Bool) -> any Error

    // MARK: Rooms

    /// Returns a room's filed state; `nil` if it does not exist.
    func room(_ id: RoomID) throws -> RoomTable.Room?

    /// Creates a room.
    ///
    /// - Returns: Its number; `nil` if the maximum number of rooms is reached.
    func insertRoom(_ id: RoomID, at time: Timestamp) throws -> Int64?

    /// Completes a room from the database with what is known of it besides.
    func complete(_ room: inout RoomTable.Room, _ id: RoomID)

    /// Sets the activity of a new membership.
    ///
    /// - Parameters:
    ///   - latest: The time of the room's newest message, in milliseconds since 1970; `nil` if it has none.
    ///   - isEngaged: True if the user is engaged already.
    func joined(_ user: UserID, _ room: Int64, latest: Int64?, isEngaged: Bool) throws

    /// Fills in the next memberships of a database of an earlier version, see ``Job/Kind/activity(_:)``.
    ///
    /// - Parameter most: Maximum number of memberships to examine.
    /// - Returns: The number of the last one's room; `nil` if there are no more.
    func fillActivity(most: Int) throws -> Int64?

    // MARK: Messages

    /// Appends a message to a room with this number. `key` is the key of its client message id, if it has one.
    mutating func append(_ message: NewMessage, to id: RoomID, _ room: Int64, _ key: ClientMessageKey?) throws

    /// Returns true if a client message id is known to be new in a room without a look at the room's messages.
    func isNew(_ key: ClientMessageKey, in room: RoomTable.Room) -> Bool

    /// Returns the message that was sent with a client message id; `nil` if there is none.
    mutating func message(
        sentAs key: ClientMessageKey, in id: RoomID, _ room: inout RoomTable.Room
    ) throws -> StoredMessage?

    /// Returns true if a message of a user in a room is known besides those in the table `messages`.
    func hasMessage(of user: UserID, in id: RoomID, _ room: RoomTable.Room) -> Bool

    /// Puts all messages of a room into the table `messages`, so that they can be changed.
    mutating func file(_ id: RoomID, _ room: RoomTable.Room) throws

    /// Returns the refusal of changes to a room that cannot be changed at present; `nil` for other rooms.
    func refusal(of room: RoomID) -> Problem?

    /// Returns the reason why some messages of a user cannot be erased at present; `nil` if all can.
    func refusal(ofErasing user: UserID) -> (any Error)?

    /// Changes the words of a message in the index for searches, before its snapshot is replaced by `body`.
    func reindex(_ message: RowKey, _ body: [UInt8]) throws

    /// Removes the words of messages of a room from the index, before they are deleted: the last ones of the room.
    func unindex(from first: RowKey, through last: RowKey) throws

    /// Remembers that searches look into a room from now on, or no longer.
    func changedSearchable(_ room: Int64)
}

/// A writer's state, which makes commits for its jobs and the expiry of messages.
protocol CommitMaker {
    associatedtype Store: CommitStore

    var configuration: StoreConfiguration { get }
    var jobs: Jobs { get set }
    /// The schedule of message expiry.
    var expiry: Expiry { get set }

    /// Makes one transaction.
    mutating func transact(_ body: (inout Commit<Store>) throws -> Void) throws -> Commit<Store>

    /// Does what must be done before a part of a job.
    ///
    /// - Returns: False if there was nothing to do.
    mutating func makeReady(for job: Job) throws -> Bool

    /// Returns for how long messages are kept.
    func keepTime() throws -> Expiry.KeepTime

    /// Returns at most `most` rooms after `room`, in the order of their numbers.
    ///
    /// - Parameter ofAll: False for only those with a number of days of their own.
    func expiryRooms(after room: Int64, most: Int, ofAll: Bool) throws -> [Expiry.Room]

    /// Returns true if the first message after a room's expiry mark was stored before `cutoff`.
    func isDue(_ room: Expiry.Room, before cutoff: Timestamp) throws -> Bool
}

extension SQLDatabase {
    /// Returns a room's filed state, for a transaction that changes it; `nil` if it does not exist.
    func room(_ id: RoomID) throws -> RoomTable.Room? {
        guard let row = try row(of: id, locking: true) else { return nil }
        let progress = try row.progress ?? progress(of: row.number)
        var facts = row.facts
        (facts.head, facts.rev) = (progress.head, progress.rev)
        facts.latest = Timestamp(milliseconds: progress.latest)
        facts.direct = try row.direct.map { try direct($0, row.number) }
        return RoomTable.Room(number: row.number, facts)
    }
}
