public import Wire

/// A position in a list of messages of several rooms, newest first: just after a message.
///
/// Clients return it as they received it. Its text is `EPOCH:MILLISECONDS:ROOM:SEQ`.
public struct MessageCursor: Sendable, Hashable, CustomStringConvertible {
    /// The epoch of the history.
    public var epoch: String
    /// The time of the message, in milliseconds since 1970.
    public var milliseconds: Int64
    /// The room of the message.
    public var room: RoomID
    /// The `seq` of the message.
    public var seq: Int64

    /// Creates the position after a message.
    public init(epoch: String, milliseconds: Int64, room: RoomID, seq: Int64) {
        self.epoch = epoch
        self.milliseconds = milliseconds
        self.room = room
        self.seq = seq
    }

    /// Parses a cursor.
    ///
    /// - Throws: 400 `invalid_cursor` if the server cannot have issued it.
    public init(parsing string: String) throws(Problem) {
        let parts = string.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 4, SincePosition.isEpoch(parts[0]), let time = Int64(clampingDigits: parts[1]),
            let room = try? RoomID(parts[2]), let seq = Int64(clampingDigits: parts[3])
        else { throw .invalidCursor("cursor", detail: "The cursor must come from an answer of this list.") }
        self.init(epoch: String(parts[0]), milliseconds: time, room: room, seq: seq)
    }

    /// The cursor as sent to clients.
    public var description: String { "\(epoch):\(milliseconds):\(room):\(seq)" }
}

/// A request for part of the list of a user's mentions.
public struct MentionsRequest: Sendable, Hashable {
    /// The position after which the part begins; `nil` for the newest mention.
    public var cursor: MessageCursor?
    /// Maximum number of messages in the answer, 1 to ``Limits/pageMessages``.
    public var limit: Int

    /// Creates a request for at most `limit` mentions after `cursor`.
    public init(cursor: MessageCursor? = nil, limit: Int = Limits.defaultPageMessages) {
        self.cursor = cursor
        self.limit = limit
    }

    /// Parses the parameters of a query; `nil` is an absent parameter.
    ///
    /// - Throws: 400 `invalid_cursor`, 400 `invalid_limit`.
    public static func parse(cursor: String?, limit: String?) throws(Problem) -> MentionsRequest {
        MentionsRequest(
            cursor: try cursor.map { text throws(Problem) in try MessageCursor(parsing: text) },
            limit: try PageRequest.parseLimit(limit, maximum: Limits.pageMessages, default: Limits.defaultPageMessages))
    }
}
