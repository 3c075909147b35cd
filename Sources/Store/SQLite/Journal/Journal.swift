import Chat
import Synchronization
import Wire

/// The newest messages of each room: those that are durable in the table `journal`, but not yet in the table
/// `messages`.
///
/// A room's history is its rows in `messages`, followed by these. A commit adds one row with all its messages to the
/// journal, because one row costs one page however many rooms it touches. Later commits file some of them: they move
/// messages of one room to `messages` together, see ``Backlog``. A row is deleted once all its messages are filed, see
/// ``JournalRows``. After a crash, the rows show what has not been filed.
///
/// Readers call ``messages(of:)`` before their read transaction begins. A message that is filed in between is then in
/// both, and no message is in neither. Only the writer's thread changes the journal, by a ``JournalTransaction``.
final class Journal: Sendable {
    /// The bounds of the journal, each with what it is for. Tests choose others.
    struct Limits: Sendable {
        /// Maximum number of messages, apart from those of one commit: a bound of the memory. With 0, each commit files
        /// its own messages, which halves the sends per second to many rooms (`scripts/compare --scenarios C`).
        var messages = 65_536
        /// Maximum number of bytes of messages, apart from those of one commit: 32 MiB of memory.
        var bytes = 32 * 1024 * 1024
        /// Number of messages at which a room is full. A commit files one full room, and every room with twice as many.
        /// Otherwise one busy room would fill the journal, and be filed in one long commit.
        var messagesOfRoom = 1024
        /// Number of bytes of rows beyond which rooms with messages in the oldest rows are filed: 128 MiB. A bound of the
        /// table, which one quiet room would let grow.
        var rowBytes = 128 * 1024 * 1024
        /// Time in milliseconds after which a message is filed while others are sent: 5 minutes. So messages expire in
        /// time, and rows with deleted text go.
        var age: Int64 = 300_000
        /// Time in milliseconds without a send after which everything is filed. So a server that is stopped or fails
        /// while it is idle starts at once.
        var idleTime = 1000
        /// Maximum number of quarantined rooms, see ``RowFailure``. Beyond it all sends are refused.
        var quarantinedRooms = 1000
        /// Maximum number of bytes of messages of quarantined rooms: 32 MiB of memory. Beyond it all sends are refused.
        var quarantinedBytes = 32 * 1024 * 1024
        /// Maximum size of ``ClientMessageFilter`` in bytes: 8 MiB, for 4 million ids.
        var filterBytes = 8 * 1024 * 1024
        /// Maximum number of messages of a room whose client message ids are read into the filter. Otherwise the filter
        /// would not help rooms that are older than the process.
        var filterFill = 8192
    }

    /// The messages that a transaction files before it does anything else.
    enum Filing {
        case none
        /// As many as it takes for the journal's bounds to hold.
        case due
        /// About this many messages, the ones that have waited longest.
        case oldest(Int)
        /// The messages in rows before this one.
        case rows(before: Int64)
        /// All of these rooms.
        case rooms(ArraySlice<RoomID>)
    }

    private struct State {
        var backlog: Backlog
        var rows: JournalRows
        /// The number of the row for the next room that is quarantined. These count down from the first row.
        var quarantineRow: Int64 = -1
        /// The time when everything is filed if nothing is sent before.
        var idleFiling: ContinuousClock.Instant

        var isEmpty: Bool { rows.count == 0 && backlog.count == 0 }
    }

    let limits: Limits
    private let state: Mutex<State>

    /// Creates an empty journal.
    init(_ limits: Limits = Limits()) {
        self.limits = limits
        state = Mutex(
            State(
                backlog: Backlog(limits), rows: JournalRows(limits), idleFiling: .now + .milliseconds(limits.idleTime)))
    }

