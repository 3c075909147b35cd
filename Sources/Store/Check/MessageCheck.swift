import Wire

/// Checks rooms, messages and the rows that belong to messages, reading their tables side by side in key order.
final class MessageCheck {
    private let findings: Findings
    private let selectRooms: PreparedStatement
    private let selectMessages: PreparedStatement
    private let selectChanges: PreparedStatement
    private let selectReactions: PreparedStatement
    private let selectFirstContents: PreparedStatement
    private let selectClientIDs: PreparedStatement
    /// Deleted messages whose reactions a job still has to remove.
    private let pendingReactions: Set<Int64>
    private var messages: Int64 = 0
    /// True if the current room has been deleted. A job removes its rows in parts, reactions before messages.
    private var isRoomDeleted = false

    init(_ db: Connection, _ findings: Findings) throws {
        self.findings = findings
        selectRooms = try PreparedStatement("SELECT id, name, deleted FROM rooms ORDER BY id", isLong: true, db)
        selectMessages = try PreparedStatement(
            "SELECT id, rev, changed, created_at, sender, client_message_id, body FROM messages ORDER BY id",
            isLong: true, db)
        selectChanges = try PreparedStatement(
            "SELECT changed, id FROM messages WHERE changed IS NOT NULL ORDER BY changed", isLong: true, db)
        selectReactions = try PreparedStatement(
            "SELECT message, key, user, rev FROM reactions ORDER BY message, key, rev", isLong: true, db)
        selectFirstContents = try PreparedStatement(
            "SELECT message, length(fingerprint) FROM first_contents ORDER BY message", isLong: true, db)
        selectClientIDs = try PreparedStatement(
            """
            SELECT id >> 36, sender, client_message_id, id FROM messages WHERE client_message_id IS NOT NULL
            ORDER BY id >> 36, sender, client_message_id
            """, isLong: true, db)
        let selectPending = try PreparedStatement("SELECT number FROM jobs WHERE kind = 'reactions'", db)
        pendingReactions = Set(try selectPending.allRows { $0.integer(0) })
    }

    /// The number of messages between two reports.
    private static let reportEach: Int64 = 10_000

    /// Checks all messages.
    ///
    /// - Parameter progress: called from time to time with the number of messages checked so far.
    func run(progress: (Int64) -> Void) throws {
        try selectRooms.withRows { rooms in
            try selectChanges.withRows { changes in
                try selectReactions.withRows { reactions in
                    try selectFirstContents.withRows { firstContents in
                        var fold = RoomFold("")
                        var room: Int64?
                        try selectMessages.forEachRow { row in
                            let key = RowKey(rawValue: row.integer(0))
                            if key.room != room {
                                fold = RoomFold(try name(of: key.room, &rooms))
                                room = key.room
                            }
                            let message = try check(row, key, &fold, &changes)
                            try checkReactions(of: message, key, fold.name, &reactions)
                            try checkFirstContent(of: message, key, fold.name, &firstContents)
                            messages += 1
                            if messages % Self.reportEach == 0 { progress(messages) }
                        }
                        _ = try name(of: .max, &rooms)
                        try checkReactions(of: nil, RowKey(rawValue: .max), "", &reactions)
                        try checkFirstContent(of: nil, RowKey(rawValue: .max), "", &firstContents)
                    }
                }
            }
        }
        findings.count(messages: messages)
        try checkClientIDs()
    }

    /// Advances to a room, and returns its name.
    private func name(of number: Int64, _ rooms: inout PreparedStatement.Rows) throws -> String {
        while rooms.hasRow {
            let (id, name) = (rooms.row.integer(0), rooms.row.text(1))
            if id > number { break }
            isRoomDeleted = rooms.row.integer(2) == 1
            findings.count(rooms: isRoomDeleted ? 0 : 1)
            if (try? RoomID(name)) == nil { findings.add("this is not a valid room id", room: name) }
            try rooms.next()
            if id == number { return name }
        }
        let name = "#\(number)"
        if number != .max { findings.add("there are messages for this room number, but no such room", room: name) }
        return name
    }

