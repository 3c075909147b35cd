import Chat
import Wire

/// Checks that the journal's messages of each room continue the room's filed messages.
final class JournalCheck {
    private struct Key: Hashable {
        let room: Int64
        let sender: UserID
        let id: String
    }

    private let findings: Findings
    private let db: SQLiteConnection
    private var rooms: [Int64: RoomFold] = [:]
    private var keys: Set<Key> = []
    /// Deleted rooms with no unfiled messages.
    private var deleted: Set<Int64> = []

    init(_ db: SQLiteConnection, _ findings: Findings) {
        self.findings = findings
        self.db = db
    }

    /// Checks all rows. A server bounds their bytes, see ``Journal/Limits/rowBytes``.
    ///
    /// - Returns: the highest `seq` of each room that the journal has messages of, by the room's number.
    func run() throws -> [Int64: Int64] {
        try db.forEach("SELECT id, messages FROM journal ORDER BY id") { row in
            let number = row.integer(0)
            do {
                let messages = try JournalRow.messages(in: row.bytes(1)) {
                    try room($0).map { RoomID(trusted: $0.name) }
                }
                try messages.forEach(check)
            } catch let error as SQLiteError where error.isDamage {
                findings.add("row \(number) of the journal cannot be read")
            }
        }
        return rooms.mapValues(\.head)
    }

    /// Returns the state of a room; `nil` if there is no room with this number.
    private func room(_ number: Int64) throws -> RoomFold? {
        if let room = rooms[number] { return room }
        guard let (id, _, isDeleted) = try db.room(number) else { return nil }
        if isDeleted { deleted.insert(number) }
        let progress = try db.progress(of: number)
        rooms[number] = RoomFold(
            id.string, head: progress.head, rev: progress.rev, createdAt: progress.head > 0 ? progress.latest : .min)
        return rooms[number]
    }

    private func check(_ message: RecentMessage) throws {
        // A filed message stays in the journal until its row is deleted.
        guard var room = rooms[message.roomNumber], message.seq > room.head, !deleted.contains(message.roomNumber)
        else { return }
        room.add(message.seq, sentAt: message.rev, createdAt: message.createdAt.milliseconds, findings)
        rooms[message.roomNumber] = room
        let facts = MessageFacts(
            room: room.name, seq: message.seq, rev: message.rev, createdAt: message.createdAt.milliseconds,
            sender: message.sender.string, clientMessageID: message.clientMessageID)
        if let read = room.read(message.body, of: facts, findings), !read.isAsSent || !read.reactions.isEmpty {
            findings.add("this message was changed, but is still in the journal", room: room.name, seq: message.seq)
        }
        findings.count(messages: 1)
        try checkMentions(of: message, in: room.name)
        guard let id = message.clientMessageID else { return }
        let filed = try db.message(room: message.roomNumber, sender: message.sender, clientMessageID: id)
        if let filed {
            findings.add(
                "this message has the same client_message_id as message \(filed.seq)", room: room.name,
                seq: message.seq)
        } else if !keys.insert(Key(room: message.roomNumber, sender: message.sender, id: id)).inserted {
            findings.add(
                "this message has the same client_message_id as an earlier one", room: room.name, seq: message.seq)
        }
    }

    /// Checks the mentions of an unfiled message, whose rows are stored with it.
    private func checkMentions(of recent: RecentMessage, in name: String) throws {
        guard let message = try? Message(decoding: recent.body) else { return }
        var fold = MentionFold()
        try db.forEach(
            "SELECT user, sender, created_at FROM mentions WHERE message = $1",
            RowKey(room: recent.roomNumber, recent.seq)
        ) { fold.add($0.text(0), sender: $0.text(1), createdAt: $0.integer(2), in: message) }
        let difference = try fold.difference(from: message, db.wasErased)
        if let difference { findings.add(difference, room: name, seq: recent.seq) }
    }
}