    /// Reads the rows that remain from a log that was not closed.
    ///
    /// - Throws: `SQLiteError`; `SQLITE_CORRUPT` if the rows do not continue the filed messages.
    func load(_ db: SQLiteConnection, at now: Timestamp) throws {
        var rooms: [Int64: (id: RoomID, head: Int64, isDeleted: Bool)] = [:]
        try db.forEach("SELECT id, messages FROM journal ORDER BY id") { row in
            let id = row.integer(0)
            let bytes = row.bytes(1)
            let messages = try JournalRow.messages(in: bytes) { number in
                if rooms[number] == nil { rooms[number] = try db.room(number) }
                return rooms[number]?.id
            }.filter { message in
                // A filed message stays in its row until the row is deleted. A deleted room has all its messages filed.
                let (_, head, isDeleted) = rooms[message.roomNumber]!
                guard message.seq > head, !isDeleted else { return false }
                guard message.seq == head + 1 else {
                    throw SQLiteError.damage("the journal lacks messages")
                }
                rooms[message.roomNumber]!.head = message.seq
                return true
            }
            state.withLock { state in
                for message in messages { state.backlog.append(message, row: id, at: now) }
                state.rows.append(id, bytes: bytes.count)
                // Rooms that an earlier run quarantined are filed like all others, if that is possible now.
                state.quarantineRow = min(state.quarantineRow, id - 1)
            }
        }
    }

    // MARK: Reading

    /// Returns the newest messages of a room, in order.
    func messages(of room: RoomID) -> [RecentMessage] {
        state.withLock { $0.backlog.messages(of: room) }
    }

    /// Returns the newest messages of each room. Rooms are looked up some at a time, so that the writer waits briefly.
    func messages(of rooms: some Collection<RoomID>) -> [[RecentMessage]] {
        var all: [[RecentMessage]] = []
        all.reserveCapacity(rooms.count)
        var rest = rooms[...]
        while !rest.isEmpty {
            let some = rest.prefix(Self.roomsAtOnce)
            state.withLock { state in for room in some { all.append(state.backlog.messages(of: room)) } }
            rest = rest.dropFirst(Self.roomsAtOnce)
        }
        return all
    }

    /// Number of rooms that are looked up while the lock is held, for which the writer may have to wait.
    private static let roomsAtOnce = 256

    /// The number of rooms with messages in the journal.
    var roomCount: Int { state.withLock(\.backlog.roomCount) }

    /// The rooms with messages in the journal.
    var rooms: [RoomID] { state.withLock(\.backlog.roomIDs) }

    // MARK: Filing

    /// True if every message is filed and the table has no row.
    var isEmpty: Bool { state.withLock(\.isEmpty) }

    /// The time to file everything if nothing is sent before; `nil` if the journal is empty.
    var nextIdleFiling: ContinuousClock.Instant? { state.withLock { $0.isEmpty ? nil : $0.idleFiling } }

    /// The number of the next row.
    var nextRow: Int64 { state.withLock(\.rows.next) }

    /// Returns true if rows before this one exist. They may hold messages that were changed or removed since.
    func hasRows(before row: Int64) -> Bool { state.withLock { $0.rows.count > 0 && $0.rows.first < row } }

    /// Stops filing a room, whose messages stay readable. They move to a row of their own, which no commit deletes, so
    /// that the rows that hold them now can be deleted.
    ///
    /// - Returns: false, with nothing changed, if the messages of such rooms would have too many bytes.
    func quarantine(_ room: RoomID, _ statements: WriterStatements) throws -> Bool {
        let messages = messages(of: room)
        if messages.isEmpty { return true }
        let bytes = messages.reduce(0) { $0 + $1.body.count }
        let (quarantinedBytes, row) = state.withLock { ($0.backlog.quarantinedBytes, $0.quarantineRow) }
        guard quarantinedBytes + bytes <= limits.quarantinedBytes else { return false }
        try statements.db.transaction(.immediate) { _ in
            try statements.insertJournalRow(row, JournalRow.bytes(of: messages))
        }
        state.withLock { state in
            state.quarantineRow -= 1
            state.backlog.quarantine(room)
        }
        return true
    }

