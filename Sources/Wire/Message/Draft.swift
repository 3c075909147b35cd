/// A message to be sent, as a client requests it.
public struct Draft: Sendable {
    /// The client's id for the send, unique per room and sender: 1 to ``Limits/clientMessageIDBytes`` bytes.
    public var clientMessageID: String?
    /// The content of the message.
    public var content: Content
    /// The room's highest `seq` on which the send depends: the message is stored only as the next one. `nil` for any.
    public var expectHead: Int64?
    // Empty for most drafts, so that a copy is small.
    private var originals: [Content] = []

    /// The content as the client sent it, if ``content`` was changed since; `nil` if it was not.
    public var original: Content? {
        get { originals.first }
        set { originals = newValue.map { [$0] } ?? [] }
    }

    /// The content that a repeated send is compared with.
    public var firstContent: Content { original ?? content }

    /// Creates a draft without validation; ``decode(_:)`` validates client input.
    public init(clientMessageID: String? = nil, content: Content, expectHead: Int64? = nil) {
        self.clientMessageID = clientMessageID
        self.content = content
        self.expectHead = expectHead
    }
}

extension Draft {
    /// Decodes the body of a send: a JSON object. Null means absent, and unknown fields are ignored.
    ///
    /// - Throws: 400 `invalid_json` if the body is not JSON, or not an object; else 400 `invalid_field` if a field has
    ///   the wrong type; else 422 if the message must not be sent as it is: `empty_message`, `empty_field`, `too_long`,
    ///   `too_many`, `too_deep`, `nul_character`, `invalid_attachment`, `size_missing`, `reply_to_not_found`.
    public static func decode(_ body: [UInt8]) throws(Problem) -> Draft {
        var reader = try FieldReader(body: body)
        var clientMessageID: String?
        var content = Content()
        var expectHead: Int64?
        while let name = try reader.json.nextName() {
            if reader.json.matches(name, "client_message_id") {
                clientMessageID = try reader.string("client_message_id", limit: Limits.clientMessageIDBytes)
            } else if reader.json.matches(name, "expect_head") {
                expectHead = try reader.integer("expect_head")
            } else if try !content.decode(name, from: &reader) {
                try reader.json.skipValue()
            }
        }
        if clientMessageID?.isEmpty == true { reader.note(.emptyField("client_message_id")) }
        if clientMessageID?.isDotSegment == true { reader.note(.dotSegment("client_message_id")) }
        if let replyTo = content.replyTo, replyTo <= 0 { reader.note(.replyToNotFound) }
        if let expectHead, expectHead < 0 {
            reader.note(.invalidField("expect_head", must: "0 or more"), isType: true)
        }
        if content.isEmpty { reader.note(.emptyMessage) }
        try reader.finish()
        return Draft(clientMessageID: clientMessageID, content: content, expectHead: expectHead)
    }

    /// Appends the body of a send as a JSON object, without empty fields.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"client_message_id":"#)
        if let clientMessageID { out.append(quoted: clientMessageID) } else { out.append(literal: "null") }
        content.encodeMembers(into: &out)
        if let expectHead { out.append(member: "expect_head", expectHead) }
        out.append(UInt8(ascii: "}"))
    }
}

extension Content {
    /// Reads the member `name` if it belongs to a content.
    ///
    /// - Returns: `false` if it does not; its value has then not been read.
    package mutating func decode(_ name: JSONString, from reader: inout FieldReader) throws(Problem) -> Bool {
        if reader.json.matches(name, "text") {
            text = try reader.text()
        } else if reader.json.matches(name, "attachments") {
            attachments = try reader.attachments()
        } else if reader.json.matches(name, "reply_to") {
            replyTo = try reader.integer("reply_to")
        } else if reader.json.matches(name, "mentions") {
            mentions.users = try reader.mentions()
        } else if reader.json.matches(name, "mentions_room") {
            mentions.room = try reader.boolean("mentions_room") ?? false
        } else if reader.json.matches(name, "silent") {
            silent = try reader.boolean("silent") ?? false
        } else if reader.json.matches(name, "data") {
            data = try reader.data(limit: Limits.dataBytes) ?? []
        } else {
            return false
        }
        return true
    }
}

extension FieldReader {
    /// Reads a message's `text`; null is the empty text.
    mutating func text() throws(Problem) -> String {
        try string("text", limit: Limits.textBytes) ?? ""
    }

    /// Reads `data` of at most `limit` bytes; `nil` for null. The empty object is empty data.
    mutating func data(limit: Int) throws(Problem) -> [UInt8]? {
        guard let object = try compactObject("data") else { return nil }
        if object.hasNUL { note(.nulCharacter("data")) }
        if object.depth > Limits.dataDepth { note(.tooDeep("data", limit: Limits.dataDepth)) }
        if object.bytes.count > limit { note(.tooLong("data", limit: limit)) }
        return object.bytes.count == 2 ? [] : object.bytes
    }
}
