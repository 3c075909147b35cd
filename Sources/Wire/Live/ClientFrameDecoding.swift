extension ClientFrame {
    /// Reads a text frame: a JSON object with a `type`. Fields that are not known are ignored.
    ///
    /// - `{"type":"subscribe","room":ID,"since":REV,"epoch":E}`; `since` may also be the string `REV` or `EPOCH:REV`,
    ///   and without it the subscription begins with what happens next;
    /// - `{"type":"subscribe","rooms":"mine","epoch":E}`, which has no `since`: every room has revisions of its own;
    /// - `{"type":"unsubscribe","room":ID}`;
    /// - `{"type":"unsubscribe","rooms":"mine"}`;
    /// - `{"type":"typing","room":ID}`, where the room may be missing;
    /// - `{"type":"token","token":JWT}`.
    ///
    /// - Throws: ``Refusal``, which tells whether the connection can go on.
    public static func decode(_ frame: [UInt8]) throws(Refusal) -> ClientFrame {
        let isObject: Bool
        var fields = Fields()
        var fault: Problem?
        do throws(Problem) {
            var reader = FieldReader(try JSONScanner(frame))
            isObject = try reader.json.peek() == .object
            if isObject {
                try fields.decode(from: &reader)
                fault = reader.fault
            } else {
                try reader.json.skipValue()
            }
            try reader.json.finish()
        } catch {
            throw .notJSON(error)
        }
        guard isObject else { throw .notObject(.invalidJSON("A frame must be a JSON object.")) }
        do throws(Problem) {
            if let fault { throw fault }
            return try fields.frame()
        } catch {
            let room = fields.room.flatMap { $0.utf8.count <= RoomID.maximumBytes ? $0 : nil }
            throw .unservable(error, room: room)
        }
    }

    /// Reads a text frame, as ``decode(_:)-([UInt8])`` does.
    public static func decode(_ frame: Span<UInt8>) throws(Refusal) -> ClientFrame {
        try decode([UInt8](copying: frame))
    }

    /// What the object has of the fields that any frame has.
    private struct Fields {
        var type: String?
        var room: String?
        var rooms: String?
        var since: String?
        var epoch: String?
        var token: String?

        mutating func decode(from reader: inout FieldReader) throws(Problem) {
            try reader.json.enterObject()
            while let name = try reader.json.nextName() {
                if reader.json.matches(name, "type") {
                    type = try reader.string("type")
                } else if reader.json.matches(name, "room") {
                    room = try reader.string("room")
                } else if reader.json.matches(name, "rooms") {
                    rooms = try reader.string("rooms")
                } else if reader.json.matches(name, "since") {
                    since = try reader.since()
                } else if reader.json.matches(name, "epoch") {
                    epoch = try reader.string("epoch")
                } else if reader.json.matches(name, "token") {
                    token = try reader.string("token")
                } else {
                    try reader.json.skipValue()
                }
            }
        }

        func frame() throws(Problem) -> ClientFrame {
            switch type {
            case "subscribe":
                return try subscription()
            case "unsubscribe":
                return try meansMine() ? .unsubscribeMine : .unsubscribe(room: try requiredRoom())
            case "typing":
                guard let room else { return .typing(room: nil) }
                return .typing(room: try RoomID(room))
            case "token":
                guard let token, !token.isEmpty else { throw .invalidField("token", must: "a string, and not empty") }
                return .token(token)
            case let type?:
                throw .unknownType(type.excerpt)
            case nil:
                throw .invalidField("type", must: "a string")
            }
        }

        private func subscription() throws(Problem) -> ClientFrame {
            if try meansMine() {
                guard since == nil else { throw .invalidField("since", must: "absent when there are rooms") }
                return .subscribeMine(epoch: try knownEpoch())
            }
            let room = try requiredRoom()
            guard let since else { return .subscribe(room: room, since: nil, epoch: try knownEpoch()) }
            return .subscribe(room: room, since: try SincePosition(parsing: since, epoch: epoch))
        }

        /// The epoch that stands there by itself.
        private func knownEpoch() throws(Problem) -> String? {
            try SincePosition(parsing: "0", epoch: epoch).epoch
        }

        /// Returns whether the frame is about the caller's rooms and not about one.
        private func meansMine() throws(Problem) -> Bool {
            guard let rooms else { return false }
            guard rooms == "mine" else { throw .invalidField("rooms", must: "\"mine\"") }
            guard room == nil else { throw .invalidField("rooms", must: "absent when there is a room") }
            return true
        }

        private func requiredRoom() throws(Problem) -> RoomID {
            guard let room else { throw .invalidField("room", must: "a string") }
            return try RoomID(room)
        }
    }
}

extension FieldReader {
    /// Reads a revision, as a number or in a string, as it would stand in a URL; `nil` for null.
    fileprivate mutating func since() throws(Problem) -> String? {
        guard try json.peek() == .number else { return try string("since") }
        let token = try json.readNumber()
        // What is no integer of 64 bits is as written, and fails or not as it would in a URL.
        return json.integer(token).map(String.init) ?? String(decoding: json.text[token.range], as: UTF8.self)
    }
}
