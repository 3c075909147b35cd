import Wire

/// Checks rooms, messages and the rows that belong to messages, reading their tables side by side in key order.
final class MessageCheck<DB: SQLDatabase> {
    private let db: DB
    private let findings: Findings
    private let selectRooms: DB.Prepared
    private let selectMessages: DB.Prepared
    private let selectChanges: DB.Prepared
    private let selectReactions: DB.Prepared
    private let selectMentions: DB.Prepared
    private let selectFirstContents: DB.Prepared
    private let selectPins: DB.Prepared
    private let selectClientIDs: DB.Prepared
    /// Deleted messages whose reactions a job still has to remove.
    private let pendingReactions: Set<Int64>
    private var messages: Int64 = 0
    /// True if the current room has been deleted. A job removes its rows in parts, those that refer to messages before the
    /// messages.
    private var isRoomDeleted = false

    init(_ db: DB, _ findings: Findings) throws {
        self.db = db
        self.findings = findings
        selectRooms = try db.prepare("SELECT id, name, deleted FROM rooms ORDER BY id", isLong: true)
        selectMessages = try db.prepare(
            "SELECT id, rev, changed, created_at, sender, client_message_id, body FROM messages ORDER BY id",
            isLong: true)
        selectChanges = try db.prepare(
            "SELECT changed, id FROM messages WHERE changed IS NOT NULL ORDER BY changed", isLong: true)
        selectReactions = try db.prepare(
            "SELECT message, key, \"user\", rev FROM reactions ORDER BY message, key, rev", isLong: true)
        selectMentions = try db.prepare(
            "SELECT message, \"user\", sender, created_at FROM mentions ORDER BY message", isLong: true)
        selectFirstContents = try db.prepare(
            "SELECT message, length(fingerprint) FROM first_contents ORDER BY message", isLong: true)
        selectPins = try db.prepare("SELECT message, \"user\", rev FROM pins ORDER BY message", isLong: true)
        selectClientIDs = try db.prepare(
            """
            SELECT id >> 36, sender, client_message_id, id FROM messages WHERE client_message_id IS NOT NULL
            ORDER BY id >> 36, sender, client_message_id
            """, isLong: true)
        pendingReactions = Set(try db.all("SELECT number FROM jobs WHERE kind = 'reactions'") { $0.integer(0) })
    }

    /// The number of messages between two reports.
    private static var reportEach: Int64 { 10_000 }

    /// Checks all messages.
    ///
    /// - Parameter progress: called from time to time with the number of messages checked so far.
    func run(progress: (Int64) -> Void) throws {
        try selectRooms.withRows { rooms in
            try selectChanges.withRows { changes in
                try selectReactions.withRows { reactions in
                    try selectFirstContents.withRows { firstContents in
                        try selectMentions.withRows { mentions in
                            try selectPins.withRows { pins in
                                try run(rooms, changes, reactions, firstContents, mentions, pins, progress)
                            }
                        }
                    }
                }
            }
        }
        findings.count(messages: messages)
        try checkClientIDs()
    }

    private func run(
        _ rooms: DB.Prepared, _ changes: DB.Prepared, _ reactions: DB.Prepared, _ firstContents: DB.Prepared,
        _ mentions: DB.Prepared, _ pins: DB.Prepared, _ progress: (Int64) -> Void
    ) throws {
        var fold = RoomFold("")
        var room: Int64?
        try selectMessages.forEachRow { row in
            let key = RowKey(rawValue: row.integer(0))
            if key.room != room {
                fold = RoomFold(try name(of: key.room, rooms))
                room = key.room
            }
            let message = try check(row, key, &fold, changes)
            try checkReactions(of: message, key, fold.name, reactions)
            try checkFirstContent(of: message, key, fold.name, firstContents)
            try checkMentions(of: message, key, fold.name, mentions)
            try checkPin(of: message, key, fold.name, pins)
            messages += 1
            if messages % Self.reportEach == 0 { progress(messages) }
        }
        _ = try name(of: .max, rooms)
        try checkReactions(of: nil, RowKey(rawValue: .max), "", reactions)
        try checkFirstContent(of: nil, RowKey(rawValue: .max), "", firstContents)
        try checkPin(of: nil, RowKey(rawValue: .max), "", pins)
    }

