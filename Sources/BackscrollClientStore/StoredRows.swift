import BackscrollClient
import Foundation
import GRDB

/// The rows of a room, within a transaction.
struct StoredRows {
    private let db: Database
    private let id: Int64
    private var epoch: String?
    private var readMark: Int64?
    private var unread: Int64?
    private var unreadRev: Int64?
    private var unsentMark: Int64?
    private var bytes: Int
    private let savedRuns: MessageRuns
    private var runs: MessageRuns

    /// Reads a room's row and runs; nil if the room is not stored.
    init?(_ db: Database, _ key: StoredRoomKey) throws {
        let statement = try db.cachedStatement(
            sql: """
                SELECT room.id, epoch, read, unsent_mark, bytes, unread, unread_rev FROM backscroll_room AS room
                JOIN backscroll_account AS account ON account.id = room.account
                WHERE account.server = ? AND account.user = ? AND room.name = ?
                """)
        guard
            let row = try Row.fetchOne(
                statement, arguments: [key.account.server, key.account.user, key.room])
        else { return nil }
        self.db = db
        id = row[0]
        epoch = row[1]
        readMark = row[2]
        unsentMark = row[3]
        bytes = row[4]
        unread = row[5]
        unreadRev = row[6]
        savedRuns = try MessageRuns.fetch(db, room: id)
        runs = savedRuns
    }

    /// Reads a room's row and runs, and creates the row if there is none.
    init(creating key: StoredRoomKey, _ db: Database) throws {
        if let rows = try StoredRows(db, key) {
            self = rows
            return
        }
        try db.execute(
            sql: "INSERT INTO backscroll_room (account, name, opened, bytes) VALUES (?, ?, 0, 0)",
            arguments: [try key.account.row(creatingIn: db), key.room])
        guard let rows = try StoredRows(db, key) else {
            throw BackscrollClientError(
                code: BackscrollClientError.storeUnavailable, message: "The store has lost a row that it just wrote.")
        }
        self = rows
    }

    // MARK: Reading

    func load(limit: Int) throws -> StoredRoom {
        let sends = try Row.fetchCursor(
            try db.cachedStatement(sql: "SELECT at, refusal, json FROM backscroll_send WHERE room = ? ORDER BY id"),
            arguments: [id])
        var result = StoredRoom(
            newest: try messages(StoreQuery(.newest, limit: limit)), unsentMark: unsentMark, sends: [], epoch: epoch)
        while let row = try sends.next() {
            let json: Data = row[2]
            result.sends.append(StoredSend(draft: try ChatDraft(json: Array(json)), at: row[0], refusal: row[1]))
        }
        return result
    }

    func messages(_ query: StoreQuery) throws -> StoredMessages? {
        guard let epoch, let (run, seqs) = query.find(in: runs, read: readMark) else { return nil }
        let rows = try Row.fetchCursor(
            try db.cachedStatement(
                sql: "SELECT json FROM backscroll_message WHERE room = ? AND seq >= ? AND seq < ? ORDER BY seq"),
            arguments: [id, seqs.lowerBound, seqs.upperBound])
        var messages: [ChatMessage] = []
        while let row = try rows.next() {
            let json: Data = row[0]
            messages.append(try ChatMessage(json: Array(json)))
        }
        guard messages.count == seqs.count, messages.first?.seq ?? seqs.lowerBound == seqs.lowerBound else {
            throw BackscrollClientError(
                code: BackscrollClientError.storeDamaged, message: "The store lacks messages that it should have.")
        }
        return StoredMessages(
            messages: messages, run: run, epoch: epoch, read: readMark, unread: unreadRev == run.rev ? unread : nil)
    }

    // MARK: Writing

