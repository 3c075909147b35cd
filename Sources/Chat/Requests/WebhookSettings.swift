public import Wire

/// The id of a webhook: `[A-Za-z0-9][A-Za-z0-9._~-]{0,63}`.
public struct WebhookID: Sendable, Hashable, CustomStringConvertible {
    /// Maximum number of bytes.
    public static let maximumBytes = 64

    /// The id as admins write it.
    public let string: String

    /// Parses an id.
    ///
    /// - Throws: 400 `invalid_field` if `string` violates the grammar.
    public init(_ string: String) throws(Problem) {
        let first = string.utf8.first ?? UInt8(ascii: ".")
        guard string.utf8.count <= Self.maximumBytes, string.utf8.allSatisfy(RoomID.isAllowed),
            !"._~-".utf8.contains(first)
        else {
            throw .invalidField("id", must: "1 to 64 of A-Z, a-z, 0-9, . _ ~ and -, the first a letter or digit")
        }
        self.string = string
    }

    /// Creates an id from a string that was validated when it was stored.
    package init(trusted string: String) { self.string = string }

    /// The id as admins write it.
    public var description: String { string }
}

/// A kind of events that webhooks deliver.
public enum WebhookEvent: String, Sendable, Hashable, CaseIterable {
    /// New and changed messages.
    case message
    /// Rooms that are created or deleted, and changes of their settings.
    case room
    /// Changes of members, roles and bans.
    case member
    /// Reports that are made and closed.
    case report
    /// Members who must be told of messages, and whose badges have fallen.
    case push
}

/// The body of `PUT /v1/admin/webhooks/{id}`. Absent fields keep their values, or have defaults in a new webhook.
public struct WebhookSettings: Sendable, Hashable {
    /// The place where a new webhook begins.
    public enum Start: String, Sendable, Hashable {
        /// With the next change.
        case now
        /// With the first message of each room.
        case start
    }

    /// The receiver's URL, which is not checked yet.
    public var url: String?
    /// The patterns of rooms; at least one.
    public var rooms: [RoomPattern]?
    /// The kinds of events; at least one.
    public var events: [WebhookEvent]?
    /// True to deliver. Setting it also ends a pause.
    public var isEnabled: Bool?
    /// The place where a new webhook begins. An existing one ignores it.
    public var start = Start.now

    /// Creates settings that change nothing.
    public init() {}

    /// Decodes the body. Null counts as absent, and unknown fields are ignored.
    ///
    /// - Throws: 400 `invalid_json` or `invalid_field`; 422 `too_long` or `too_many`.
    public static func decode(_ body: [UInt8]) throws(Problem) -> WebhookSettings {
        var reader = try FieldReader(body: body)
        var settings = WebhookSettings()
        while let name = try reader.json.nextName() {
            if reader.json.matches(name, "url") {
                settings.url = try reader.string("url", limit: Limits.webhookURLBytes)
            } else if reader.json.matches(name, "rooms") {
                settings.rooms = try list("rooms", limit: Limits.webhookPatterns, &reader) { RoomPattern($0) }
                if settings.rooms == [] {
                    reader.note(
                        .invalidField("rooms", must: "a list of room ids, in which * stands for any characters"),
                        isType: true)
                }
            } else if reader.json.matches(name, "events") {
                settings.events = try list("events", limit: 16, &reader) { WebhookEvent(rawValue: $0) }
                if settings.events == [] {
                    reader.note(.invalidField("events", must: "a list of \(eventNames)"), isType: true)
                }
            } else if reader.json.matches(name, "enabled") {
                settings.isEnabled = try reader.boolean("enabled")
            } else if reader.json.matches(name, "from") {
                if let from = try reader.string("from") {
                    if let start = Start(rawValue: from) {
                        settings.start = start
                    } else {
                        reader.note(.invalidField("from", must: "\"now\" or \"start\""), isType: true)
                    }
                }
            } else {
                try reader.json.skipValue()
            }
        }
        try reader.finish()
        return settings
    }

    /// The kinds of events that can be asked for.
    private static var eventNames: String {
        WebhookEvent.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    }

    /// Reads a list of strings, without repetitions; `nil` for null. An element that `element` refuses makes it empty.
    private static func list<Element: Hashable>(
        _ field: FieldName, limit: Int, _ reader: inout FieldReader, _ element: (String) -> Element?
    ) throws(Problem) -> [Element]? {
        guard try reader.enterArray(field) else { return nil }
        var elements: [Element] = []
        var isValid = true
        while try reader.json.nextElement() {
            if let text = try reader.string(field), let element = element(text) {
                if !elements.contains(element) { elements.append(element) }
            } else {
                isValid = false
            }
        }
        if elements.count > limit { reader.note(.tooMany(field.description, limit: limit)) }
        return isValid ? elements : []
    }
}