    // MARK: Transactions

    fileprivate func select(_ filing: Filing, at time: Timestamp) -> Backlog.Selection {
        state.withLock { state in
            switch filing {
            case .none: Backlog.Selection()
            case .due:
                state.backlog.due(
                    before: state.rows.oldest, Timestamp(milliseconds: time.milliseconds - limits.age))
            case .oldest(let most): state.backlog.oldest(most)
            case .rows(let row): state.backlog.due(before: row)
            case .rooms(let rooms): state.backlog.selection(of: rooms)
            }
        }
    }

    fileprivate func newest(of room: RoomID) -> RecentMessage? {
        state.withLock { $0.backlog.newest(of: room) }
    }

    fileprivate func message(_ key: ClientMessageKey, in room: RoomID) -> RecentMessage? {
        state.withLock { $0.backlog.message(key, in: room) }
    }

    fileprivate func hasQuarantinedMessage(of user: UserID) -> Bool {
        state.withLock { $0.backlog.hasQuarantinedMessage(of: user) }
    }

    /// The changes of the table that a transaction has made.
    fileprivate struct Written {
        /// The number of the new row, and its bytes; 0 if there is none.
        var row: Int64
        var bytes: Int
        /// The first row that is left.
        var firstLeft: Int64
    }

    /// Writes messages as one row, and deletes some of the rows that are obsolete once `filed` is filed.
    fileprivate func write(
        _ messages: [RecentMessage], after filed: Backlog.Selection, _ statements: WriterStatements
    ) throws -> Written {
        let row = JournalRow.bytes(of: messages)
        let (number, first, firstLeft) = state.withLock { state in
            let (next, first) = (state.rows.next, state.rows.first)
            if state.rows.count == 0 { return (next, next, next) }
            let needed = state.backlog.firstRow(after: filed)
            return (next, first, state.rows.firstLeft(needed: needed, adding: row.count))
        }
        if firstLeft > first { try statements.deleteJournalRows(from: first, before: firstLeft) }
        if !row.isEmpty { try statements.insertJournalRow(number, row) }
        return Written(row: number, bytes: row.count, firstLeft: firstLeft)
    }

    fileprivate func committed(
        _ messages: [RecentMessage], after filed: Backlog.Selection, _ written: Written, at time: Timestamp
    ) {
        state.withLock { state in
            if !filed.isEmpty { state.backlog.remove(filed) }
            state.rows.removeAll(before: written.firstLeft)
            guard written.bytes > 0 else { return }
            for message in messages { state.backlog.append(message, row: written.row, at: time) }
            state.rows.append(written.row, bytes: written.bytes)
            state.idleFiling = .now + .milliseconds(limits.idleTime)
        }
    }
}

/// One commit's use of the journal: it appends messages, finds those that were sent before, and files messages.
///
/// A message is changed only while its room has no messages in the journal. So the journal's messages of a room are
/// newer, by `seq` and by revision, than all its filed messages. A commit that changes a room files it first, and files
/// at once what it sends to the room afterwards.
///
/// The journal itself changes in ``committed()``, once the transaction is durable. Confined to the writer's thread.
struct JournalTransaction: CommitStore {
    private let journal: Journal
    private let filter: ClientMessageFilter
    private let statements: WriterStatements
    let db: SQLiteConnection
    private let time: Timestamp
    private var filed: Backlog.Selection
    private var new = RecentMessageList()
    /// The rooms that are read-only because their rows are damaged, see ``RowFailure``.
    private let quarantined: Set<RoomID>
    /// The rooms that have no messages in the journal during this transaction.
    private var filedRooms: Set<RoomID> = []
    private var written: Journal.Written?

