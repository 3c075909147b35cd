import Chat
import Wire

/// The database during an import: the state of its rooms, and messages waiting to be inserted.
///
/// Confined to the writing connection.
struct ImportTarget {
    /// The counts of the import, including the current transaction.
    var contents = HistoryImport.Contents()
    /// True once the first line of an export has been read.
    private(set) var isExport = false
    /// True once the last line of an export has been read.
    private(set) var hasEnded = false
    /// An error of the database, which is not the fault of a line.
    private(set) var failure: (any Error)?

    private let statements: WriterStatements
    private let fingerprinter: Fingerprinter
    /// The time of the import.
    private let now: Timestamp
    /// The latest `created_at` accepted, in milliseconds since 1970.
    private var latest: Int64 { now.milliseconds + HistoryImport.mostAhead }
    private var rooms: [RoomID: Room] = [:]
    private var pending: [RecentMessage] = []
    private var messages: Int64 = 0

    /// Maximum number of messages that one statement inserts.
    private static let mostPending = 16

    /// A room, with the positions of its messages in the file and in the database.
    private struct Room {
        var number: Int64
        var head: Int64
        var rev: Int64
        var latest: Timestamp
        /// True if the import has made it.
        var isNew = false
        /// Runs of messages that are consecutive in the file and in the database. Usually there is one.
        var runs: [(first: Int64, last: Int64, offset: Int64)] = []

        /// Records that the message with `seq` in the file has the `seq` `newSeq` in the room.
        mutating func note(_ seq: Int64, isAt newSeq: Int64) {
            if let last = runs.last, last.last + 1 == seq, last.offset == newSeq - seq {
                runs[runs.count - 1].last = seq
            } else if !runs.contains(where: { $0.first <= seq && seq <= $0.last && $0.offset == newSeq - seq }) {
                runs.append((seq, seq, newSeq - seq))
            }
        }

        /// Returns the room's `seq` for a `seq` of the file; `nil` if no earlier line had it.
        func newSeq(of seq: Int64) -> Int64? {
            if let run = runs.last(where: { $0.first <= seq && seq <= $0.last }) { return seq + run.offset }
            // The file continues the room, so the earlier messages are in the database.
            guard let first = runs.first, seq < first.first, first.offset == 0 else { return nil }
            return seq
        }
    }

    init(_ statements: WriterStatements, at now: Timestamp) throws {
        self.statements = statements
        fingerprinter = try Fingerprinter(statements.db)
        self.now = now
        // A check then expects what erasures have left in the database that the lines come from.
        try statements.db.run("INSERT INTO meta (key, value) VALUES ('imported', '1') ON CONFLICT DO NOTHING")
    }

    /// Imports a line.
    ///
    /// - Throws: the problem of the line. An error of the database goes to ``failure`` instead.
    mutating func take(_ line: TransferLine) throws(Problem) {
        guard !hasEnded else { throw .invalidField("type", must: "end on the last line only") }
        do {
            switch line {
            case .start:
                guard contents.lines == 1 else {
                    throw Problem.invalidField("type", must: "export on the first line only")
                }
                isExport = true
            case .room(let id, let settings, let direct): try takeRoom(id, settings, direct)
            case .member(let id, let member, let isHidden): try takeMember(id, member, isHidden)
            case .message(let message):
                messages += 1
                try takeMessage(message)
            case .read(let id, let mark): try takeRead(id, mark)
            case .block(let block, let user):
                guard block.user != user else { throw Problem.blockOfOneself }
                // Of the user's own, the maximum.
                guard try !statements.db.hasMaximumBlocks(user) || statements.db.blocks(user, block.user) else {
                    throw Problem.tooManyBlocks
                }
                try statements.db.setBlock(block, by: user)
            case .profile(let profile): try takeProfile(profile)
            case .notify(let id, let user, let settings):
                guard let room = try room(id) else { throw Problem.roomNotFound }
                // Existing settings stay as they are, until they end.
                if let known = try statements.db.settings(of: room.number, for: user).notify, known.isInForce(at: now) {
                    return
                }
                try statements.db.setNotify(settings.isDefault ? nil : settings, of: user, in: room.number)
            case .end(let count):
                guard count == messages else {
                    throw Problem.invalidField("messages", must: "\(messages), the number of messages in the file")
                }
                hasEnded = true
            }
        } catch let problem as Problem {
            throw problem
        } catch {
            failure = error
        }
    }

    /// Inserts the waiting messages.
    mutating func flush() throws {
        try statements.insert(pending)
        pending.removeAll(keepingCapacity: true)
    }