/// The body of `POST /v1/admin/webhooks/{id}/skip`: `{"room":"lobby","rev":47}` or `{"room":"lobby","event":12}`.
public struct WebhookSkip: Sendable, Hashable {
    /// The end of what is skipped.
    public enum Place: Sendable, Hashable {
        /// Messages up to a revision, or the deletion of a room at it.
        case rev(Int64)
        /// Events up to a number.
        case event(Int64)
    }

    /// The room; `nil` for the events of the whole server.
    public var room: RoomID?
    /// The end of what is skipped.
    public var place: Place

    /// Creates a skip.
    public init(room: RoomID?, to place: Place) { (self.room, self.place) = (room, place) }

    /// Decodes the body. Null counts as absent, and unknown fields are ignored.
    ///
    /// - Throws: 400 `invalid_json` or `invalid_field`; 400 `invalid_room`.
    public static func decode(_ body: [UInt8]) throws(Problem) -> WebhookSkip {
        var reader = try FieldReader(body: body)
        var room: String?
        var (rev, event): (Int64?, Int64?)
        while let name = try reader.json.nextName() {
            if reader.json.matches(name, "room") {
                room = try reader.string("room")
            } else if reader.json.matches(name, "rev") {
                rev = try reader.integer("rev")
            } else if reader.json.matches(name, "event") {
                event = try reader.integer("event")
            } else {
                try reader.json.skipValue()
            }
        }
        try reader.finish()
        if let event {
            guard event > 0, rev == nil else {
                throw .invalidField("event", must: "the number of an event, without a rev")
            }
            return WebhookSkip(room: try room.map { text throws(Problem) in try RoomID(text) }, to: .event(event))
        }
        guard let room else { throw .invalidField("room", must: "the id of a room") }
        // The deletion of a room without messages is refused at 0.
        guard let rev, rev >= 0 else { throw .invalidField("rev", must: "a revision of the room, at least 0") }
        return WebhookSkip(room: try RoomID(room), to: .rev(rev))
    }
}

/// The body of `POST /v1/admin/webhooks/{id}/replay`: `{"room":"lobby","since":41}`, or
/// `{"since_time":"2026-01-31T00:00:00Z"}` with or without a room.
public struct WebhookReplay: Sendable, Hashable {
    /// The place from which everything is delivered again.
    public enum Place: Sendable, Hashable {
        /// After a revision.
        case rev(Int64)
        /// With the first message stored then or later.
        case time(Timestamp)
    }

    /// The room; `nil` for all rooms of the webhook.
    public var room: RoomID?
    /// The place from which everything is delivered again.
    public var place: Place

    /// Creates a replay.
    public init(room: RoomID?, from place: Place) { (self.room, self.place) = (room, place) }

    /// Decodes the body. Null counts as absent, and unknown fields are ignored.
    ///
    /// - Throws: 400 `invalid_json` or `invalid_field`; 400 `invalid_room`.
    public static func decode(_ body: [UInt8]) throws(Problem) -> WebhookReplay {
        var reader = try FieldReader(body: body)
        var (name, since, time): (String?, Int64?, Timestamp?)
        while let field = try reader.json.nextName() {
            if reader.json.matches(field, "room") {
                name = try reader.string("room")
            } else if reader.json.matches(field, "since") {
                since = try reader.integer("since")
            } else if reader.json.matches(field, "since_time") {
                time = try reader.time("since_time")
            } else {
                try reader.json.skipValue()
            }
        }
        try reader.finish()
        let room = try name.map { text throws(Problem) in try RoomID(text) }
        switch (since, time) {
        case (let since?, nil):
            guard since >= 0 else { throw .invalidField("since", must: "a revision of the room, at least 0") }
            guard room != nil else { throw .invalidField("room", must: "given with since, which is a room's revision") }
            return WebhookReplay(room: room, from: .rev(since))
        case (nil, let time?): return WebhookReplay(room: room, from: .time(time))
        default: throw .invalidField("since", must: "given, or since_time instead of it")
        }
    }
}

/// The body of `POST /v1/admin/webhooks/{id}/rotate`: `{"keep_hours":24}`.
public enum WebhookRotation {
    /// Returns for how many hours the old secret still signs. Null and absence count as 24, and unknown fields are
    /// ignored.
    ///
    /// - Throws: 400 `invalid_json` or `invalid_field`.
    public static func decode(_ body: [UInt8]) throws(Problem) -> Int64 {
        if body.isEmpty { return 24 }
        var reader = try FieldReader(body: body)
        var hours: Int64?
        while let name = try reader.json.nextName() {
            if reader.json.matches(name, "keep_hours") {
                hours = try reader.integer("keep_hours")
            } else {
                try reader.json.skipValue()
            }
        }
        try reader.finish()
        guard (0...Int64(Limits.webhookKeepHours)).contains(hours ?? 24) else {
            throw .invalidField("keep_hours", must: "0 to \(Limits.webhookKeepHours)")
        }
        return hours ?? 24
    }
}
