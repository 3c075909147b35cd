public import BackscrollTimeline
public import Wire

/// A file that a message refers to.
public typealias Attachment = Wire.Attachment
/// The pin of a message: the user and the time.
public typealias Pin = Wire.Pin
/// The users' reactions to a message with one key.
public typealias Reaction = Wire.Reaction
/// A time with milliseconds, UTC.
public typealias Timestamp = Wire.Timestamp

/// One snapshot of a message, as the server sent it.
public struct ChatMessage: TimelineMessage, Identifiable {
    private let wire: Message

    init(_ wire: Message) {
        self.wire = wire
    }

    /// Reads a message from ``json``, or from an answer of the server.
    ///
    /// - Throws: ``BackscrollClientError/storeDamaged`` if it is no message.
    public init(json: [UInt8]) throws(BackscrollClientError) {
        do {
            wire = try Message(decoding: json)
        } catch {
            throw BackscrollClientError(
                code: BackscrollClientError.storeDamaged, message: "A stored message cannot be read: \(error.detail)")
        }
    }

    /// The message as JSON, for a store.
    public var json: [UInt8] {
        var json: [UInt8] = []
        wire.encode(into: &json)
        return json
    }

    /// The room's id.
    public var room: String { wire.room.string }
    /// The position in the room: 1, 2, 3 … without gaps.
    public var seq: Int64 { wire.seq }
    /// The room's revision of the message's latest change.
    public var rev: Int64 { wire.rev }
    /// The ``seq``, which identifies the message in its room.
    public var id: Int64 { wire.seq }
    /// The id of the user who sent the message.
    public var senderID: String { wire.sender.string }
    /// The id that the sender's client chose for the message; nil if it chose none.
    public var clientMessageID: String? { wire.clientMessageID }
    /// The text; it may be empty if there are attachments.
    public var text: String { wire.content.text }
    /// The files. Pictures and videos have a width and a height, so that they can be laid out before they are loaded.
    public var attachments: [Attachment] { wire.content.attachments }
    /// The `seq` of the message that this one replies to.
    public var replyTo: Int64? { wire.content.replyTo }
    /// The ids of the users that the message mentions.
    public var mentions: [UserID] { wire.content.mentions.users }
    /// True if the message mentions everybody in its room.
    public var mentionsRoom: Bool { wire.content.mentions.room }
    /// True if the message causes no push notifications.
    public var isSilent: Bool { wire.content.silent }
    /// The app's own data, a JSON object; empty if there is none.
    public var data: [UInt8] { wire.content.data }
    /// The reactions, in the order of their first use.
    public var reactions: [Reaction] { wire.reactions }
    /// The pin; nil if the message is not pinned.
    public var pinned: Pin? { wire.pinned }
    /// The time when the message was stored.
    public var createdAt: Timestamp { wire.createdAt }
    /// The time of the last edit.
    public var editedAt: Timestamp? { wire.editedAt }
    /// True if the message was deleted. Its place remains, without content.
    public var isDeleted: Bool { wire.deleted }
    /// The time when the message was stored, in milliseconds since 1970, UTC.
    public var createdMilliseconds: Int64 { wire.createdAt.milliseconds }

    /// Returns true if both have the same content and revision.
    public static func == (one: ChatMessage, other: ChatMessage) -> Bool {
        one.seq == other.seq && one.rev == other.rev && one.createdAt == other.createdAt
            && one.wire.room == other.wire.room && one.wire.sender == other.wire.sender
            && one.clientMessageID == other.clientMessageID && one.text == other.text
            && one.attachments == other.attachments && one.replyTo == other.replyTo && one.data == other.data
            && one.wire.content.mentions == other.wire.content.mentions && one.isSilent == other.isSilent
            && one.reactions == other.reactions && one.pinned == other.pinned && one.editedAt == other.editedAt
            && one.isDeleted == other.isDeleted
    }

    /// Hashes the message.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(seq)
        hasher.combine(rev)
    }
}

