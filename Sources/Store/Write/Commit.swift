import Chat
import Wire

/// One transaction. It applies submissions in order, and gathers their outcomes and the batches for subscribers. The
/// observer gets them once the transaction is durable.
///
/// Messages go to the journal, which also finds those that were sent before. The unique index of client message ids is
/// checked again when they are filed.
struct Commit: ~Copyable {
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
    /// The jobs that it has added.
    var jobs: [Job] = []
    /// The number of reactions to tombstones it has removed.
    var removedReactions = 0
    /// The journal, with the messages that this commit has sent.
    var journal: JournalTransaction
    /// The number of bytes of the snapshots that it has changed.
    var changedBytes = 0
    /// The rooms that take no changes, see ``RowFailure``.
    let aside: Set<RoomID>
    let statements: WriterStatements
    let time: Timestamp
    let configuration: StoreConfiguration
    /// True if only admins may create rooms.
    let roomsByAdminsOnly: Bool
    /// True if only admins may make other users members of rooms.
    let membersByAdminsOnly: Bool

    /// Creates an empty commit at `time`.
    ///
    /// - Parameter submissions: maximum number of submissions that it will apply.
    init(
        _ statements: WriterStatements, rooms: consuming RoomTable, journal: consuming JournalTransaction,
        bans: BanTable, erasing: Set<UserID>, aside: Set<RoomID>, submissions: Int, at time: Timestamp,
        _ configuration: StoreConfiguration
    ) {
        self.statements = statements
        outcomes.reserveCapacity(submissions)
        batches.reserveCapacity(submissions)
        rooms.beginCommit()
        self.rooms = rooms
        self.journal = journal
        self.bans = BanView(table: bans)
        self.erasing = erasing
        self.aside = aside
        self.time = time
        self.configuration = configuration
        roomsByAdminsOnly = configuration.roomsByAdminsOnly
        membersByAdminsOnly = configuration.membersByAdminsOnly
    }

    /// Returns the rooms, and leaves the commit without them.
    mutating func takeRooms() -> RoomTable {
        let taken = rooms
        rooms = RoomTable(limit: 0)
        return taken
    }

    /// Applies submissions in order: at least one, until changed snapshots have `bytes` bytes.
    ///
    /// - Throws: ``RowFailure`` with the submission that cannot be applied.
    mutating func apply(_ submissions: ArraySlice<Submission>, changing bytes: Int) throws {
        // In place: an iterator would copy each of them.
        let submissions = submissions.span
        for index in submissions.indices {
            do {
                try apply(submissions[index])
            } catch var failure as RowFailure {
                failure.submission = index
                throw failure
            } catch let error as SQLiteError where error.isOfRows {
                throw RowFailure(rooms: roomsToBlame(for: submissions[index]), submission: index, cause: error)
            }
            if changedBytes >= bytes { break }
        }
    }

    /// Returns the room to set aside because rows that a submission needs are damaged. Most sends to a room need the
    /// same rows, so a failed send sets its room aside. Other changes need rows of their own, such as an old message or
    /// a user's read mark, so only the change fails.
    private func roomsToBlame(for submission: Submission) -> [RoomID] {
        guard case .send = submission.change, let id = submission.room, rooms[id] != nil else { return [] }
        return [id]
    }

    /// Applies one submission. A refusal is an outcome; an error of the database ends the transaction.
    private mutating func apply(_ submission: Submission) throws {
        let id = submission.room
        if !aside.isEmpty, let id, aside.contains(id) {
            outcomes.append(Outcome(ticket: submission.ticket, result: .failure(.roomUnavailable)))
            return
        }
        var room: RoomTable.Room?
        if let id { room = try self.room(id) }
        if !erasing.isEmpty, let room { try separate(submission, in: room) }
        var refusal: Problem?
        if id != nil, room?.isPrivate != false { refusal = try self.refusal(of: submission, to: room) }
        if !bans.isEmpty, refusal == nil { refusal = bans.refusal(of: submission, at: time) }
        if let refusal {
            outcomes.append(Outcome(ticket: submission.ticket, result: .failure(refusal)))
            return
        }
        let result: Result<Receipt, Problem>
        switch (submission.change, id) {
        case (.send(let draft), let id?):
            result = try send(draft, to: id, room, by: submission.sender)
        case (.change(let change), let id?):
            let isOwner = try isOwnersDeletion(change, of: submission, in: room)
            result = try self.change(change, in: id, by: submission.sender, isOwner: isOwner)
        case (.read(let seq), _?):
            result = try read(to: seq, in: room, by: submission.sender)
        case (.room(let change), let id?):
            result = try self.change(change, in: id, by: submission)
        case (.user(let user, let change), _):
            result = try self.change(user, change, by: submission)
        case (_, nil):
            result = .failure(.roomNotFound)
        }
        outcomes.append(Outcome(ticket: submission.ticket, result: consume result))
    }