    mutating func apply(_ change: StoreChange) throws {
        switch change {
        case .opened:
            try db.execute(
                sql: "UPDATE backscroll_room SET opened = (SELECT MAX(opened) + 1 FROM backscroll_room) WHERE id = ?",
                arguments: [id])
        case .page(let run, let epoch, let messages):
            if epoch != self.epoch { try forget() }
            self.epoch = epoch
            for message in messages { try keep(message) }
            runs.insert(run)
            for dropped in runs.dropExcess() where dropped.count > 0 { try drop(dropped.first...dropped.last) }
        case .frames(let from, let to, let epoch, let messages):
            guard epoch == self.epoch else { return }
            let kept = runs.advance(from: from, to: to, messages: messages.map(\.seq))
            for message in messages where kept.contains(message.seq) { try keep(message) }
            for dropped in runs.dropExcess() where dropped.count > 0 { try drop(dropped.first...dropped.last) }
        case .snapshot(let message):
            if runs.append(message.seq, rev: message.rev) { try keep(message) }
        case .forget:
            try forget()
        case .read(let seq):
            readMark = seq
        case .unread(let count, let rev):
            (unread, unreadRev) = (count, rev)
        case .unsentMark(let seq):
            unsentMark = seq
        case .send(let send):
            // A new row, so that a send that is already stored moves to the end.
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO backscroll_send (room, client_message_id, at, refusal, json)
                    VALUES (?, ?, ?, ?, ?)
                    """,
                arguments: [
                    id, send.draft.clientMessageID, send.at, send.refusal, Data(send.draft.json),
                ])
        case .refused(let clientMessageID, let code):
            try db.execute(
                sql: "UPDATE backscroll_send SET refusal = ? WHERE room = ? AND client_message_id = ?",
                arguments: [code, id, clientMessageID])
        case .removeSend(let clientMessageID):
            try db.execute(
                sql: "DELETE FROM backscroll_send WHERE room = ? AND client_message_id = ?",
                arguments: [id, clientMessageID])
        }
    }

    /// Writes the row and the runs.
    func save() throws {
        try db.cachedStatement(
            sql: """
                UPDATE backscroll_room SET epoch = ?, read = ?, unsent_mark = ?, bytes = ?, unread = ?, unread_rev = ?
                WHERE id = ?
                """
        ).execute(arguments: [epoch, readMark, unsentMark, bytes, unread, unreadRev, id])
        try runs.save(db, room: id, replacing: savedRuns)
    }

    private mutating func forget() throws {
        try db.execute(sql: "DELETE FROM backscroll_message WHERE room = ?", arguments: [id])
        runs = MessageRuns()
        bytes = 0
        epoch = nil
        // Marks are valid in their own history only.
        (readMark, unread, unreadRev) = (nil, nil, nil)
        unsentMark = nil
    }

    private mutating func drop(_ seqs: ClosedRange<Int64>) throws {
        bytes -= try MessageRuns.removeMessages(db, room: id, seqs)
    }

    /// Stores a snapshot, unless the stored one is as new or newer.
    private mutating func keep(_ message: ChatMessage) throws {
        let known = try Row.fetchOne(
            try db.cachedStatement(sql: "SELECT rev, LENGTH(json) FROM backscroll_message WHERE room = ? AND seq = ?"),
            arguments: [id, message.seq])
        var knownBytes = -GRDBClientStore.messageOverhead
        if let known {
            let rev: Int64 = known[0]
            if rev >= message.rev { return }
            knownBytes = known[1]
        }
        let json = Data(message.json)
        bytes += json.count - knownBytes
        try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO backscroll_message (room, seq, rev, json) VALUES (?, ?, ?, ?)"
        ).execute(arguments: [id, message.seq, message.rev, json])
    }
}

extension MessageRuns {
    static func fetch(_ db: Database, room: Int64) throws -> MessageRuns {
        let rows = try Row.fetchCursor(
            try db.cachedStatement(sql: "SELECT first, last, rev, has_after FROM backscroll_run WHERE room = ?"),
            arguments: [room])
        var runs: [MessageRun] = []
        while let row = try rows.next() {
            runs.append(MessageRun(first: row[0], last: row[1], rev: row[2], hasAfter: row[3]))
        }
        return MessageRuns(runs)
    }

    /// Writes the runs that have changed.
    func save(_ db: Database, room: Int64, replacing saved: MessageRuns) throws {
        let old = Set(saved.runs)
        let new = Set(runs)
        for run in old.subtracting(new) {
            try db.cachedStatement(sql: "DELETE FROM backscroll_run WHERE room = ? AND first = ?")
                .execute(arguments: [room, run.first])
        }
        for run in new.subtracting(old) {
            try db.cachedStatement(
                sql: "INSERT INTO backscroll_run (room, first, last, rev, has_after) VALUES (?, ?, ?, ?, ?)"
            ).execute(arguments: [room, run.first, run.last, run.rev, run.hasAfter])
        }
    }

    /// Removes messages, and returns the bytes that they counted.
    static func removeMessages(_ db: Database, room: Int64, _ seqs: ClosedRange<Int64>) throws -> Int {
        let arguments: StatementArguments = [room, seqs.lowerBound, seqs.upperBound]
        let bytes =
            try Int.fetchOne(
                db,
                sql: """
                    SELECT SUM(LENGTH(json) + \(GRDBClientStore.messageOverhead)) FROM backscroll_message
                    WHERE room = ? AND seq BETWEEN ? AND ?
                    """,
                arguments: arguments) ?? 0
        try db.execute(
            sql: "DELETE FROM backscroll_message WHERE room = ? AND seq BETWEEN ? AND ?", arguments: arguments)
        return bytes
    }
}

/// The eviction of messages, within a transaction.
struct Eviction {
    private let db: Database

    init(_ db: Database) {
        self.db = db
    }

    /// Removes the oldest messages of the rooms that were opened longest ago, while there are more bytes than allowed.
    func evict(beyond maximumBytes: Int) throws {
        var total =
            try Int.fetchOne(try db.cachedStatement(sql: "SELECT SUM(bytes) FROM backscroll_room")) ?? 0
        guard total > maximumBytes else { return }
        let target = Int(Double(maximumBytes) * GRDBClientStore.evictionTarget)
        let rooms = try Int64.fetchAll(db, sql: "SELECT id FROM backscroll_room WHERE bytes > 0 ORDER BY opened, id")
        for room in rooms {
            let saved = try MessageRuns.fetch(db, room: room)
            var runs = saved
            var removed = 0
            while total - removed > target, let seqs = runs.dropOldest(GRDBClientStore.evictionStep) {
                removed += try MessageRuns.removeMessages(db, room: room, seqs)
            }
            try runs.save(db, room: room, replacing: saved)
            try db.execute(
                sql: "UPDATE backscroll_room SET bytes = bytes - ? WHERE id = ?", arguments: [removed, room])
            total -= removed
            if total <= target { return }
        }
    }
}
