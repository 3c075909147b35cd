import Chat
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
struct Commit {
    /// One for each submission, in order.
    private(set) var outcomes: [Outcome] = []
    /// The rooms as they are after the commit.
    var rooms: RoomTable
    /// What subscribers must see, room by room.
    private(set) var batches: [Batch] = []
    /// Who has become a member of what, or is none any more, in order.
    var memberships: [MembershipChange] = []
    /// The new messages that the journal holds.
    var messages: [RecentMessage] { list.messages }
    /// What of the journal has been put in its place.
    private(set) var filing: Backlog.Filing
    /// How many bytes the snapshots have that its changes have made.
    var changedBytes = 0
    let statements: WriterStatements
    let time: Timestamp
    private var list = RecentMessageList()
    private var settled: Set<RoomID> = []
    private var batchOfRoom: [RoomID: Int] = [:]
    private let recent: RecentMessages
    /// Whether rooms are made by admins only.
    let roomsByAdminsOnly: Bool

    /// A commit at `time` of nothing yet.
    ///
    /// - Parameters:
    ///   - rooms: as the commit before has left them.
    ///   - recent: what is in the journal already.
    ///   - filing: what of it is due.
    init(
        _ statements: WriterStatements, rooms: RoomTable, recent: RecentMessages, filing: Backlog.Filing,
        at time: Timestamp, roomsByAdminsOnly: Bool = false
    ) {
        self.statements = statements
        self.rooms = rooms
        self.recent = recent
        self.filing = filing
        self.time = time
        self.roomsByAdminsOnly = roomsByAdminsOnly
    }

    /// Puts what is due in its place. Before anything is applied.
    func file() throws {
        for message in filing.messages { try statements.insert(message) }
    }

    /// Puts the new messages into a row of the journal; in their places when there is no row.
    func store(in row: Int64?) throws {
        guard let row else { return try messages.forEach(statements.insert) }
        if messages.isEmpty { return }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(messages.reduce(0) { $0 + JournalRow.byteCount(of: $1) })
        for message in messages { JournalRow.append(message, to: &bytes) }
        try statements.insertJournalRow(row, bytes)
    }

    /// Applies one submission. A refusal is an outcome; an error is one of the database and ends the transaction.
    mutating func apply(_ submission: Submission) throws {
        let result: Result<Stored, Problem>
        let room = try room(submission.room)
        if let refusal = try refusal(of: submission, to: room) {
            result = .failure(refusal)
        } else {
            switch submission.change {
            case .send(let draft):
                result = try send(draft, to: submission.room, room, by: submission.sender)
            case .change(let change):
                let change = try withAuthority(change, of: submission, in: room)
                result = try self.change(change, in: submission.room, by: submission.sender)
            case .read(let seq):
                result = try read(to: seq, in: room, by: submission.sender)
            case .room(let change):
                result = try self.change(change, by: submission)
            }
        }
        outcomes.append(Outcome(ticket: submission.ticket, result: result))
    }

    private mutating func send(
        _ draft: Draft, to id: RoomID, _ known: RoomTable.Room?, by sender: UserID
    ) throws -> Result<Stored, Problem> {
        if let replyTo = draft.content.replyTo, replyTo > known?.head ?? 0 { return .failure(.replyToNotFound) }
        guard var room = try known ?? makeRoom(id, by: sender) else {
            return .failure(.unavailable("There are as many rooms as there may be."))
        }
        let key = draft.clientMessageID.map { ClientMessageKey(sender: sender, id: $0) }
        if let key, let first = try snapshot(key, in: id, room.number) {
            return try repeated(draft, of: first, in: room.number)
        }
        room.head += 1
        room.rev += 1
        // Clocks are set back now and then; messages are not.
        room.latest = max(time, room.latest)
        guard room.head <= RowKey.maximumPlace, room.rev <= RowKey.maximumPlace else {
            return .failure(.unavailable("The room is full."))
        }
        var body: [UInt8] = []
        body.reserveCapacity(draft.content.text.utf8.count + draft.content.data.count + 256)
        Message.encode(
            room: id, seq: room.head, rev: room.rev, sender: sender, draft: draft, createdAt: room.latest, into: &body)
        let message = RecentMessage(
            room: id, roomNumber: room.number, seq: room.head, rev: room.rev, createdAt: room.latest, sender: sender,
            key: key, body: body)
        if settled.contains(id) { try statements.insert(message) } else { list.append(message) }
        publish(body, in: id, room)
        return .success(Stored(seq: room.head, rev: room.rev, body: body, isNew: true))
    }

    /// The snapshot of the message that was sent under a client message id.
    private func snapshot(_ key: ClientMessageKey, in room: RoomID, _ number: Int64) throws -> [UInt8]? {
        if !settled.contains(room), let message = list.first(key, in: number) ?? recent.message(key, in: room) {
            return message.body
        }
        return try statements.lookup.message(room: number, sender: key.sender, clientMessageID: key.id)?.body
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
        guard var room = try statements.room(id) else { return nil }
        if let newest = recent.newest(of: id) {
            (room.head, room.rev, room.latest) = (newest.seq, newest.rev, newest.createdAt)
        }
        rooms[id] = room
        return room
    }

    /// Puts all messages of a room in their places, so that they can be changed.
    mutating func settle(_ id: RoomID, _ room: RoomTable.Room) throws {
        guard settled.insert(id).inserted else { return }
        if !filing.contains(id) {
            let messages = recent.messages(of: id)
            for message in messages { try statements.insert(message) }
            filing.add(id, messages)
        }
        for message in list.removeAll(of: room.number) { try statements.insert(message) }
    }

    /// Has the room's subscribers see a snapshot, of the revision that the room has come to.
    mutating func publish(_ body: [UInt8], in id: RoomID, _ room: RoomTable.Room) {
        rooms[id] = room
        if let index = batchOfRoom[id] {
            batches[index].messages.append(body)
            batches[index].head = room.head
        } else {
            batchOfRoom[id] = batches.count
            batches.append(Batch(room: id, firstRev: room.rev, head: room.head, messages: [body]))
        }
    }
}
