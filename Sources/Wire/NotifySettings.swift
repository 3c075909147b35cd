/// A user's settings for what may disturb in a room: the body of `PUT /v1/rooms/{room}/notify`,
/// `{"level":"mentions","until":"2027-01-01T00:00:00Z","room_mentions":false}`.
///
/// The server stores it, and counts nothing differently. Clients and push notifications follow it.
public struct NotifySettings: Sendable, Hashable {
    /// The messages that may disturb.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// Every message of others.
        case all
        /// Messages that mention the user.
        case mentions
        /// No message.
        case none
    }

    /// The messages that may disturb.
    public var level: Level
    /// The time when the settings end by themselves, and the default holds again; `nil` for settings without end.
    public var until: Timestamp?
    /// True if a mention of the room disturbs like a mention of the user.
    public var roomMentions: Bool

    /// Creates settings; by default everything may disturb.
    public init(level: Level = .all, until: Timestamp? = nil, roomMentions: Bool = true) {
        self.level = level
        self.until = until
        self.roomMentions = roomMentions
    }

    /// True if they say what holds without settings.
    public var isDefault: Bool { level == .all && roomMentions }

    /// Returns true if they have not ended at `time`.
    public func isInForce(at time: Timestamp) -> Bool { until.map { time < $0 } ?? true }

    /// Appends the settings as a JSON object.
    public func encode(into out: inout [UInt8]) {
        var members: [UInt8] = []
        encodeMembers(into: &members)
        out.append(object: members)
    }

    /// Appends the settings as further members of an object.
    package func encodeMembers(into out: inout [UInt8]) {
        out.append(member: "level", level.rawValue)
        if let until { out.append(member: "until", until.description) }
        out.append(member: "room_mentions", roomMentions)
    }

    /// Decodes the body. Null means absent, and unknown fields are ignored.
    ///
    /// - Throws: 400 `invalid_json` if the body is not JSON, or not an object; 400 `invalid_field` if the level is absent or
    ///   unknown, or another field has the wrong type.
    public static func decode(_ body: [UInt8]) throws(Problem) -> NotifySettings {
        var reader = try FieldReader(body: body)
        var settings = NotifySettings()
        var level: String?
        while let name = try reader.json.nextName() {
            if reader.json.matches(name, "level") {
                level = try reader.string("level")
            } else if reader.json.matches(name, "until") {
                if let time = try reader.time("until") { settings.until = time }
            } else if reader.json.matches(name, "room_mentions") {
                settings.roomMentions = try reader.boolean("room_mentions") ?? true
            } else {
                try reader.json.skipValue()
            }
        }
        if let level = level.flatMap({ Level(rawValue: $0) }) {
            settings.level = level
        } else {
            reader.note(.invalidField("level", must: "\"all\", \"mentions\" or \"none\""), isType: true)
        }
        try reader.finish()
        return settings
    }
}
