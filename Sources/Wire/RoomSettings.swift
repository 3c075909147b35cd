/// The settings of a room, as in the body of `PUT /v1/rooms/{room}`: `{"visibility":"private","title":"The room"}`.
public struct RoomSettings: Sendable, Hashable {
    /// The new visibility; `nil` to keep it.
    public var visibility: RoomSummary.Visibility?
    /// The new title, empty to remove it; `nil` to keep it.
    public var title: String?
    /// The users who may send; `nil` to keep it.
    public var posting: RoomManners.Posting?
    /// The users who may pin messages; `nil` to keep it.
    public var pinning: RoomManners.Pinning?
    /// The time between two messages of a user who is not an owner, 0 for none; `nil` to keep it.
    public var slowSeconds: Int?
    /// The number of days for which messages are kept, 0 for the server's; `nil` to keep it.
    public var keepDays: Int?
    /// The new `https` URL of a picture, empty to remove it; `nil` to keep it.
    public var avatar: String?
    /// The new application data as a compact JSON object, empty to remove it; `nil` to keep it.
    public var data: [UInt8]?
    /// True if searches look into the room; `nil` to keep it.
    public var isSearchable: Bool?

    /// Creates settings. `nil` keeps a value.
    public init(
        visibility: RoomSummary.Visibility? = nil, title: String? = nil, posting: RoomManners.Posting? = nil,
        pinning: RoomManners.Pinning? = nil, slowSeconds: Int? = nil, keepDays: Int? = nil, avatar: String? = nil,
        data: [UInt8]? = nil, isSearchable: Bool? = nil
    ) {
        self.visibility = visibility
        self.title = title
        self.posting = posting
        self.pinning = pinning
        self.slowSeconds = slowSeconds
        self.keepDays = keepDays
        self.avatar = avatar
        self.data = data
        self.isSearchable = isSearchable
    }

    /// Creates the settings that give a new room these manners.
    package init(visibility: RoomSummary.Visibility, title: String?, _ manners: RoomManners) {
        self.init(
            visibility: visibility, title: title, posting: manners.posting == .members ? nil : manners.posting,
            pinning: manners.pinning == .owners ? nil : manners.pinning,
            slowSeconds: manners.slowSeconds == 0 ? nil : manners.slowSeconds, keepDays: manners.keepDays,
            avatar: manners.avatar, data: manners.data.isEmpty ? nil : manners.data,
            isSearchable: manners.isSearchable ? nil : false)
    }

    /// Appends the settings as a JSON object, as clients send it.
    public func encode(into out: inout [UInt8]) {
        var members: [UInt8] = []
        encodeMembers(into: &members)
        out.append(object: members)
    }

    /// Appends the settings as further members of an object.
    package func encodeMembers(into members: inout [UInt8]) {
        if let visibility { members.append(member: "visibility", visibility.rawValue) }
        if let title { members.append(member: "title", title) }
        if let posting { members.append(member: "posting", posting.rawValue) }
        if let pinning { members.append(member: "pinning", pinning.rawValue) }
        if let slowSeconds { members.append(member: "slow_seconds", Int64(slowSeconds)) }
        if let keepDays { members.append(member: "keep_days", Int64(keepDays)) }
        if let avatar { members.append(member: "avatar", avatar) }
        if let data {
            members.append(memberName: "data")
            members.append(contentsOf: data.isEmpty ? Array("{}".utf8) : data)
        }
        if let isSearchable { members.append(member: "searchable", isSearchable) }
    }

    /// Decodes the body. Null means absent, and unknown fields are ignored.
    ///
    /// - Throws: 400 `invalid_json` if the body is not JSON, or not an object; 400 `invalid_field` if a field has the
    ///   wrong type or a value that it cannot have; 422 `too_long`, `too_deep`, `nul_character`.
    public static func decode(_ body: [UInt8]) throws(Problem) -> RoomSettings {
        var reader = try FieldReader(body: body)
        var settings = RoomSettings()
        while let name = try reader.json.nextName() {
            if try !settings.decode(name, from: &reader) { try reader.json.skipValue() }
        }
        try reader.finish()
        return settings
    }

    /// Reads the member `name` if it belongs to settings.
    ///
    /// - Returns: `false` if it does not; its value has then not been read.
    package mutating func decode(_ name: JSONString, from reader: inout FieldReader) throws(Problem) -> Bool {
        if reader.json.matches(name, "visibility") {
            visibility = try reader.choice("visibility", must: "\"open\" or \"private\"")
        } else if reader.json.matches(name, "title") {
            title = try reader.string("title", limit: Limits.titleBytes)
        } else if reader.json.matches(name, "posting") {
            posting = try reader.choice("posting", must: "\"members\" or \"owners\"")
        } else if reader.json.matches(name, "pinning") {
            pinning = try reader.choice("pinning", must: "\"owners\" or \"members\"")
        } else if reader.json.matches(name, "slow_seconds") {
            slowSeconds = try reader.number("slow_seconds", upTo: Limits.slowSeconds)
        } else if reader.json.matches(name, "keep_days") {
            keepDays = try reader.number("keep_days", upTo: Limits.keepDays)
        } else if reader.json.matches(name, "avatar") {
            avatar = try reader.roomAvatar()
        } else if reader.json.matches(name, "data") {
            data = try reader.data(limit: Limits.roomDataBytes)
        } else if reader.json.matches(name, "searchable") {
            isSearchable = try reader.boolean("searchable")
        } else {
            return false
        }
        return true
    }
}

extension FieldReader {
    /// Reads one of some strings; `nil` for null.
    fileprivate mutating func choice<Choice: RawRepresentable<String>>(
        _ field: FieldName, must: String
    ) throws(Problem) -> Choice? {
        guard let text = try string(field) else { return nil }
        let choice = Choice(rawValue: text)
        if choice == nil { note(.invalidField(field.description, must: must), isType: true) }
        return choice
    }

    /// Reads an integer from 0 to `limit`; `nil` for null.
    fileprivate mutating func number(_ field: FieldName, upTo limit: Int) throws(Problem) -> Int? {
        guard let number = try integer(field) else { return nil }
        if (0...Int64(limit)).contains(number) { return Int(number) }
        note(.outOfRange(field.description, 0...limit), isType: true)
        return nil
    }

    /// Reads the `https` URL of a room's picture, which may be empty; `nil` for null.
    package mutating func roomAvatar() throws(Problem) -> String? {
        let url = try string("avatar", limit: Limits.avatarBytes)
        if let url, !url.isEmpty, !WebURL.isSecure(url) {
            note(.invalidField("avatar", must: "a valid https URL"), isType: true)
        }
        return url
    }
}
