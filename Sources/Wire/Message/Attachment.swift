/// Metadata of a file that a message refers to and that is stored elsewhere.
public struct Attachment: Sendable {
    /// The kind of file, which decides how clients show it: `type` in JSON.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case image, video, audio, file, link

        /// True if the width and height are required, because clients need them for the layout.
        public var isPicture: Bool { self == .image || self == .video }
    }

    /// The kind of file.
    public var kind: Kind
    /// The `http` or `https` URL of the file.
    public var url: String
    /// The width in pixels, positive; required if the kind ``Kind/isPicture``.
    public var width: Int?
    /// The height in pixels, positive; required if the kind ``Kind/isPicture``.
    public var height: Int?
    /// The media type, such as `image/webp`.
    public var mime: String?
    /// The size in bytes, not negative.
    public var size: Int?
    /// The title or file name.
    public var title: String?
    /// A textual alternative for people who cannot see or hear the file.
    public var description: String?
    /// A preview of about 25 bytes to show until the file has loaded (evanw.github.io/thumbhash), in base64.
    public var thumbhash: String?

    /// Creates an attachment without validation; client input is validated when it is decoded.
    public init(
        kind: Kind, url: String, width: Int? = nil, height: Int? = nil, mime: String? = nil, size: Int? = nil,
        title: String? = nil, description: String? = nil, thumbhash: String? = nil
    ) {
        self.kind = kind
        self.url = url
        self.width = width
        self.height = height
        self.mime = mime
        self.size = size
        self.title = title
        self.description = description
        self.thumbhash = thumbhash
    }
}

extension Attachment: Equatable {
    /// Returns true if all fields are equal. Strings are compared by code point.
    public static func == (a: Attachment, b: Attachment) -> Bool {
        func same(_ a: String?, _ b: String?) -> Bool {
            guard let a, let b else { return a == nil && b == nil }
            return a.hasSameBytes(as: b)
        }
        return a.kind == b.kind && a.width == b.width && a.height == b.height && a.size == b.size
            && a.url.hasSameBytes(as: b.url) && same(a.mime, b.mime) && same(a.title, b.title)
            && same(a.description, b.description) && same(a.thumbhash, b.thumbhash)
    }
}

extension Attachment {
    /// Appends the attachment as a JSON object, without absent fields.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"type":"#)
        out.append(quoted: kind.rawValue)
        out.append(literal: #","url":"#)
        out.append(quoted: url)
        if let width { out.append(member: "width", Int64(width)) }
        if let height { out.append(member: "height", Int64(height)) }
        if let mime { out.append(member: "mime", mime) }
        if let size { out.append(member: "size", Int64(size)) }
        if let title { out.append(member: "title", title) }
        if let description { out.append(member: "description", description) }
        if let thumbhash { out.append(member: "thumbhash", thumbhash) }
        out.append(UInt8(ascii: "}"))
    }
}
