/// What a client asks a message to say from now on: the fields that it names, the others stay as they are.
///
/// What a message answers (`reply_to`) is no part of it: that is as it was sent.
public struct Edit: Sendable {
    /// The new text; empty for none, `nil` to keep the one that is there.
    public var text: String?
    /// The new attachments; `nil` to keep those that are there.
    public var attachments: [Attachment]?
    /// The new `data`, compact; empty for none, `nil` to keep what is there.
    public var data: [UInt8]?

    /// An edit. Nothing is checked here; what clients send is, by ``decode(_:)``.
    public init(text: String? = nil, attachments: [Attachment]? = nil, data: [UInt8]? = nil) {
        self.text = text
        self.attachments = attachments
        self.data = data
    }

    /// Reads the body of an edit: a JSON object. A field that is null or empty is cleared, one that is absent is kept,
    /// and fields that are not known are ignored, those of a message that cannot be edited among them.
    ///
    /// - Throws: what ``Draft/decode(_:)-([UInt8])`` throws for these fields.
    public static func decode(_ body: [UInt8]) throws(Problem) -> Edit {
        var reader = FieldReader(try JSONScanner(body))
        guard try reader.json.peek() == .object else { throw .invalidJSON("The body must be a JSON object.") }
        try reader.json.enterObject()
        var edit = Edit()
        while let name = try reader.json.nextName() {
            if reader.json.matches(name, "text") {
                edit.text = try reader.text()
            } else if reader.json.matches(name, "attachments") {
                edit.attachments = try reader.attachments()
            } else if reader.json.matches(name, "data") {
                edit.data = try reader.data()
            } else {
                try reader.json.skipValue()
            }
        }
        try reader.finish()
        return edit
    }

    /// What a message says after the edit.
    ///
    /// - Throws: 422 `empty_message` when it would have neither text nor attachments.
    public func applied(to content: Content) throws(Problem) -> Content {
        var content = content
        if let text { content.text = text }
        if let attachments { content.attachments = attachments }
        if let data { content.data = data }
        guard !content.isEmpty else { throw .emptyMessage }
        return content
    }
}