    // MARK: Rooms

    private mutating func takeRoom(_ id: RoomID, _ settings: RoomSettings, _ direct: DirectPair?) throws {
        // An existing room keeps its settings.
        guard try room(id) == nil else { return }
        let room = try makeRoom(id)
        let (db, number) = (statements.db, room.number)
        try db.set(settings, of: number)
        if let direct {
            try db.makeDirect(number, direct)
            for user in [direct.first, direct.second] where user != .deleted {
                try db.setRole(.owner, of: user, in: number)
            }
        }
    }

    private mutating func takeMember(_ id: RoomID, _ member: RoomMember, _ isHidden: Bool) throws {
        guard let room = try room(id) else { throw Problem.roomNotFound }
        if id.isDirect {
            // Its line has made both members.
            guard try statements.db.role(of: member.user, in: room.number) != nil else { throw Problem.directRoom }
            // In an existing room it is still in the lists in which it is now.
            if isHidden, room.isNew { try statements.db.setHidden(true, for: member.user, in: room.number) }
            return
        }
        // An existing member keeps its role.
        guard try statements.db.role(of: member.user, in: room.number) == nil else { return }
        try statements.db.setRole(member.role, of: member.user, in: room.number)
    }

    private mutating func takeRead(_ id: RoomID, _ mark: ReadReceipt) throws {
        guard let room = try room(id) else { throw Problem.roomNotFound }
        if let time = mark.at, time.milliseconds > latest {
            throw Problem.invalidField("at", must: "a time that is not in the future")
        }
        let seq = mark.seq
        // Finds the last message of the file at or before the mark. Without a `seq` in the file, the mark stays as it
        // is.
        let run = room.runs.last { $0.first <= seq }
        let newSeq = run.map { min(seq, $0.last) + $0.offset } ?? (room.runs.isEmpty ? seq : room.newSeq(of: seq) ?? 0)
        guard newSeq > 0 else { return }
        try statements.db.raiseMark(to: min(newSeq, room.head), for: mark.user, in: room.number, at: mark.at)
    }

    private func takeProfile(_ profile: Profile) throws {
        // An existing profile stays as it is.
        guard try statements.db.profile(of: profile.user) == nil else { return }
        let settings = ProfileSettings(name: profile.name, avatar: profile.avatar, data: profile.data)
        try statements.db.setProfile(settings, of: profile.user)
    }

    private mutating func room(_ id: RoomID) throws -> Room? {
        if let room = rooms[id] { return room }
        guard let known = try statements.db.room(id) else { return nil }
        guard !known.facts.isDeleted else { throw Problem.roomDeleted }
        let room = Room(number: known.number, head: known.head, rev: known.rev, latest: known.latest)
        rooms[id] = room
        return room
    }

    private mutating func makeRoom(_ id: RoomID, at time: Timestamp = .now()) throws -> Room {
        guard let number = try statements.insertRoom(id, at: time) else {
            throw Problem.unavailable("The database has the maximum number of rooms.")
        }
        let room = Room(number: number, head: 0, rev: 0, latest: .earliest, isNew: true)
        rooms[id] = room
        contents.rooms += 1
        return room
    }

    // MARK: Messages

    private mutating func takeMessage(_ message: TransferMessage) throws {
        let known = try room(message.room)
        // Only its line makes a direct room.
        if known == nil, message.room.isDirect { throw Problem.roomNotFound }
        var room = try known ?? makeRoom(message.room, at: message.createdAt)
        if let newSeq = try newSeq(of: message, in: room) {
            contents.repeated += 1
            if let seq = message.seq { room.note(seq, isAt: newSeq) }
            rooms[message.room] = room
            return
        }
        guard message.createdAt >= room.latest else {
            throw Problem.invalidField(
                "created_at", must: "at or after that of the room's newest message, \(room.latest)")
        }
        guard message.createdAt.milliseconds <= latest else {
            throw Problem.invalidField("created_at", must: "a time that is not in the future")
        }
        var content = message.content
        if let replyTo = content.replyTo {
            content.replyTo = try newSeq(ofReply: replyTo, to: message, in: room)
        }
        if message.pinned != nil, try statements.db.countPins(of: room.number) >= Limits.pins {
            throw Problem.tooManyPins
        }
        let sentAt = room.rev + 1
        let changes =
            (message.deleted || message.editedAt != nil ? 1 : 0) + message.reactions.reduce(0) { $0 + $1.users.count }
            + (message.pinned == nil ? 0 : 1)
        room.head += 1
        room.rev = sentAt + Int64(changes)
        room.latest = message.createdAt
        guard room.rev <= RowKey.maximumOrdinal else { throw Problem.unavailable("The room is full.") }
        if let seq = message.seq { room.note(seq, isAt: room.head) }
        rooms[message.room] = room
        try store(message, content, in: room, sentAt: sentAt)
        // As on a server, the first sender in a room without an owner becomes its owner.
        if room.head == 1, message.sender != .deleted, try statements.db.owners(of: room.number) == 0 {
            try statements.db.setRole(.owner, of: message.sender, in: room.number)
        }
        contents.messages += 1
    }

