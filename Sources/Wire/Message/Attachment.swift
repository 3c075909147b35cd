/// What a message carries beside its text: metadata of something that lies elsewhere.
public struct Attachment: Sendable {
    /// What kind of thing it is, by which a client chooses how to show it: `type` in JSON.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case image, video, audio, file, link

        /// True if clients lay it out by its width and height, which it must therefore have.
        public var isPicture: Bool { self == .image || self == .video }
    }

    /// What kind of thing it is.
    public var kind: Kind
    /// Where it lies: an `http` or `https` URL.
    public var url: String
    /// In pixels, positive; there always is one if the kind ``Kind/isPicture``.
    public var width: Int?
    /// In pixels, positive; there always is one if the kind ``Kind/isPicture``.
    public var height: Int?
    /// Its media type, such as `image/webp`.
    public var mime: String?
    /// In bytes, not negative.
    public var size: Int?
    /// Its title or file name.
    public var title: String?
    /// What is to be seen or heard in it, for those who cannot.
    public var description: String?
    /// A picture of about 25 bytes to show until the real one has loaded (evanw.github.io/thumbhash), in base64.
    public var thumbhash: String?

    /// An attachment of this kind at `url`. Nothing is checked here; what clients send is, when it is decoded.
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
    /// Returns whether all fields are the same, strings by their code points.
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
    /// Appends the attachment as a JSON object, without the fields that are absent.
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
