extension FieldReader {
    /// Reads a list of attachments; null is an empty list.
    mutating func attachments() throws(Problem) -> [Attachment] {
        guard try enterArray("attachments") else { return [] }
        var attachments: [Attachment] = []
        var index = 0
        while try json.nextElement() {
            if let attachment = try attachment(index) { attachments.append(attachment) }
            index += 1
        }
        if index > Limits.attachments { note(.tooMany("attachments", limit: Limits.attachments)) }
        return attachments
    }

    /// Reads one attachment. Returns `nil`, with an error recorded, if it is invalid.
    private mutating func attachment(_ index: Int) throws(Problem) -> Attachment? {
        func field(_ name: StaticString) -> FieldName { FieldName("attachments", index, name) }

        guard try enterObject(field("")) else { return nil }
        var kind: String?
        var url: String?
        var attachment = Attachment(kind: .file, url: "")
        while let name = try json.nextName() {
            if json.matches(name, "type") {
                kind = try string(field("type"))
            } else if json.matches(name, "url") {
                url = try attachmentString(field("url"))
            } else if json.matches(name, "width") {
                attachment.width = try size(field("width"))
            } else if json.matches(name, "height") {
                attachment.height = try size(field("height"))
            } else if json.matches(name, "mime") {
                attachment.mime = try attachmentString(field("mime"))
            } else if json.matches(name, "size") {
                attachment.size = try size(field("size"))
            } else if json.matches(name, "title") {
                attachment.title = try attachmentString(field("title"))
            } else if json.matches(name, "description") {
                attachment.description = try attachmentString(field("description"))
            } else if json.matches(name, "thumbhash") {
                attachment.thumbhash = try attachmentString(field("thumbhash"))
            } else {
                try json.skipValue()
            }
        }
        guard let known = kind.flatMap(Attachment.Kind.init) else {
            note(.invalidAttachment(field("type").description, must: "image, video, audio, file or link"))
            return nil
        }
        guard let url, WebURL.isValid(url) else {
            note(.invalidAttachment(field("url").description, must: "a valid http or https URL"))
            return nil
        }
        attachment.kind = known
        attachment.url = url
        check(attachment, field)
        return attachment
    }

    /// Reads a string of an attachment. Returns `nil` for the empty string too.
    private mutating func attachmentString(_ field: FieldName) throws(Problem) -> String? {
        let string = try string(field, limit: Limits.attachmentStringBytes)
        return string?.isEmpty == true ? nil : string
    }

    private mutating func size(_ field: FieldName) throws(Problem) -> Int? {
        try integer(field).map(Int.init)
    }

    private mutating func check(_ attachment: Attachment, _ field: (StaticString) -> FieldName) {
        checkLength(attachment.width, of: attachment.kind, field("width"))
        checkLength(attachment.height, of: attachment.kind, field("height"))
        if let size = attachment.size, size < 0 {
            note(.invalidAttachment(field("size").description, must: "0 or more"))
        }
    }

    /// Checks a width or height. It may be missing unless the attachment is a picture.
    private mutating func checkLength(_ length: Int?, of kind: Attachment.Kind, _ field: FieldName) {
        guard length.map({ $0 <= 0 }) ?? kind.isPicture else { return }
        let name = field.description
        note(kind.isPicture ? .sizeMissing(name) : .invalidAttachment(name, must: "positive"))
    }
}
