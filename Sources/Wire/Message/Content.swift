/// What a message says.
public struct Content: Sendable {
    /// The text, at most ``Limits/textBytes`` of UTF-8; may be empty if there are attachments.
    public var text: String
    /// At most ``Limits/attachments``.
    public var attachments: [Attachment]
    /// The `seq` of the message that this one answers.
    public var replyTo: Int64?
    /// A JSON object of the application's own, compact, at most ``Limits/dataBytes``; or nothing.
    public var data: [UInt8]

    /// A content. Nothing is checked here; what clients send is, when it is decoded.
    public init(text: String = "", attachments: [Attachment] = [], replyTo: Int64? = nil, data: [UInt8] = []) {
        self.text = text
        self.attachments = attachments
        self.replyTo = replyTo
        self.data = data
    }

    /// True if there is neither text nor an attachment, which no message may be without.
    public var isEmpty: Bool { text.isEmpty && attachments.isEmpty }

    /// Returns whether both say the same, compared as decoded values.
    ///
    /// In `data` the order of members does not matter and numbers are compared by value, however they are written and
    /// however large they are. Strings are compared by code point.
    public func isSame(as other: Content) -> Bool {
        text.hasSameBytes(as: other.text) && attachments == other.attachments && replyTo == other.replyTo
            && (data == other.data || CanonicalJSON.bytes(of: data) == CanonicalJSON.bytes(of: other.data))
    }

    /// The bytes that stand for what it says: two contents have the same ones if they are the same by ``isSame(as:)``,
    /// and only then.
    public var canonicalBytes: [UInt8] {
        var canonical = self
        canonical.data = CanonicalJSON.bytes(of: data)
        var bytes: [UInt8] = []
        // Each member is JSON, of which every value has one writing here and every name stands for one place.
        canonical.encodeMembers(into: &bytes)
        return bytes
    }
}
