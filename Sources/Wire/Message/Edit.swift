/// An edit of a message: the fields to replace. The others keep their values.
///
/// The message that it replies to (`reply_to`) cannot be edited.
public struct Edit: Sendable {
    /// The new text; empty to remove it, `nil` to keep it.
    public var text: String?
    /// The new attachments; `nil` to keep them.
    public var attachments: [Attachment]?
    /// The users to mention; empty to mention none, `nil` to keep them.
    public var mentions: [UserID]?
    /// True to mention everybody in the room, false not to; `nil` to keep it: `mentions_room` in JSON.
    public var mentionsRoom: Bool?
    /// The new `data`, compact; empty to remove it, `nil` to keep it.
    public var data: [UInt8]?

    /// Creates an edit without validation; ``decode(_:)`` validates client input.
    public init(
        text: String? = nil, attachments: [Attachment]? = nil, mentions: [UserID]? = nil, mentionsRoom: Bool? = nil,
        data: [UInt8]? = nil
    ) {
        self.text = text
        self.attachments = attachments
        self.mentions = mentions
        self.mentionsRoom = mentionsRoom
        self.data = data
    }

    /// Decodes the body of an edit: a JSON object. A field that is null or empty is cleared, an absent one is kept.
    /// Unknown fields, and fields of a message that cannot be edited, are ignored.
    ///
    /// - Throws: the errors of ``Draft/decode(_:)`` for these fields.
    public static func decode(_ body: [UInt8]) throws(Problem) -> Edit {
        var reader = try FieldReader(body: body)
        var edit = Edit()
        while let name = try reader.json.nextName() {
            if reader.json.matches(name, "text") {
                edit.text = try reader.text()
            } else if reader.json.matches(name, "attachments") {
                edit.attachments = try reader.attachments()
            } else if reader.json.matches(name, "mentions") {
                edit.mentions = try reader.mentions()
            } else if reader.json.matches(name, "mentions_room") {
                edit.mentionsRoom = try reader.boolean("mentions_room") ?? false
            } else if reader.json.matches(name, "data") {
                edit.data = try reader.data(limit: Limits.dataBytes) ?? []
            } else {
                try reader.json.skipValue()
            }
        }
        try reader.finish()
        return edit
    }

    /// Appends the body of an edit as a JSON object. A field to keep is left out; one to remove is empty.
    public func encode(into out: inout [UInt8]) {
        var members: [UInt8] = []
        if let text { members.append(member: "text", text) }
        if let attachments {
            members.append(memberName: "attachments")
            members.append(array: attachments) { $0.encode(into: &$1) }
        }
        if let mentions {
            members.append(memberName: "mentions")
            members.append(array: mentions) { $1.append(quoted: $0.string) }
        }
        if let mentionsRoom { members.append(member: "mentions_room", mentionsRoom) }
        if let data {
            members.append(memberName: "data")
            members.append(contentsOf: data.isEmpty ? Array("{}".utf8) : data)
        }
        out.append(object: members)
    }

    /// Returns the content after the edit.
    ///
    /// - Throws: 422 `empty_message` if the content ``Content/isEmpty`` afterwards.
    public func applied(to content: Content) throws(Problem) -> Content {
        var content = content
        if let text { content.text = text }
        if let attachments { content.attachments = attachments }
        if let mentions { content.mentions.users = mentions }
        if let mentionsRoom { content.mentions.room = mentionsRoom }
        if let data { content.data = data }
        guard !content.isEmpty else { throw .emptyMessage }
        return content
    }
}