    /// Checks a message's row and its snapshot.
    private func check(
        _ row: borrowing PreparedStatement.Row, _ key: RowKey, _ fold: inout RoomFold,
        _ changes: inout PreparedStatement.Rows
    ) throws -> Message? {
        let (sentAt, changed) = (row.integer(1), row.isNull(2) ? nil : RowKey(rawValue: row.integer(2)))
        fold.add(key.place, sentAt: sentAt, createdAt: row.integer(3), findings)
        if let changed, changed.room != key.room || changed.place <= sentAt {
            findings.add(
                "this message was last changed at revision \(changed.place) of room number \(changed.room), but sent at "
                    + "revision \(sentAt) of room number \(key.room)", room: fold.name, seq: key.place)
        }
        // Both statements return revisions in rising order, so a revision that occurs in both is found here.
        let sent = RowKey(room: key.room, sentAt).rawValue
        while changes.hasRow, changes.row.integer(0) <= sent {
            if changes.row.integer(0) == sent {
                let other = RowKey(rawValue: changes.row.integer(1)).place
                findings.add(
                    "this message was sent at revision \(sentAt), but message \(other) was changed at that revision",
                    room: fold.name, seq: key.place)
            }
            try changes.next()
        }
        let facts = MessageFacts(
            room: fold.name, seq: key.place, rev: changed?.place ?? sentAt, createdAt: row.integer(3),
            sender: row.text(4),
            clientMessageID: row.isNull(5) ? nil : row.text(5))
        let snapshot = row.bytes(6)
        guard let message = fold.read(snapshot, of: facts, findings) else { return nil }
        if message.deleted, !message.reactions.isEmpty || !message.content.isSame(as: Content()) {
            findings.add("this message is deleted, but still has content", room: fold.name, seq: key.place)
        }
        return message
    }

    /// Checks the reactions to a message; `nil` stands for a message that cannot be read.
    private func checkReactions(
        of message: Message?, _ key: RowKey, _ name: String, _ reactions: inout PreparedStatement.Rows
    ) throws {
        var fold = ReactionFold()
        while reactions.hasRow, reactions.row.integer(0) <= key.rawValue {
            let id = reactions.row.integer(0)
            if id == key.rawValue {
                fold.add(reactions.row.text(1), reactions.row.text(2), rev: reactions.row.integer(3))
            } else {
                addOrphan("there is a reaction to this message, but no message", RowKey(rawValue: id))
            }
            try reactions.next()
        }
        if message?.deleted == true, pendingReactions.contains(key.rawValue) { return }
        if !isRoomDeleted, let message, let difference = fold.difference(from: message) {
            findings.add(difference, room: name, seq: key.place)
        }
    }

    /// Checks that the content first sent is stored for each message that needs it, and for no other.
    private func checkFirstContent(
        of message: Message?, _ key: RowKey, _ name: String, _ firstContents: inout PreparedStatement.Rows
    ) throws {
        var isKnown = false
        while firstContents.hasRow, firstContents.row.integer(0) <= key.rawValue {
            let id = firstContents.row.integer(0)
            if id == key.rawValue {
                isKnown = true
                if firstContents.row.integer(1) != 32 {
                    findings.add("the hash of the original content is truncated", room: name, seq: key.place)
                }
            } else {
                addOrphan("there is a hash of the original content, but no message", RowKey(rawValue: id))
            }
            try firstContents.next()
        }
        guard let message else { return }
        let isNeeded = message.clientMessageID != nil && !message.isAsSent
        if isNeeded, !isKnown {
            findings.add("the hash of the original content is missing", room: name, seq: key.place)
        } else if isKnown, !isNeeded {
            findings.add(
                "there is a hash of the original content, but the message was never edited", room: name, seq: key.place)
        }
    }

    private func addOrphan(_ text: String, _ key: RowKey) {
        findings.add(text, room: "#\(key.room)", seq: key.place)
    }

    /// Finds client message ids that a sender has used twice in a room. The statement returns them one after the other.
    private func checkClientIDs() throws {
        var last: (room: Int64, sender: [UInt8], id: [UInt8], seq: Int64)?
        try selectClientIDs.forEachRow { row in
            let next = (
                room: row.integer(0), sender: row.bytes(1), id: row.bytes(2),
                seq: RowKey(rawValue: row.integer(3)).place
            )
            if let last, last.room == next.room, last.sender == next.sender, last.id == next.id {
                findings.add(
                    "this message has the same client_message_id as message \(last.seq)", room: "#\(next.room)",
                    seq: next.seq)
            }
            last = next
        }
    }
}
