import Wire

/// The message schemas: drafts that clients send, and messages, pages and changes in answers.
extension APISchemas {
    /// Request bodies. Null means the same as absent; unknown fields are ignored.
    static let drafts: [(String, JSONValue)] = [
        (
            "Draft",
            object(
                [
                    "client_message_id": [
                        "type": ["string", "null"], "minLength": 1, "maxLength": .number(Limits.clientMessageIDBytes),
                        "pattern": .string(undotted(except: #"\u0000"#)),
                        "description":
                            "The client's own name for the send. A sender uses each name once in a room, for ever.",
                    ],
                    "text": text(Limits.textBytes, isNullable: true, "At most \(Limits.textBytes) bytes of UTF-8."),
                    "attachments": attachmentDrafts,
                    "reply_to": nullable(reference("Seq")),
                    "data": data,
                ], required: [],
                "A message to be sent. It needs a text with more than white space and invisible characters, or an attachment, or both."
            )
        ),
        (
            "Edit",
            object(
                [
                    "text": text(Limits.textBytes, isNullable: true, "At most \(Limits.textBytes) bytes of UTF-8."),
                    "attachments": attachmentDrafts,
                    "data": data,
                ], required: [], "Changes to a message. Absent fields stay as they are.")
        ),
        ("AttachmentDraft", attachment(isNullable: true)),
        ("AttachmentType", ["type": "string", "enum": ["image", "video", "audio", "file", "link"]]),
    ]

    /// Answers. Fields that are empty, null or false are left out.
    static let messages: [(String, JSONValue)] = [
        (
            "Message",
            object(
                [
                    "room": reference("RoomID"), "seq": reference("Seq"), "rev": reference("Rev"),
                    "sender": reference("UserID"),
                    "client_message_id": text(Limits.clientMessageIDBytes, "The sender's own name for it."),
                    "text": text(Limits.textBytes),
                    "attachments": [
                        "type": "array", "minItems": 1, "maxItems": .number(Limits.attachments),
                        "items": reference("Attachment"),
                    ],
                    "reply_to": reference("Seq"), "data": ["type": "object", "additionalProperties": true],
                    "reactions": ["type": "array", "minItems": 1, "items": reference("Reaction")],
                    "created_at": reference("Time"), "edited_at": reference("Time"),
                    "deleted": ["type": "boolean", "description": "True for a tombstone. Absent otherwise."],
                ], required: ["room", "seq", "rev", "sender", "created_at"],
                """
                A message in its current state: the same bytes in every answer, page and push. Replace what you hold under its \
                `seq` if its `rev` is higher.
                """)
        ),
        (
            "Reaction",
            object(
                [
                    "key": reference("ReactionKey"), "count": ["type": "integer", "minimum": 1],
                    "users": [
                        "type": "array", "maxItems": .number(Limits.reactionUsers), "items": reference("UserID"),
                        "description": "The first \(Limits.reactionUsers); `count` is of all.",
                    ],
                ], required: ["key", "count", "users"])
        ),
        (
            "ReactingUsers",
            object(
                [
                    "users": [
                        "type": "array", "maxItems": .number(Limits.reactingUsers), "items": reference("UserID"),
                    ],
                    "has_more": hasMore(passing: "user"),
                ], required: ["users", "has_more"])
        ),
        ("Attachment", attachment(isNullable: false)),
        (
            "Page",
            object(
                [
                    "messages": list(of: "Message", upTo: Limits.pageMessages),
                    "has_before": ["type": "boolean"], "has_after": ["type": "boolean"],
                    "head": count("The room's highest `seq`."),
                    "rev": reference("Rev"), "epoch": reference("Epoch"),
                    "read": readMark, "unread": unreadCount, "first_unread": reference("Seq"),
                ], required: ["messages", "has_before", "has_after", "head", "rev", "epoch"],
                """
                Messages in ascending `seq`. When this page opens the screen, pass its `rev` to `live?since=`; pages loaded later \
                do not move the position. `read`, `unread` and `first_unread` are present when the page was requested with the \
                place `read` or `unread`.
                """)
        ),
        (
            "Changes",
            object(
                [
                    "messages": list(of: "Message", upTo: Limits.changedMessages), "rev": reference("Rev"),
                    "has_more": ["type": "boolean"], "epoch": reference("Epoch"),
                ], required: ["messages", "rev", "has_more", "epoch"],
                "Messages in ascending `rev`. Pass `rev` as the next `since`.")
        ),
    ]

    // MARK: Pieces

    private static let attachmentDrafts: JSONValue = [
        "type": ["array", "null"], "maxItems": .number(Limits.attachments), "items": reference("AttachmentDraft"),
    ]

    private static let data: JSONValue = [
        "type": ["object", "null"], "additionalProperties": true,
        "description": """
        Any JSON object of the application's own, without the character U+0000: at most \(Limits.dataBytes) bytes as \
        compact JSON, nested at most \(Limits.dataDepth) levels deep.
        """,
    ]

    private static func integer(from minimum: Int, isNullable: Bool, _ description: String) -> JSONValue {
        [
            "type": isNullable ? ["integer", "null"] : "integer", "format": "int64", "minimum": .number(minimum),
            "maximum": .number(Int.max), "description": .string(description),
        ]
    }

    private static let url: JSONValue = [
        "type": "string", "maxLength": .number(Limits.attachmentStringBytes),
        "pattern": #"^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\u0000-\u0020\u007F][^\u0000-\u0020\u007F]*$"#,
        "description": "The URL of the content, http or https.", "examples": ["https://example.com/a.jpg"],
    ]

    private static func attachment(isNullable: Bool) -> JSONValue {
        func string(_ description: String) -> JSONValue {
            text(Limits.attachmentStringBytes, isNullable: isNullable, description)
        }
        let pixels = integer(
            from: 1, isNullable: isNullable, "In pixels. An image or a video must have both width and height.")
        return object(
            [
                "type": reference("AttachmentType"), "url": url, "width": pixels, "height": pixels,
                "mime": string("Its media type."),
                "size": integer(from: 0, isNullable: isNullable, "In bytes."),
                "title": string("Its title or file name."),
                "description": string("A description of the content, for those who cannot see or hear it."),
                "thumbhash": string("A small preview of an image or video (ThumbHash), in Base64."),
            ], required: ["type", "url"],
            "A file or link of a message. Images and videos carry their size, so that a client can lay them out before they load."
        )
    }
}
