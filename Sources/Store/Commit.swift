import Chat
import GRDB
import Wire

/// One transaction: applies submissions in their order, and gathers what their senders and the subscribers are to hear
/// when it is durable.
struct Commit {
    /// One for each submission, in order.
    private(set) var outcomes: [Outcome] = []
    /// The rooms as they are after the commit.
    private(set) var rooms: RoomTable
    /// What subscribers must see, room by room.
    private(set) var batches: [Batch] = []
    private var batchOfRoom: [RoomID: Int] = [:]
    private let statements: WriterStatements
    private let time: Timestamp

    /// A commit at `time` of nothing yet.
    init(_ statements: WriterStatements, rooms: RoomTable, at time: Timestamp) {
        self.statements = statements
        self.rooms = rooms
        self.time = time
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
        guard try statements.insert(room, sender: sender, clientMessageID: draft.clientMessageID, body: body) else {
            return try repeated(draft, in: room, by: sender)
        }
        rooms[id] = room
        add(body, to: id, room)
        return .success(Stored(seq: room.head, rev: room.rev, body: body, isNew: true))
    }

    /// The same send again, or another one under an id that is taken.
    private func repeated(
        _ draft: Draft, in room: RoomTable.Room, by sender: UserID
    ) throws -> Result<Stored, Problem> {
        guard let id = draft.clientMessageID,
            let body = try statements.message(room: room.number, sender: sender, clientMessageID: id)
        else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the place of a new message is taken")
        }
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
        let room = try statements.room(id)
        if let room { rooms[id] = room }
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
