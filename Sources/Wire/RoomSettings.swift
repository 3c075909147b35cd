/// What an owner says of a room, as the body of `PUT /v1/rooms/{room}`: `{"visibility":"private","title":"The room"}`.
public struct RoomSettings: Sendable, Hashable {
    /// Who may read the room; `nil` to leave that as it is.
    public var visibility: RoomSummary.Visibility?
    /// What it is called, the empty title for none; `nil` to leave that as it is.
    public var title: String?

    /// Settings; what is `nil` is left as it is.
    public init(visibility: RoomSummary.Visibility? = nil, title: String? = nil) {
        self.visibility = visibility
        self.title = title
    }

    /// Reads the body. Null is absent, and fields that are not known are ignored.
    ///
    /// - Throws: 400 `invalid_json` if the body is not JSON, or not an object; 400 `invalid_field` if a field has the
    ///   wrong type or the visibility is none; 422 `too_long`, `nul_character` for the title.
    public static func decode(_ body: [UInt8]) throws(Problem) -> RoomSettings {
        var reader = FieldReader(try JSONScanner(body))
        guard try reader.json.peek() == .object else { throw .invalidJSON("The body must be a JSON object.") }
        try reader.json.enterObject()
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
