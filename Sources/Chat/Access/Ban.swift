public import Wire

/// A ban of a user from a room, or from the whole server.
public struct Ban: Sendable, Hashable {
    /// The scope of a ban.
    public enum Scope: String, Sendable, Hashable {
        /// Refuses every change: sends, edits, reactions, read marks, settings, members. What protects a reader stays
        /// allowed: reports, blocks, and muting a room; and a repeated send gets its stored message.
        case send
        /// Also refuses reading and subscribing.
        case all
    }

    /// The banned user.
    public var user: UserID
    /// The scope of the ban.
    public var scope: Scope
    /// The time when the ban ends by itself; `nil` for a ban without end.
    public var until: Timestamp?
    /// The reason, for people. The banned user sees it.
    public var reason: String?
    /// The user who set the ban.
    public var by: UserID
    /// The time when the ban was set.
    public var createdAt: Timestamp

    /// Creates a ban.
    public init(
        user: UserID, scope: Scope, until: Timestamp? = nil, reason: String? = nil, by: UserID, createdAt: Timestamp
    ) {
        self.user = user
        self.scope = scope
        self.until = until
        self.reason = reason
        self.by = by
        self.createdAt = createdAt
    }

    /// Returns true if the ban has not ended at `time`.
    public func isInForce(at time: Timestamp) -> Bool {
        until.map { time < $0 } ?? true
    }

    /// Appends the ban as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"user":"#)
        out.append(quoted: user.string)
        out.append(member: "scope", scope.rawValue)
        if let until { out.append(member: "until", until.description) }
        if let reason { out.append(member: "reason", reason) }
        out.append(member: "by", by.string)
        out.append(member: "created_at", createdAt.description)
        out.append(UInt8(ascii: "}"))
    }
}

/// The settings of a ban, the optional body of `PUT …/bans/{user}`: `{"scope":"all","until":"2027-01-01T00:00:00Z"}`.
public struct BanSettings: Sendable, Hashable {
    /// The scope of the ban.
    public var scope: Ban.Scope
    /// The time when the ban ends by itself; `nil` for a ban without end.
    public var until: Timestamp?
    /// The reason, for people; never empty.
    public var reason: String?

    /// Creates settings.
    public init(scope: Ban.Scope = .send, until: Timestamp? = nil, reason: String? = nil) {
        self.scope = scope
        self.until = until
        self.reason = reason
    }

    /// Decodes the body. Null counts as absent, and unknown fields are ignored.
    ///
    /// - Throws: 400 `invalid_json` if the body is not a JSON object; 400 `invalid_field` if a field has the wrong
    ///   type, the scope is unknown, or `until` is not an RFC 3339 time; 422 `too_long` or `nul_character` for the
    ///   reason.
    public static func decode(_ body: [UInt8]) throws(Problem) -> BanSettings {
        var settings = BanSettings()
        if body.isEmpty { return settings }
        var reader = try FieldReader(body: body)
        while let name = try reader.json.nextName() {
            if reader.json.matches(name, "scope") {
                guard let text = try reader.string("scope") else { continue }
                if let scope = Ban.Scope(rawValue: text) {
                    settings.scope = scope
                } else {
                    reader.note(.invalidField("scope", must: "\"send\" or \"all\""), isType: true)
                }
            } else if reader.json.matches(name, "until") {
                if let time = try reader.time("until") { settings.until = time }
            } else if reader.json.matches(name, "reason") {
                let reason = try reader.string("reason", limit: Limits.banReasonBytes)
                settings.reason = reason?.isEmpty == true ? nil : reason
            } else {
                try reader.json.skipValue()
            }
        }
        try reader.finish()
        return settings
    }
}

/// A page of bans, the answer to `GET …/bans`.
public struct Bans: Sendable, Hashable {
    /// The bans, in the byte order of the user ids.
    public var bans: [Ban]
    /// True if there are more bans after these.
    public var hasMore: Bool

    /// Creates a page, read in one transaction.
    public init(bans: [Ban], hasMore: Bool) {
        self.bans = bans
        self.hasMore = hasMore
    }

    /// Appends the page as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"bans":"#)
        out.append(array: bans) { $0.encode(into: &$1) }
        out.append(member: "has_more", hasMore)
        out.append(UInt8(ascii: "}"))
    }
}
