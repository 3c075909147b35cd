extension Message {
    /// Decodes a snapshot that ``encode(into:)`` has written.
    ///
    /// - Throws: 500 `internal_error` if it is not such a snapshot. The bounds on client input are not checked: they
    ///   may have been wider when the message was sent.
    public init(decoding snapshot: [UInt8]) throws(Problem) {
        do throws(Problem) {
            var reader = FieldReader(try JSONScanner(snapshot))
            var fields = Fields()
            guard try reader.enterObject("message") else { throw .invalidJSON("It is not an object.") }
            while let name = try reader.json.nextName() {
                if try !fields.decode(name, from: &reader) { try reader.json.skipValue() }
            }
            try reader.json.finish()
            if let fault = reader.fault, fault.status == 400 { throw fault }
            self = try fields.message()
        } catch {
            throw .internalError("A stored message cannot be read: \(error.detail)")
        }
    }

    /// Decodes a snapshot, as ``init(decoding:)-([UInt8])`` does.
    public init(decoding snapshot: Span<UInt8>) throws(Problem) {
        try self.init(decoding: [UInt8](copying: snapshot))
    }

    /// The fields of a snapshot read so far.
    private struct Fields {
        var room: String?
        var seq: Int64?
        var rev: Int64?
        var sender: String?
        var clientMessageID: String?
        var content = Content()
        var reactions: [Reaction] = []
        var pinned: Pin?
        var createdAt: Timestamp?
        var editedAt: Timestamp?
        var deleted = false

        mutating func decode(_ name: JSONString, from reader: inout FieldReader) throws(Problem) -> Bool {
            if reader.json.matches(name, "room") {
                room = try reader.string("room")
            } else if reader.json.matches(name, "seq") {
                seq = try reader.integer("seq")
            } else if reader.json.matches(name, "rev") {
                rev = try reader.integer("rev")
            } else if reader.json.matches(name, "sender") {
                sender = try reader.string("sender")
            } else if reader.json.matches(name, "client_message_id") {
                clientMessageID = try reader.string("client_message_id")
            } else if reader.json.matches(name, "reactions") {
                reactions = try reader.reactions()
            } else if reader.json.matches(name, "pinned") {
                pinned = try reader.pin()
            } else if reader.json.matches(name, "created_at") {
                createdAt = try reader.string("created_at").flatMap { Timestamp(rfc3339: $0) }
            } else if reader.json.matches(name, "edited_at") {
                editedAt = try reader.string("edited_at").flatMap { Timestamp(rfc3339: $0) }
            } else if reader.json.matches(name, "deleted") {
                deleted = try reader.boolean("deleted") ?? false
            } else {
                return try content.decode(name, from: &reader)
            }
            return true
        }

        func message() throws(Problem) -> Message {
            guard let room, let seq, let rev, let sender, let createdAt else {
                throw .internalError("One of room, seq, rev, sender and created_at is missing.")
            }
            return Message(
                room: RoomID(trusted: room), seq: seq, rev: rev, sender: UserID(trusted: sender),
                clientMessageID: clientMessageID, content: content, reactions: reactions, pinned: pinned,
                createdAt: createdAt, editedAt: editedAt, deleted: deleted)
        }
    }
}

extension FieldReader {
    fileprivate mutating func reactions() throws(Problem) -> [Reaction] {
        guard try enterArray("reactions") else { return [] }
        var reactions: [Reaction] = []
        while try json.nextElement() {
            if let reaction = try reaction(reactions.count) { reactions.append(reaction) }
        }
        return reactions
    }

    private mutating func reaction(_ index: Int) throws(Problem) -> Reaction? {
        guard try enterObject(FieldName("reactions", index)) else { return nil }
        var reaction = Reaction(key: "", count: 0, users: [])
        while let name = try json.nextName() {
            if json.matches(name, "key") {
                reaction.key = try string(FieldName("reactions", index, "key")) ?? ""
            } else if json.matches(name, "count") {
                reaction.count = Int(try integer(FieldName("reactions", index, "count")) ?? 0)
            } else if json.matches(name, "users") {
                reaction.users = try users()
            } else {
                try json.skipValue()
            }
        }
        return reaction
    }

    private mutating func users() throws(Problem) -> [UserID] {
        guard try enterArray("users") else { return [] }
        var users: [UserID] = []
        while try json.nextElement() {
            if let user = try string(FieldName("users", users.count)) { users.append(UserID(trusted: user)) }
        }
        return users
    }
}