    /// Returns the `seq` of a message that exists already.
    private func newSeq(of message: TransferMessage, in room: Room) throws -> Int64? {
        if let id = message.clientMessageID {
            let waiting = pending.first {
                $0.roomNumber == room.number && $0.wasSent(by: message.sender, as: id)
            }
            if let waiting { return waiting.seq }
            return try statements.db.message(room: room.number, sender: message.sender, clientMessageID: id)?.seq
        }
        // The message is expected after the previous line's message. If it is the room's first message in the file, its
        // `seq` in the file is also expected to be its `seq` in the room.
        guard let seq = message.seq else { return nil }
        let newSeq = seq + (room.runs.last?.offset ?? 0)
        let oldest = room.head - Int64(pending.count { $0.roomNumber == room.number })
        guard newSeq > 0, newSeq <= oldest,
            let body = try statements.db.snapshot(of: RowKey(room: room.number, newSeq))
        else { return nil }
        let stored = try Message(decoding: body)
        let isSame =
            stored.clientMessageID == nil && stored.sender == message.sender
            && stored.createdAt == message.createdAt
        return isSame ? newSeq : nil
    }

    /// Returns the room's `seq` of the message that a reply refers to.
    private func newSeq(ofReply replyTo: Int64, to message: TransferMessage, in room: Room) throws -> Int64 {
        // Without a `seq` in the file, `reply_to` is a `seq` of the room.
        let newSeq = message.seq == nil ? replyTo : room.newSeq(of: replyTo)
        guard let newSeq, (1...max(1, room.head)).contains(newSeq), room.head > 0 else { throw Problem.replyToNotFound }
        return newSeq
    }

    private mutating func store(
        _ message: TransferMessage, _ content: Content, in room: Room, sentAt: Int64
    ) throws {
        let snapshot = Message(
            room: message.room, seq: room.head, rev: room.rev, sender: message.sender,
            clientMessageID: message.clientMessageID, content: content,
            reactions: message.reactions.map { reaction in
                Reaction(
                    key: reaction.key.string, count: reaction.users.count,
                    users: Array(reaction.users.prefix(Limits.reactionUsers)))
            }, pinned: message.pinned, createdAt: message.createdAt, editedAt: message.editedAt,
            deleted: message.deleted)
        var body: [UInt8] = []
        snapshot.encode(into: &body)
        let key = message.clientMessageID.map { ClientMessageKey(sender: message.sender, id: $0) }
        pending.append(
            RecentMessage(
                room: message.room, roomNumber: room.number, seq: room.head, rev: sentAt, createdAt: message.createdAt,
                sender: message.sender, key: key, body: body))
        var mentions = content.mentions
        mentions.users.removeAll { $0 == message.sender || message.pastMentions.contains($0) }
        if !mentions.isEmpty {
            try statements.db.addMentions(
                mentions, of: RowKey(room: room.number, room.head), by: message.sender, at: message.createdAt)
        }
        for user in message.pastMentions { try statements.db.noteErased(user) }
        if pending.count == Self.mostPending || room.rev > sentAt { try flush() }
        guard room.rev > sentAt else { return }
        let row = RowKey(room: room.number, room.head)
        try statements.db.replaceSnapshot(of: row, by: body, change: RowKey(room: room.number, room.rev))
        // The file does not have the content first sent. A client that repeats the send gets an error; no second
        // message is stored.
        if key != nil, !snapshot.isAsSent {
            try statements.db.insertFingerprint(fingerprinter.fingerprint(of: content), of: row)
        }
        if let pin = message.pinned { try statements.db.addPin(of: row, by: pin.by, rev: room.rev) }
        var rev = sentAt + (snapshot.isAsSent ? 0 : 1)
        for reaction in message.reactions {
            for user in reaction.users {
                rev += 1
                try statements.db.addReaction(reaction.key, by: user, rev: rev, to: row)
            }
        }
    }
}