    /// Advances to a room, and returns its name.
    private func name(of number: Int64, _ rooms: DB.Prepared) throws -> String {
        while rooms.hasRow {
            let (id, name) = (rooms.integer(0), rooms.text(1))
            if id > number { break }
            isRoomDeleted = rooms.integer(2) == 1
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
        _ row: DB.Prepared, _ key: RowKey, _ fold: inout RoomFold,
        _ changes: DB.Prepared
    ) throws -> Message? {
        let (sentAt, changed) = (row.integer(1), row.isNull(2) ? nil : RowKey(rawValue: row.integer(2)))
        fold.add(key.ordinal, sentAt: sentAt, createdAt: row.integer(3), findings)
        if let changed, changed.room != key.room || changed.ordinal <= sentAt {
            findings.add(
                "this message was last changed at revision \(changed.ordinal) of room number \(changed.room), but sent at "
                    + "revision \(sentAt) of room number \(key.room)", room: fold.name, seq: key.ordinal)
        }
        // Both statements return revisions in rising order, so a revision that occurs in both is found here.
        let sent = RowKey(room: key.room, sentAt).rawValue
        while changes.hasRow, changes.integer(0) <= sent {
            if changes.integer(0) == sent {
                let other = RowKey(rawValue: changes.integer(1)).ordinal
                findings.add(
                    "this message was sent at revision \(sentAt), but message \(other) was changed at that revision",
                    room: fold.name, seq: key.ordinal)
            }
            try changes.next()
        }
        let facts = MessageFacts(
            room: fold.name, seq: key.ordinal, rev: changed?.ordinal ?? sentAt, createdAt: row.integer(3),
            sender: row.text(4),
            clientMessageID: row.isNull(5) ? nil : row.text(5))
        let snapshot = row.bytes(6)
        guard let message = fold.read(snapshot, of: facts, findings) else { return nil }
        if message.deleted,
            message.pinned != nil || !message.reactions.isEmpty || !message.content.isSame(as: Content())
        {
            findings.add("this message is deleted, but still has content", room: fold.name, seq: key.ordinal)
        }
        return message
    }

    /// Checks the reactions to a message; `nil` stands for a message that cannot be read.
    private func checkReactions(
        of message: Message?, _ key: RowKey, _ name: String, _ reactions: DB.Prepared
    ) throws {
        var fold = ReactionFold()
        while reactions.hasRow, reactions.integer(0) <= key.rawValue {
            let id = reactions.integer(0)
            if id == key.rawValue {
                fold.add(reactions.text(1), reactions.text(2), rev: reactions.integer(3))
            } else {
                addOrphan("there is a reaction to this message, but no message", RowKey(rawValue: id))
            }
            try reactions.next()
        }
        if message?.deleted == true, pendingReactions.contains(key.rawValue) { return }
        if !isRoomDeleted, let message, let difference = fold.difference(from: message) {
            findings.add(difference, room: name, seq: key.ordinal)
        }
    }

    /// Checks that the content first sent is stored for each message that needs it, and for none that cannot. A message that
    /// is as it was sent has it if the app has changed its content before.
    private func checkFirstContent(
        of message: Message?, _ key: RowKey, _ name: String, _ firstContents: DB.Prepared
    ) throws {
        var isKnown = false
        while firstContents.hasRow, firstContents.integer(0) <= key.rawValue {
            let id = firstContents.integer(0)
            if id == key.rawValue {
                isKnown = true
                if firstContents.integer(1) != 32 {
                    findings.add("the hash of the original content is truncated", room: name, seq: key.ordinal)
                }
            } else {
                addOrphan("there is a hash of the original content, but no message", RowKey(rawValue: id))
            }
            try firstContents.next()
        }
        guard let message else { return }
        let isNeeded = message.clientMessageID != nil && !message.isAsSent
        if isNeeded, !isKnown, !isRoomDeleted {
            findings.add("the hash of the original content is missing", room: name, seq: key.ordinal)
        } else if isKnown, message.clientMessageID == nil {
            findings.add(
                "there is a hash of the original content, but the message has no client_message_id", room: name,
                seq: key.ordinal)
        }
    }

    /// Checks the mentions of a message; `nil` stands for a message that cannot be read. Rows after a room's last filed
    /// message may be of unfiled ones, see ``JournalCheck`` and ``PeopleCheck``.
    private func checkMentions(of message: Message?, _ key: RowKey, _ name: String, _ mentions: DB.Prepared) throws {
        var fold = MentionFold()
        while mentions.hasRow, mentions.integer(0) <= key.rawValue {
            let id = RowKey(rawValue: mentions.integer(0))
            if id.rawValue == key.rawValue {
                fold.add(mentions.text(1), sender: mentions.text(2), createdAt: mentions.integer(3), in: message)
            } else if id.room == key.room {
                addOrphan("there is a mention of this message, but no message", id)
            }
            try mentions.next()
        }
        guard !isRoomDeleted, let message else { return }
        let difference = try fold.difference(from: message, db.wasErased)
        if let difference { findings.add(difference, room: name, seq: key.ordinal) }
    }

    /// Checks that a message is listed as pinned exactly if its snapshot says so; `nil` stands for one that cannot be read.
    private func checkPin(of message: Message?, _ key: RowKey, _ name: String, _ pins: DB.Prepared) throws {
        var user: String?
        while pins.hasRow, pins.integer(0) <= key.rawValue {
            let id = pins.integer(0)
            if id == key.rawValue {
                user = pins.text(1)
                if let message, pins.integer(2) > message.rev {
                    findings.add("this message was pinned after its latest change", room: name, seq: key.ordinal)
                }
            } else {
                addOrphan("this message is listed as pinned, but there is no message", RowKey(rawValue: id))
            }
            try pins.next()
        }
        guard let message, !isRoomDeleted, message.pinned?.by.string != user else { return }
        findings.add(
            "this message is pinned by \(message.pinned?.by.string ?? "nobody"), but listed as pinned by "
                + "\(user ?? "nobody")", room: name, seq: key.ordinal)
    }

    private func addOrphan(_ text: String, _ key: RowKey) {
        findings.add(text, room: "#\(key.room)", seq: key.ordinal)
    }

    /// Finds client message ids that a sender has used twice in a room. The statement returns them one after the other.
    private func checkClientIDs() throws {
        var last: (room: Int64, sender: [UInt8], id: [UInt8], seq: Int64)?
        try selectClientIDs.forEachRow { row in
            let next = (
                room: row.integer(0), sender: row.bytes(1), id: row.bytes(2),
                seq: RowKey(rawValue: row.integer(3)).ordinal
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