    /// Creates a transaction at `time` that files messages, and appends at most `count`.
    init(
        _ journal: Journal, _ filter: ClientMessageFilter, quarantined: Set<RoomID> = [], filing: Journal.Filing,
        appending count: Int, at time: Timestamp, _ statements: WriterStatements
    ) {
        self.journal = journal
        self.filter = filter
        self.quarantined = quarantined
        self.time = time
        self.statements = statements
        db = statements.db
        filed = journal.select(filing, at: time)
        new.reserveCapacity(count)
    }

    /// Files the messages that it was created with. The first step of the transaction.
    ///
    /// - Throws: ``RowFailure`` with their rooms.
    func begin() throws {
        try RowFailure.of(filed.rooms) { try statements.insert(filed.messages) }
    }

    /// Adds to an error of rows the submission and the room to quarantine. Most sends to a room need the same rows, so a
    /// failed send quarantines its room. Other changes need rows of their own, such as an old message or a user's read mark,
    /// so only the change fails.
    func failure(_ error: any Error, of submission: Submission, at index: Int, hasRoom: Bool) -> any Error {
        var failure: RowFailure
        switch error {
        case let error as RowFailure: failure = error
        case let error as SQLiteError where error.isOfRows:
            failure = RowFailure(rooms: [], cause: error)
            if case .send = submission.change, let id = submission.room, hasRoom { failure.rooms = [id] }
        default: return error
        }
        failure.submission = index
        return failure
    }

    // MARK: Rooms

    /// Returns a room's filed state; `nil` if it does not exist.
    ///
    /// - Throws: ``RowFailure`` with the room.
    func room(_ id: RoomID) throws -> RoomTable.Room? { try RowFailure.of([id]) { try db.room(id) } }

    func insertRoom(_ id: RoomID, at time: Timestamp) throws -> Int64? { try statements.insertRoom(id, at: time) }

    func joined(_ user: UserID, _ room: Int64, latest: Int64?, isEngaged: Bool) throws {
        try statements.activity.joined(user, room, latest: latest, isEngaged: isEngaged)
    }

    func fillActivity(most: Int) throws -> Int64? { try statements.activity.fill(most: most) }

    // MARK: Appending

    mutating func append(_ message: NewMessage, to id: RoomID, _ room: Int64, _ key: ClientMessageKey?) throws {
        try append(
            RecentMessage(
                room: id, roomNumber: room, seq: message.stored.seq, rev: message.stored.rev,
                createdAt: message.createdAt, sender: message.sender, key: key, body: message.stored.body))
    }

    /// Adds a new message, the newest of its room.
    mutating func append(_ message: RecentMessage) throws {
        // The key stays if the transaction fails. That costs one lookup.
        insertIntoFilter(message)
        if filedRooms.contains(message.room) { try statements.insert([message]) } else { new.append(message) }
    }

    /// Returns true if a client message id is known to be new in a room without a look at the room's messages.
    func isNew(_ key: ClientMessageKey, in room: RoomTable.Room) -> Bool {
        room.filter == filter.number && !filter.mayContain(key.hash(in: room.number))
    }

    /// Returns the message that was sent with a client message id; `nil` if there is none.
    func message(
        sentAs key: ClientMessageKey, in id: RoomID, _ room: inout RoomTable.Room
    ) throws -> StoredMessage? {
        if isNew(key, in: room) { return nil }
        let isFiltered = room.filter == filter.number
        if !filedRooms.contains(id), let message = new.first(key, in: room.number) ?? journal.message(key, in: id) {
            return StoredMessage(seq: message.seq, rev: message.rev, body: message.body)
        }
        let stored = try db.message(room: room.number, sender: key.sender, clientMessageID: key.id)
        if !isFiltered, stored == nil { try fillFilter(of: id, &room) }
        return stored
    }