/// A message to send.
public struct ChatDraft: TimelineDraft, Identifiable {
    /// The id of the send. The server stores the message once, however often it is posted with this id.
    public let clientMessageID: String
    /// The text.
    public var text: String
    /// The files, at most 10.
    public var attachments: [Attachment]
    /// The `seq` of the message that this one replies to.
    public var replyTo: Int64?
    /// The ids of the users to mention, at most 50.
    public var mentions: [UserID] = []
    /// True to mention everybody in the room. In large rooms only owners may.
    public var mentionsRoom = false
    /// True to cause no push notifications. The message counts as unread like any other.
    public var isSilent = false
    /// The app's own data: a JSON object of at most 8 KiB, or empty.
    public var data: [UInt8]
    /// The room's `head` that the message depends on: it is stored only as the next one, or refused as `head_moved`. Nil
    /// for any.
    public var expectHead: Int64?

    /// Creates a draft with an id that no other send has.
    ///
    /// The server refuses a draft that has neither text nor attachments, or that exceeds one of its limits
    /// (docs/operations.md).
    public init(
        _ text: String = "", attachments: [Attachment] = [], replyTo: Int64? = nil, data: [UInt8] = [],
        expectHead: Int64? = nil, clientMessageID: String = ChatDraft.makeID()
    ) {
        self.clientMessageID = clientMessageID
        self.text = text
        self.attachments = attachments
        self.replyTo = replyTo
        self.data = data
        self.expectHead = expectHead
    }

    /// Reads a draft from ``json``. The server's limits are not checked.
    ///
    /// - Throws: ``BackscrollClientError/storeDamaged`` if it is no draft.
    public init(json: [UInt8]) throws(BackscrollClientError) {
        let message = try ChatMessage(json: json)
        self.init(
            message.text, attachments: message.attachments, replyTo: message.replyTo, data: message.data,
            expectHead: (try? JSONFields(json))?.integers[Self.expectHeadField],
            clientMessageID: message.clientMessageID ?? "")
        mentions = message.mentions
        mentionsRoom = message.mentionsRoom
        isSilent = message.isSilent
    }

    /// The draft as JSON, for a store.
    public var json: [UInt8] {
        // The draft is written as a message with placeholders for its other fields. Reading a message does not check
        // the limits on sends, so a draft that the server refuses can be stored, too.
        var json: [UInt8] = []
        Message(
            room: Self.noRoom, seq: 1, rev: 1, sender: Self.noUser, clientMessageID: clientMessageID,
            content: content,
            createdAt: Timestamp(milliseconds: 0)
        ).encode(into: &json)
        guard let expectHead else { return json }
        // A message has no such field. Those that read one ignore it.
        json.removeLast()
        json.append(member: "expect_head", expectHead)
        json.append(UInt8(ascii: "}"))
        return json
    }

    private static let expectHeadField = "expect_head"

    private static let noRoom = try! RoomID("draft")
    private static let noUser = try! UserID("draft")

    /// The id of the send.
    public var id: String { clientMessageID }

    /// Returns a new random id.
    public static func makeID() -> String {
        let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        return String((0..<22).map { _ in alphabet.randomElement()! })
    }

    /// Returns true if both have the same id and content.
    public static func == (one: ChatDraft, other: ChatDraft) -> Bool {
        one.clientMessageID == other.clientMessageID && one.text == other.text && one.attachments == other.attachments
            && one.replyTo == other.replyTo && one.data == other.data && one.expectHead == other.expectHead
            && one.mentions == other.mentions && one.mentionsRoom == other.mentionsRoom
            && one.isSilent == other.isSilent
    }

    /// Hashes the draft.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(clientMessageID)
    }

    private var content: Content {
        Content(
            text: text, attachments: attachments, replyTo: replyTo,
            mentions: Mentions(users: mentions, room: mentionsRoom), silent: isSilent, data: data)
    }

    var body: [UInt8] {
        var body: [UInt8] = []
        Draft(clientMessageID: clientMessageID, content: content, expectHead: expectHead).encode(into: &body)
        return body
    }
}

/// The state machine of a room's screen, with this library's messages and drafts.
public typealias RoomMachine = Timeline<ChatMessage, ChatDraft>
/// The content of a room's screen.
public typealias RoomView = RoomMachine.View
/// A line of a room's screen.
public typealias RoomRow = RoomMachine.Row
/// The steps from the rows of one view to those of a later one.
public typealias RoomDifference = RoomMachine.Difference
