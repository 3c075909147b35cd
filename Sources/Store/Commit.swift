import Chat
import Wire

/// One transaction: applies submissions in their order, and gathers what their senders and the subscribers are to hear
/// when it is durable.
///
/// Messages are put into the journal. That their client message ids are new is looked up here; the unique index says it
/// once more when they are filed.
struct Commit {
    /// One for each submission, in order.
    private(set) var outcomes: [Outcome] = []
    /// The rooms as they are after the commit.
    private(set) var rooms: RoomTable
    /// What subscribers must see, room by room.
    private(set) var batches: [Batch] = []
    /// The new messages.
    var messages: [RecentMessage] { list.messages }
    private var list = RecentMessageList()
    private var batchOfRoom: [RoomID: Int] = [:]
    private let statements: WriterStatements
    private let recent: RecentMessages
    private let time: Timestamp

    /// A commit at `time` of nothing yet.
    ///
    /// - Parameters:
    ///   - rooms: as the commit before has left them.
    ///   - recent: what is in the journal already.
    init(_ statements: WriterStatements, rooms: RoomTable, recent: RecentMessages, at time: Timestamp) {
        self.statements = statements
        self.rooms = rooms
        self.recent = recent
        self.time = time
    }

    /// Puts the messages of `filing` in their places, and the new ones into a row of the journal; in their places too when
    /// there is no row.
    func store(in row: Int64?, _ filing: Backlog.Filing) throws {
        for message in filing.messages { try statements.insert(message) }
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
        switch submission.change {
        case .send(let draft):
            result = try send(draft, to: submission.room, by: submission.sender)
        }
        outcomes.append(Outcome(ticket: submission.ticket, result: result))
    }

    private mutating func send(
        _ draft: Draft, to id: RoomID, by sender: UserID
    ) throws -> Result<Stored, Problem> {
        let known = try room(id)
        if let replyTo = draft.content.replyTo, replyTo > known?.head ?? 0 { return .failure(.replyToNotFound) }
        guard var room = try known ?? statements.insertRoom(id) else {
            return .failure(.unavailable("There are as many rooms as there may be."))
        }
        let key = draft.clientMessageID.map { ClientMessageKey(sender: sender, id: $0) }
        if let key, let first = try snapshot(key, in: id, room.number) { return repeated(draft, of: first) }
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
        list.append(message)
        rooms[id] = room
        add(body, to: id, room)
        return .success(Stored(seq: room.head, rev: room.rev, body: body, isNew: true))
    }

    /// The snapshot of the message that was sent under a client message id.
    private func snapshot(_ key: ClientMessageKey, in room: RoomID, _ number: Int64) throws -> [UInt8]? {
        if let message = list.first(key, in: number) ?? recent.message(key, in: room) { return message.body }
        return try statements.message(room: number, sender: key.sender, clientMessageID: key.id)
    }

    /// The same send again, or another one under an id that is taken.
    private func repeated(_ draft: Draft, of body: [UInt8]) -> Result<Stored, Problem> {
        do throws(Problem) {
            // Nothing edits messages yet, so the snapshot says what was first sent.
            let first = try Message(decoding: body)
            guard first.content.isSame(as: draft.content) else { return .failure(.clientMessageIDReused) }
            return .success(Stored(seq: first.seq, rev: first.rev, body: body, isNew: false))
        } catch {
            return .failure(error)
        }
    }

    /// Where a room is; `nil` when nobody has used it.
    private mutating func room(_ id: RoomID) throws -> RoomTable.Room? {
        if let room = rooms[id] { return room }
        guard var room = try statements.room(id) else { return nil }
        if let newest = recent.newest(of: id) {
            (room.head, room.rev, room.latest) = (newest.seq, newest.rev, newest.createdAt)
        }
        rooms[id] = room
        return room
    }

    private mutating func add(_ body: [UInt8], to id: RoomID, _ room: RoomTable.Room) {
        if let index = batchOfRoom[id] {
            batches[index].messages.append(body)
            batches[index].head = room.head
        } else {
            batchOfRoom[id] = batches.count
            batches.append(Batch(room: id, firstRev: room.rev, head: room.head, messages: [body]))
        }
    }
}