    private mutating func send(
        _ draft: Draft, to id: RoomID, _ known: RoomTable.Room?, by sender: UserID
    ) throws -> Result<Receipt, Problem> {
        if let replyTo = draft.content.replyTo, replyTo > known?.head ?? 0 { return .failure(.replyToNotFound) }
        guard var room = try known ?? makeRoom(id, by: sender) else {
            return .failure(configuration.refuseRoom())
        }
        let key = draft.clientMessageID.map { ClientMessageKey(sender: sender, id: $0) }
        if let key, let first = try journal.body(sentAs: key, in: id, &room) {
            guard !erasing.isEmpty, let message = try? Message(decoding: first),
                try eraseFirst(RowKey(room: room.number, message.seq), sentBy: message.sender, by: sender, in: id)
            else { return try repeated(draft, of: first, in: room.number) }
            // The erasure has taken a revision.
            room = rooms[id]!
        }
        room.head += 1
        room.rev += 1
        // Times never decrease as `seq` grows, even if the clock is set back.
        room.latest = max(time, room.latest)
        guard room.head <= RowKey.maximumPlace, room.rev <= RowKey.maximumPlace else {
            return .failure(.unavailable("The room is full."))
        }
        var body: [UInt8] = []
        Message.encode(
            room: id, seq: room.head, rev: room.rev, sender: sender, draft: draft, createdAt: room.latest, into: &body)
        try journal.append(
            RecentMessage(
                room: id, roomNumber: room.number, seq: room.head, rev: room.rev, createdAt: room.latest,
                sender: sender, key: key, body: body))
        publish(body, in: id, room)
        return .success(.message(StoredMessage(seq: room.head, rev: room.rev, body: body), isNew: true))
    }

    /// Returns the stored message for a repeated send, and refuses another send with the same client message id.
    private func repeated(_ draft: Draft, of body: [UInt8], in room: Int64) throws -> Result<Receipt, Problem> {
        let message: Message
        do throws(Problem) { message = try Message(decoding: body) } catch { return .failure(error) }
        let isSame =
            message.isAsSent
            ? message.content.isSame(as: draft.content)
            : try statements.changes.isFirst(draft.content, of: RowKey(room: room, message.seq))
        guard isSame else { return .failure(.clientMessageIDReused) }
        return .success(.message(StoredMessage(seq: message.seq, rev: message.rev, body: body), isNew: false))
    }

    // MARK: Rooms

    /// Returns a room; `nil` if it does not exist.
    mutating func room(_ id: RoomID) throws -> RoomTable.Room? {
        if let room = rooms[id] { return room }
        guard let room = try RowFailure.of([id], { try statements.room(id) }) else { return nil }
        return add(id, room)
    }

    /// Adds a room from the database, or one that the commit has created.
    mutating func add(_ id: RoomID, _ room: consuming RoomTable.Room) -> RoomTable.Room {
        journal.complete(&room, id)
        return rooms.add(id, room)
    }

    /// Files all messages of a room, so that they can be changed.
    ///
    /// - Throws: ``RowFailure`` with the room, also if it is set aside.
    mutating func file(_ id: RoomID, _ room: RoomTable.Room) throws {
        if aside.contains(id) { throw RowFailure(rooms: [id], cause: .setAside) }
        try journal.file(id, room)
    }

    /// Adds a snapshot, of the room's latest revision, to what the room's subscribers get.
    mutating func publish(_ body: [UInt8], in id: RoomID, _ room: RoomTable.Room) {
        var room = room
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
