import Chat
import GRDB
import Wire

/// One transaction: applies submissions in their order, and gathers what their senders and the subscribers are to hear
/// when it is durable.
///
/// Messages are put into the journal. That their client message ids are new is looked up here; the unique index says it
/// once more when they are filed.
///
/// Messages are changed in their places only, and never while there are others of their room that are not in theirs: so
/// what the journal has of a room is newer, by `seq` and by revision, than all that is among its rows. A commit that
/// changes a room therefore settles it first: what was sent to it before is put in its place, that of the same commit
/// included, and what the same commit sends to it afterwards goes there at once.
struct Commit: ~Copyable {
    /// One for each submission, in order.
    private(set) var outcomes: [Outcome] = []
    /// The rooms as they are after the commit.
    var rooms: RoomTable
    /// What subscribers must see, room by room.
    private(set) var batches: [Batch] = []
    /// Who has become a member of what, or is none any more, in order.
    var memberships: [MembershipChange] = []
    /// The bans, with the changes of this commit.
    var bans: BanView
    /// The users who are being erased.
    var erasing: Set<UserID>
    /// Access that it has taken away.
    var ends: [AccessEnd] = []
    /// Work that it leaves to be done in parts.
    var jobs: [Job] = []
    /// The number of reactions to tombstones it has removed.
    var removedReactions = 0
    /// The new messages that the journal holds.
    var messages: [RecentMessage] { list.messages }
    /// What of the journal has been put in its place.
    private(set) var filing: Backlog.Filing
    /// The bytes of the snapshots that its changes have made.
    var changedBytes = 0
    /// The rooms that take no changes, see ``RowFailure``.
    let aside: Set<RoomID>
    let statements: WriterStatements
    let time: Timestamp
    private var list = RecentMessageList()
    private var settled: Set<RoomID> = []
    let recent: RecentMessages
    private let filter: ClientMessageFilter
    private let filterFill: Int
    /// True if rooms are made by admins only.
    let roomsByAdminsOnly: Bool
    /// True if only admins may make other users members of rooms.
    let membersByAdminsOnly: Bool

    /// A commit at `time` of nothing yet.
    ///
    /// - Parameters:
    ///   - rooms: as the commit before has left them.
    ///   - recent: what is in the journal already.
    ///   - filter: knows the client message ids of rooms that are marked with its number.
    ///   - filing: what of the journal is due.
    ///   - aside: the rooms that take no changes.
    ///   - submissions: how many will be applied, at most.
    init(
        _ statements: WriterStatements, rooms: consuming RoomTable, recent: RecentMessages,
        filter: ClientMessageFilter, bans: BanTable, erasing: Set<UserID>, filing: Backlog.Filing,
        aside: Set<RoomID>, submissions: Int, configuration: StoreConfiguration
    ) {
        self.statements = statements
        outcomes.reserveCapacity(submissions)
        batches.reserveCapacity(submissions)
        list.reserveCapacity(submissions)
        rooms.beginCommit()
        self.rooms = rooms
        self.recent = recent
        self.filter = filter
        self.bans = BanView(table: bans)
        self.erasing = erasing
        filterFill = configuration.clientMessageFilterFill
        self.filing = filing
        self.aside = aside
        time = configuration.clock()
        roomsByAdminsOnly = configuration.roomsByAdminsOnly
        membersByAdminsOnly = configuration.membersByAdminsOnly
    }

    /// Hands the rooms over, as they are now. The commit has none of them any more.
    mutating func takeRooms() -> RoomTable {
        let taken = rooms
        rooms = RoomTable(limit: 0)
        return taken
    }

    /// Puts what is due in its place. Before anything is applied.
    ///
    /// - Throws: ``RowFailure`` of no room when that is to be tried room by room.
    func file() throws {
        try RowFailure.of(nil) { try statements.insert(filing.messages) }
    }

    /// The new messages as a row of the journal; of no bytes when there are none.
    func row() -> [UInt8] {
        JournalRow.bytes(of: messages)
    }

    /// Puts the new messages in their places, where there is no journal.
    func storeInPlace() throws {
        for message in messages { try RowFailure.of(message.room) { try statements.insert([message]) } }
    }

