/// An app's answer to the question whether a message may be stored.
public enum AppAnswer: Sendable {
    /// Store it, with these parts of its content instead of the sent ones. Empty `data` removes them.
    case allow(text: String?, data: [UInt8]?)
    /// Refuse it, because of `detail`.
    case deny(detail: String)

    /// Maximum UTF-8 bytes of the detail of a refusal; a longer one is not shown.
    public static let detailBytes = 1000
    /// The detail of a refusal that has none which can be shown.
    public static let usualDetail = "The app does not accept this message."

    /// Decodes an answer: a JSON object with `allow`, and `detail`, `text` and `data` as optional members. Null means absent,
    /// and unknown members are ignored. A refusal is one whatever else it has.
    ///
    /// - Throws: 400 `invalid_json` or `invalid_field`, or 422 like ``Draft/decode(_:)``, if it cannot be used.
    public static func decode(_ body: [UInt8]) throws(Problem) -> AppAnswer {
        var reader = try FieldReader(body: body)
        var (isAllowed, detail, text, data): (Bool?, String?, String?, [UInt8]?)
        while let name = try reader.json.nextName() {
            if reader.json.matches(name, "allow") {
                isAllowed = try reader.boolean("allow")
            } else if reader.json.matches(name, "detail") {
                detail = try reader.string("detail")
            } else if reader.json.matches(name, "text") {
                text = try reader.string("text", limit: Limits.textBytes)
            } else if reader.json.matches(name, "data") {
                data = try reader.data(limit: Limits.dataBytes)
            } else {
                try reader.json.skipValue()
            }
        }
        if isAllowed == false {
            try reader.json.finish()
            if let detail, !detail.isBlank, detail.utf8.count <= detailBytes { return .deny(detail: detail) }
            return .deny(detail: usualDetail)
        }
        if isAllowed == nil { reader.note(.invalidField("allow", must: "true or false"), isType: true) }
        try reader.finish()
        return .allow(text: text, data: data)
    }
}

extension Content {
    /// Appends the body of the question whether a message with this content may be stored.
    ///
    /// - Parameter edited: The `seq` of the message that is edited; `nil` for a new one.
    public func encodeQuestion(
        room: RoomID, sender: UserID, clientMessageID: String?, edited: Int64?, into out: inout [UInt8]
    ) {
        out.append(literal: #"{"type":"before_send","room":"#)
        out.append(quoted: room.string)
        out.append(literal: #","sender":"#)
        out.append(quoted: sender.string)
        out.append(literal: #","message":{"text":"#)
        out.append(quoted: text)
        if let clientMessageID { out.append(member: "client_message_id", clientMessageID) }
        encodeMembersBesideText(into: &out)
        out.append(UInt8(ascii: "}"))
        if let edited { out.append(member: "edits", edited) }
        out.append(UInt8(ascii: "}"))
    }
}
