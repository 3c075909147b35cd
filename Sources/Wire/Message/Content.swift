/// The content of a message.
public struct Content: Sendable {
    /// The text: at most ``Limits/textBytes`` of UTF-8. It may be empty if there are attachments.
    public var text: String
    /// The attachments: at most ``Limits/attachments``.
    public var attachments: [Attachment]
    /// The `seq` of the message that this one replies to.
    public var replyTo: Int64?
    /// The users that the message mentions.
    public var mentions: Mentions
    /// True if the message causes no push events. It cannot be edited.
    public var silent: Bool
    /// Application data: a compact JSON object of at most ``Limits/dataBytes``, or empty.
    public var data: [UInt8]

    /// Creates a content without validation; client input is validated when it is decoded.
    public init(
        text: String = "", attachments: [Attachment] = [], replyTo: Int64? = nil, mentions: Mentions = Mentions(),
        silent: Bool = false, data: [UInt8] = []
    ) {
        self.text = text
        self.attachments = attachments
        self.replyTo = replyTo
        self.mentions = mentions
        self.silent = silent
        self.data = data
    }

    /// True if there is neither an attachment nor a text that shows something, which is not allowed in a message.
    public var isEmpty: Bool { attachments.isEmpty && text.isBlank }

    /// Returns true if both are equal as decoded values.
    ///
    /// In `data`, the order of members does not matter, and numbers of any size are compared by value. Strings are
    /// compared by code point.
    public func isSame(as other: Content) -> Bool {
        text.hasSameBytes(as: other.text) && attachments == other.attachments && replyTo == other.replyTo
            && mentions == other.mentions && silent == other.silent
            && (data == other.data || CanonicalJSON.bytes(of: data) == CanonicalJSON.bytes(of: other.data))
    }

    /// A canonical encoding: two contents have the same bytes exactly if ``isSame(as:)`` holds.
    public var canonicalBytes: [UInt8] {
        var canonical = self
        canonical.data = CanonicalJSON.bytes(of: data)
        var bytes: [UInt8] = []
        // Each member is JSON in canonical form, and its name marks its position.
        canonical.encodeMembers(into: &bytes)
        return bytes
    }
}
