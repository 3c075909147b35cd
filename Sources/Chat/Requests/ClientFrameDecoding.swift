import Wire

extension ClientFrame {
    /// Decodes a text frame: a JSON object with a `type`. Unknown fields are ignored.
    ///
    /// - `{"type":"subscribe","room":ID,"since":REV,"epoch":E}`; `since` may also be the string `REV` or `EPOCH:REV`,
    ///   and without it the subscription begins with the next event;
    /// - `{"type":"subscribe","rooms":"mine","epoch":E}`, which has no `since`, because each room has its own
    ///   revisions;
    /// - `{"type":"unsubscribe","room":ID}`;
    /// - `{"type":"unsubscribe","rooms":"mine"}`;
    /// - `{"type":"typing","room":ID}`, where `room` may be absent;
    /// - `{"type":"token","token":JWT}`.
    ///
    /// - Throws: ``Refusal``, which tells whether the connection can continue.
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

    /// The fields of a frame of any type.
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
                guard let token, !token.isEmpty else { throw .invalidField("token", must: "a non-empty string") }
                return .token(token)
            case let type?:
                throw .unknownType(type.excerpt)
            case nil:
                throw .invalidField("type", must: "a string")
            }
        }

        private func subscription() throws(Problem) -> ClientFrame {
            if try meansMine() {
                guard since == nil else { throw .invalidField("since", must: "absent if the frame has rooms") }
                return .subscribeMine(epoch: try knownEpoch())
            }
            let room = try requiredRoom()
            guard let since else { return .subscribe(room: room, since: nil, epoch: try knownEpoch()) }
            return .subscribe(room: room, since: try SincePosition(parsing: since, epoch: epoch))
        }

        /// Returns the epoch that is given without a `since`.
        private func knownEpoch() throws(Problem) -> String? {
            try SincePosition(parsing: "0", epoch: epoch).epoch
        }

        /// Returns true if the frame refers to all of the caller's rooms, not to one.
        private func meansMine() throws(Problem) -> Bool {
            guard let rooms else { return false }
            guard rooms == "mine" else { throw .invalidField("rooms", must: "\"mine\"") }
            guard room == nil else { throw .invalidField("rooms", must: "absent if the frame has a room") }
            return true
        }

        private func requiredRoom() throws(Problem) -> RoomID {
            guard let room else { throw .invalidField("room", must: "a string") }
            return try RoomID(room)
        }
    }
}

extension FieldReader {
    /// Reads a revision as a number or a string, as in a URL; `nil` for null.
    fileprivate mutating func since() throws(Problem) -> String? {
        guard try json.peek() == .number else { return try string("since") }
        let token = try json.readNumber()
        // A number that is not a 64-bit integer is passed on as written, and is then accepted or refused as in a URL.
        return json.integer(token).map(String.init) ?? json.string(token)
    }
}
