/// The JSON encoding of a message. Empty, null and false fields are omitted.
extension Message {
    /// Appends the message as a JSON object.
    public func encode(into out: inout [UInt8]) {
        Self.encodeHead(
            room: room, seq: seq, rev: rev, sender: sender, clientMessageID: clientMessageID, content: content,
            into: &out)
        if !reactions.isEmpty {
            out.append(memberName: "reactions")
            out.append(array: reactions) { $0.encode(into: &$1) }
        }
        if let pinned {
            out.append(memberName: "pinned")
            pinned.encode(into: &out)
        }
        out.append(literal: #","created_at":""#)
        createdAt.append(to: &out)
        out.append(UInt8(ascii: "\""))
        if let editedAt {
            out.append(literal: #","edited_at":""#)
            editedAt.append(to: &out)
            out.append(UInt8(ascii: "\""))
        }
        if deleted { out.append(literal: #","deleted":true"#) }
        out.append(UInt8(ascii: "}"))
    }

    /// Appends a new message from its draft, with the same bytes as ``encode(into:)``.
    public static func encode(
        room: RoomID, seq: Int64, rev: Int64, sender: UserID, draft: Draft, createdAt: Timestamp,
        into out: inout [UInt8]
    ) {
        encodeHead(
            room: room, seq: seq, rev: rev, sender: sender, clientMessageID: draft.clientMessageID,
            content: draft.content, into: &out)
        out.append(addingCapacity: 41) { out in
            out.append(literal: #","created_at":""#)
            createdAt.append(to: &out)
            out.append(literal: #""}"#)
        }
    }

    private static func encodeHead(
        room: RoomID, seq: Int64, rev: Int64, sender: UserID, clientMessageID: String?, content: Content,
        into out: inout [UInt8]
    ) {
        room.string.withUTF8Span { room in
            sender.string.withUTF8Span { sender in
                (clientMessageID ?? "").withUTF8Span { id in
                    content.text.withUTF8Span { text in
                        encodeHead(
                            room: room, seq: seq, rev: rev, sender: sender, hasID: clientMessageID != nil, id: id,
                            text: text, content: content, into: &out)
                    }
                }
            }
        }
    }

    /// Appends the head from the UTF-8 of its strings. A room id never needs escaping.
    private static func encodeHead(
        room: Span<UInt8>, seq: Int64, rev: Int64, sender: Span<UInt8>, hasID: Bool, id: Span<UInt8>,
        text: Span<UInt8>, content: Content, into out: inout [UInt8]
    ) {
        let (seqCount, revCount) = (seq.decimalCount, rev.decimalCount)
        let (senderCount, idCount, textCount) = (sender.escapedCount, id.escapedCount, text.escapedCount)
        let count =
            room.count + seqCount + revCount + senderCount + idCount + textCount + overhead
            + (content.replyTo == nil ? 0 : replyOverhead) + (content.data.isEmpty ? 0 : 8 + content.data.count)
        out.append(addingCapacity: count) { out in
            out.append(literal: #"{"room":""#)
            out.append(copying: room)
            out.append(literal: #"","seq":"#)
            out.append(decimal: seq, count: seqCount)
            out.append(literal: #","rev":"#)
            out.append(decimal: rev, count: revCount)
            out.append(literal: #","sender":"#)
            out.append(quoted: sender, escapedCount: senderCount)
            if hasID {
                out.append(literal: #","client_message_id":"#)
                out.append(quoted: id, escapedCount: idCount)
            }
            if !text.isEmpty {
                out.append(literal: #","text":"#)
                out.append(quoted: text, escapedCount: textCount)
            }
        }
        content.encodeMembersBesideText(into: &out)
    }

    /// A new message without its `seq`, `rev` and time, which are not known yet: the pieces between which they belong.
    /// Together they are the bytes of ``encode(room:seq:rev:sender:draft:createdAt:into:)``.
    public struct Pieces: Sendable {
        /// The bytes before `seq`.
        public let beforeSeq: [UInt8]
        /// The bytes between `seq` and `rev`.
        public static let beforeRev = Array(#","rev":"#.utf8)
        /// The bytes between `rev` and the time.
        public let afterRev: [UInt8]
        /// The bytes after the time.
        public static let afterTime = Array(#""}"#.utf8)

        /// Encodes a draft.
        public init(room: RoomID, sender: UserID, draft: Draft) {
            beforeSeq = Array(#"{"room":"\#(room.string)","seq":"#.utf8)
            var rest: [UInt8] = []
            rest.append(literal: #","sender":"#)
            rest.append(quoted: sender.string)
            if let id = draft.clientMessageID {
                rest.append(literal: #","client_message_id":"#)
                rest.append(quoted: id)
            }
            draft.content.encodeMembers(into: &rest)
            rest.append(literal: #","created_at":""#)
            afterRev = rest
        }
    }

    /// Maximum number of bytes of a message besides the values of its head: 69 for the members, and 41 for the time. An
    /// array reserved with it need not grow for a new message without attachments.
    private static let overhead = 110
    /// Maximum number of bytes of the member `reply_to`.
    private static let replyOverhead = 31
}

extension Content {
    /// Appends the content as further members of an object.
    func encodeMembers(into out: inout [UInt8]) {
        if !text.isEmpty {
            out.append(literal: #","text":"#)
            out.append(quoted: text)
        }
        encodeMembersBesideText(into: &out)
    }

    /// Appends the content without its text as further members of an object.
    func encodeMembersBesideText(into out: inout [UInt8]) {
        if !attachments.isEmpty {
            out.append(memberName: "attachments")
            out.append(array: attachments) { $0.encode(into: &$1) }
        }
        if let replyTo {
            out.append(literal: #","reply_to":"#)
            out.append(decimal: replyTo)
        }
        if !mentions.isEmpty { mentions.encodeMembers(into: &out) }
        if silent { out.append(literal: #","silent":true"#) }
        if !data.isEmpty {
            out.append(literal: #","data":"#)
            out.append(contentsOf: data)
        }
    }
}