    /// Adds all client message ids of a room to the filter, once the lookups in the room have taken as long as reading
    /// them all takes.
    private func fillFilter(of id: RoomID, _ room: inout RoomTable.Room) throws {
        room.lookups += 1
        guard room.head <= journal.limits.filterFill, Int64(room.lookups) * Self.readsOfLookup >= room.head
        else { return }
        let number = filter.number
        try db.forEachClientMessageKey(of: room.number) { filter.insert($0) }
        for message in journal.messages(of: id) { insertIntoFilter(message) }
        for message in new.messages where message.roomNumber == room.number { insertIntoFilter(message) }
        // If the filter has become full meanwhile and has dropped the first ids, it has another number.
        room.filter = number
        room.lookups = 0
    }

    /// The number of client message ids that are read in the time of one lookup.
    private static let readsOfLookup: Int64 = 8

    private func insertIntoFilter(_ message: RecentMessage) {
        guard let hash = message.keyHash else { return }
        filter.insert(ClientMessageKey.hash(hash, in: message.roomNumber))
    }

    // MARK: Looking up

    /// Replaces a room's filed state with that of its newest message in the journal, if there is one.
    func complete(_ room: inout RoomTable.Room, _ id: RoomID) {
        if let newest = journal.newest(of: id) {
            (room.facts.head, room.facts.rev, room.facts.latest) = (newest.seq, newest.rev, newest.createdAt)
        }
        // A room without messages has no client message ids, so the filter has them all.
        if room.head == 0 { room.filter = filter.number }
    }

    /// Returns true if a message of a user in a room is not filed.
    func hasMessage(of user: UserID, in id: RoomID, _ room: RoomTable.Room) -> Bool {
        journal.messages(of: id).contains { $0.sender == user }
            || new.messages.contains { $0.roomNumber == room.number && $0.sender == user }
    }

    func reindex(_ message: RowKey, _ body: [UInt8]) throws { try statements.search.replace(message, by: body) }

    func unindex(from first: RowKey, through last: RowKey) throws {
        try statements.search.remove(from: first, through: last)
    }

    func changedSearchable(_ room: Int64) { statements.search.add(room) }

    // MARK: Filing

    /// Files all messages of a room, so that they can be changed.
    ///
    /// - Throws: ``RowFailure`` with the room, also if it is quarantined.
    mutating func file(_ id: RoomID, _ room: RoomTable.Room) throws {
        if quarantined.contains(id) { throw RowFailure(rooms: [id], cause: .quarantined) }
        guard filedRooms.insert(id).inserted else { return }
        var messages = new.removeAll(of: room.number)
        if !filed.contains(id) {
            let unfiled = journal.messages(of: id)
            filed.add(id, unfiled)
            messages = unfiled + messages
        }
        try RowFailure.of([id]) { try statements.insert(messages) }
    }

    func refusal(of room: RoomID) -> Problem? {
        !quarantined.isEmpty && quarantined.contains(room) ? .roomUnavailable : nil
    }

    /// Returns an error if a quarantined room holds a message of the user. It is filed when the log is next opened.
    func refusal(ofErasing user: UserID) -> (any Error)? {
        journal.hasQuarantinedMessage(of: user) ? SQLiteError.quarantined : nil
    }

    // MARK: Committing

    /// Writes the appended messages, and deletes obsolete rows. The last step of the transaction.
    mutating func write() throws {
        if journal.limits.messages == 0 {
            for message in new.messages { try RowFailure.of([message.room]) { try statements.insert([message]) } }
            new = RecentMessageList()
        }
        written = try journal.write(new.messages, after: filed, statements)
    }

    /// Shows the changes to readers. Called once the transaction is durable.
    func committed() {
        if let written { journal.committed(new.messages, after: filed, written, at: time) }
    }
}

extension WriterStatements {
    /// Files all messages of a journal that no log has open. Must be called in a transaction.
    func fileAll() throws {
        let journal = Journal()
        try journal.load(db, at: .now())
        try insert(journal.messages(of: journal.rooms).flatMap { $0 })
        try db.execute("DELETE FROM journal")
    }
}
