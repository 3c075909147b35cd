/// The settings of a room, as in the body of `PUT /v1/rooms/{room}`: `{"visibility":"private","title":"The room"}`.
public struct RoomSettings: Sendable, Hashable {
    /// The new visibility; `nil` to keep it.
    public var visibility: RoomSummary.Visibility?
    /// The new title, empty to remove it; `nil` to keep it.
    public var title: String?

    /// Creates settings. `nil` keeps a value.
    public init(visibility: RoomSummary.Visibility? = nil, title: String? = nil) {
        self.visibility = visibility
        self.title = title
    }

    /// Appends the settings as a JSON object, as clients send it.
    public func encode(into out: inout [UInt8]) {
        var members: [UInt8] = []
        if let visibility { members.append(member: "visibility", visibility.rawValue) }
        if let title { members.append(member: "title", title) }
        out.append(object: members)
    }

    /// Decodes the body. Null means absent, and unknown fields are ignored.
    ///
    /// - Throws: 400 `invalid_json` if the body is not JSON, or not an object; 400 `invalid_field` if a field has the
    ///   wrong type or the visibility is unknown; 422 `too_long`, `nul_character` for the title.
    public static func decode(_ body: [UInt8]) throws(Problem) -> RoomSettings {
        var reader = try FieldReader(body: body)
        var settings = RoomSettings()
        while let name = try reader.json.nextName() {
            if reader.json.matches(name, "visibility") {
                guard let visibility = try reader.string("visibility") else { continue }
                settings.visibility = RoomSummary.Visibility(rawValue: visibility)
                if settings.visibility == nil {
                    reader.note(.invalidField("visibility", must: "\"open\" or \"private\""), isType: true)
                }
            } else if reader.json.matches(name, "title") {
                settings.title = try reader.string("title", limit: Limits.titleBytes)
            } else {
                try reader.json.skipValue()
            }
        }
        try reader.finish()
        return settings
    }
}