    /// Applies submissions in their order, one at least, until they have made so many bytes of changed snapshots.
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
            } catch let error as DatabaseError where error.isOfRows {
                throw RowFailure(room: roomToBlame(for: submissions[index]), submission: index, cause: error)
            }
            if changedBytes >= bytes { break }
        }
    }

    /// The room to set aside because rows that a submission needs are damaged: what one send needs, most sends do. Other
    /// changes need rows that nobody else does, such as an old message or a user's read mark.
    private func roomToBlame(for submission: Submission) -> RoomID? {
        guard case .send = submission.change, let id = submission.room, rooms[id] != nil else { return nil }
        return id
    }

    /// Applies one submission. A refusal is an outcome; an error is one of the database and ends the transaction.
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
        let result: Result<Stored, Problem>
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
    ) throws -> Result<Stored, Problem> {
        if let replyTo = draft.content.replyTo, replyTo > known?.head ?? 0 { return .failure(.replyToNotFound) }
        guard var room = try known ?? makeRoom(id, by: sender) else {
            return .failure(.unavailable("There are as many rooms as there may be."))
        }
        let key = draft.clientMessageID.map { ClientMessageKey(sender: sender, id: $0) }
        if let key, let first = try snapshot(key, in: id, &room) {
            guard !erasing.isEmpty, let message = try? Message(decoding: first),
                try eraseFirst(RowKey(room: room.number, message.seq), sentBy: message.sender, by: sender, in: id)
            else { return try repeated(draft, of: first, in: room.number) }
            // Its revision is another one now.
            room = rooms[id]!
        }
        room.head += 1
        room.rev += 1
        // Clocks are set back now and then; messages are not.
        room.latest = max(time, room.latest)
        guard room.head <= RowKey.maximumPlace, room.rev <= RowKey.maximumPlace else {
            return .failure(.unavailable("The room is full."))
        }
        var body: [UInt8] = []
        Message.encode(
            room: id, seq: room.head, rev: room.rev, sender: sender, draft: draft, createdAt: room.latest, into: &body)
        // Also of a commit that fails: that is one look-up more. Before the next send is looked at, which may be the same.
        if let key { filter.insert(key.hash(in: room.number)) }
        let message = RecentMessage(
            room: id, roomNumber: room.number, seq: room.head, rev: room.rev, createdAt: room.latest, sender: sender,
            key: key, body: body)
        if settled.contains(id) { try statements.insert([message]) } else { list.append(message) }
        publish(body, in: id, room)
        return .success(Stored(seq: room.head, rev: room.rev, body: body, isNew: true))
    }

    /// The snapshot of the message that was sent under a client message id.
    private func snapshot(
        _ key: ClientMessageKey, in id: RoomID, _ room: inout RoomTable.Room
    ) throws -> [UInt8]? {
        let isFiltered = room.filter == filter.number
        if isFiltered, !filter.mayContain(key.hash(in: room.number)) { return nil }
        if !settled.contains(id), let message = list.first(key, in: room.number) ?? recent.message(key, in: id) {
            return message.body
        }
        let stored = try statements.lookup.message(room: room.number, sender: key.sender, clientMessageID: key.id)
        if !isFiltered, stored == nil { try fillFilter(of: id, &room) }
        return stored?.body
    }

    /// Gives the filter all client message ids of a room, once so many have been looked up that to read them all has taken
    /// no longer.
    private func fillFilter(of id: RoomID, _ room: inout RoomTable.Room) throws {
        room.lookups += 1
        guard room.head <= filterFill, Int64(room.lookups) * Self.readsOfLookup >= room.head else { return }
        let number = filter.number
        try statements.lookup.forEachClientMessageKey(of: room.number) { filter.insert($0) }
        for message in recent.messages(of: id) { insertIntoFilter(message) }
        for message in messages where message.roomNumber == room.number { insertIntoFilter(message) }
        // Should the filter have forgotten the first of them meanwhile, it has another number.
        room.filter = number
        room.lookups = 0
    }

    /// The number of client message ids that are read in the time in which one is looked up.
    private static let readsOfLookup: Int64 = 8

    private func insertIntoFilter(_ message: RecentMessage) {
        guard let hash = message.keyHash else { return }
        filter.insert(ClientMessageKey.hash(hash, in: message.roomNumber))
    }

    /// The same send again, or another one under an id that is taken.
    private func repeated(_ draft: Draft, of body: [UInt8], in room: Int64) throws -> Result<Stored, Problem> {
        let message: Message
        do throws(Problem) { message = try Message(decoding: body) } catch { return .failure(error) }
        let isSame =
            message.isAsSent
            ? message.content.isSame(as: draft.content)
            : try statements.changes.isFirst(draft.content, of: RowKey(room: room, message.seq))
        guard isSame else { return .failure(.clientMessageIDReused) }
        return .success(Stored(seq: message.seq, rev: message.rev, body: body))
    }

    // MARK: Rooms

    /// Where a room is; `nil` when nobody has used it.
    mutating func room(_ id: RoomID) throws -> RoomTable.Room? {
        if let room = rooms[id] { return room }
        guard var room = try RowFailure.of(id, { try statements.room(id) }) else { return nil }
        if let newest = recent.newest(of: id) {
            (room.head, room.rev, room.latest) = (newest.seq, newest.rev, newest.createdAt)
        }
        // Of a room without messages all client message ids are known: none.
        if room.head == 0 { room.filter = filter.number }
        return rooms.add(id, room)
    }

    /// Adds a room that the commit has made, which has no messages yet.
    mutating func add(_ id: RoomID, _ room: RoomTable.Room) -> RoomTable.Room {
        var room = room
        room.filter = filter.number
        return rooms.add(id, room)
    }

    /// True when a message of a user is in the journal only, or will be.
    func hasUnfiledMessage(of user: UserID, in id: RoomID, _ room: RoomTable.Room) -> Bool {
        recent.messages(of: id).contains { $0.sender == user }
            || messages.contains { $0.roomNumber == room.number && $0.sender == user }
    }

    /// Puts all messages of a room in their places, so that they can be changed.
    ///
    /// - Throws: ``RowFailure`` with the room, also when it is set aside.
    mutating func settle(_ id: RoomID, _ room: RoomTable.Room) throws {
        guard settled.insert(id).inserted else { return }
        if aside.contains(id) { throw RowFailure(room: id, cause: .setAside) }
        var messages = list.removeAll(of: room.number)
        if !filing.contains(id) {
            let unfiled = recent.messages(of: id)
            filing.add(id, unfiled)
            messages = unfiled + messages
        }
        try RowFailure.of(id) { try statements.insert(messages) }
    }

    /// Has the room's subscribers see a snapshot, of the revision that the room has come to.
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
