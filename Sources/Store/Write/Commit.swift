import Chat
import Wire

/// One transaction. It applies submissions in order, and gathers their outcomes and the batches for subscribers. The
/// observer gets them once the transaction is durable.
///
/// Messages go to the ``CommitStore``, which also finds those that were sent before.
struct Commit<Store: CommitStore>: ~Copyable {
    /// The outcome of each submission, in order.
    private(set) var outcomes: [Outcome] = []
    /// The rooms, with the changes of this commit.
    var rooms: RoomTable
    /// The sent and changed messages, room by room.
    private(set) var batches: [Batch] = []
    /// The changes of memberships, in order.
    var memberships: [MembershipChange] = []
    /// The bans, with the changes of this commit.
    var bans: BanView
    /// The users who are being erased.
    var erasing: Set<UserID>
    /// The access that it has taken away.
    var ends: [AccessEnd] = []
    /// The rooms in which it has taken rights away, see ``Write/isRestriction``.
    var restricted: Set<RoomID> = []
    /// The events of webhooks, in order.
    var events: [NotedEvent] = []
    /// The jobs that it has added.
    var jobs: [Job] = []
    /// The number of reactions to tombstones it has removed.
    var removedReactions = 0
    /// The commit's messages and rooms, where the stores differ.
    var store: Store
    /// The number of bytes of the snapshots that it has changed.
    var changedBytes = 0
    let db: Store.DB
    let fingerprinter: Fingerprinter
    let time: Timestamp
    let configuration: StoreConfiguration
    let policy: Facts.Policy
    /// The kinds of events that webhooks get. Without such webhooks nothing is noted.
    let eventKinds: Set<WebhookEvent>

    /// Creates an empty commit at `time`.
    ///
    /// - Parameters:
    ///   - events: The kinds of events that webhooks get.
    ///   - submissions: maximum number of submissions that it will apply.
    init(
        _ store: consuming Store, rooms: consuming RoomTable, bans: BanTable, erasing: Set<UserID>,
        events: Set<WebhookEvent> = [], submissions: Int, at time: Timestamp, _ fingerprinter: Fingerprinter,
        _ configuration: StoreConfiguration
    ) {
        db = store.db
        self.fingerprinter = fingerprinter
        outcomes.reserveCapacity(submissions)
        batches.reserveCapacity(submissions)
        rooms.beginCommit()
        self.rooms = rooms
        self.store = store
        self.bans = BanView(table: bans)
        self.erasing = erasing
        self.time = time
        self.configuration = configuration
        policy = configuration.policy
        eventKinds = events
    }

    /// Returns the rooms, and leaves the commit without them.
    mutating func takeRooms() -> RoomTable {
        let taken = rooms
        rooms = RoomTable(limit: 0)
        return taken
    }

    /// Applies submissions in order: at least one, until changed snapshots have `bytes` bytes.
    ///
    /// - Throws: ``CommitStore/failure(_:of:at:hasRoom:)``.
    mutating func apply(_ submissions: ArraySlice<Submission>, changing bytes: Int) throws {
        // In place: an iterator would copy each of them.
        let submissions = submissions.span
        for index in submissions.indices {
            do {
                try apply(submissions[index])
            } catch {
                let hasRoom = submissions[index].room.map { rooms[$0] != nil } ?? false
                throw store.failure(error, of: submissions[index], at: index, hasRoom: hasRoom)
            }
            if changedBytes >= bytes { break }
        }
    }

    /// Applies one submission. A refusal is an outcome; an error of the database ends the transaction.
    private mutating func apply(_ submission: Submission) throws {
        if let id = submission.room, let refusal = store.refusal(of: id) {
            outcomes.append(Outcome(ticket: submission.ticket, result: .failure(refusal)))
            return
        }
        var target = Target(id: submission.room, room: try submission.room.flatMap { try room($0) })
        var decision = try decide(submission, &target)
        do {
            let (rev, isDeleted) = (target.room?.rev ?? 0, target.room?.facts.isDeleted == true)
            try apply(decision, &target)
            if !eventKinds.isEmpty, !isDeleted {
                noteEvents(of: decision.writes, in: target.id, at: rev, by: submission.sender)
            }
        } catch is NoRoomNumber {
            // The room would have been created first, so nothing was written.
            decision.result = .failure(configuration.refuseRoom())
        }
        outcomes.append(Outcome(ticket: submission.ticket, result: decision.result))
    }

    /// The target of a decision: a room, or without an id the whole server.
    struct Target {
        let id: RoomID?
        /// `nil` if the room does not exist yet.
        var room: RoomTable.Room?
        /// The key of the client message id that is sent.
        var key: ClientMessageKey?
    }

    // MARK: Rooms

    /// Returns a room; `nil` if it does not exist.
    mutating func room(_ id: RoomID) throws -> RoomTable.Room? {
        if let room = rooms[id] { return room }
        guard let room = try store.room(id) else { return nil }
        return add(id, room)
    }

    /// Adds a room from the database, or one that the commit has created.
    mutating func add(_ id: RoomID, _ room: consuming RoomTable.Room) -> RoomTable.Room {
        store.complete(&room, id)
        return rooms.add(id, room)
    }

    /// Adds a snapshot, of the room's latest revision, to what the room's subscribers get, and keeps the room's state.
    mutating func publish(_ body: [UInt8], in id: RoomID, _ room: inout RoomTable.Room) {
        if let index = room.batch(in: rooms.commit) {
            batches[index].messages.append(body)
            batches[index].head = room.head
        } else {
            room.setBatch(batches.count, in: rooms.commit)
            batches.append(Batch(room: id, firstRev: room.rev, head: room.head, messages: [body]))
        }
        rooms.update(room)
    }
}
