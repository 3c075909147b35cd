import Wire

/// Operations that send, read and synchronise messages.
extension APIOperation {
    static let messages: [APIOperation] = [send, page, message, clientMessage, reactingUsers, changed]

    /// The operations that can follow an answer with a message.
    private static let messageLinks = ["getMessage", "editMessage", "deleteMessage"]

    private static let send = APIOperation(
        method: "post", path: "/v1/rooms/{room}/messages", id: "sendMessage", tag: .messages,
        summary: "Send a message",
        description: """
            The answer comes when the message is on disk. If you get no answer, send again with the same `client_message_id`: a \
            sender uses each one once in a room, for ever, so a message is never stored twice. The first message creates the \
            room and makes its sender the owner.
            """,
        access: .named,
        body: Content(
            schema: "Draft",
            examples: [
                ("text", ["client_message_id": "3f1c", "text": "hello"]),
                (
                    "picture",
                    [
                        "attachments": [
                            [
                                "type": "image", "url": "https://example.com/a.jpg", "width": 1200, "height": 800,
                                "mime": "image/jpeg", "description": "A lighthouse",
                            ]
                        ]
                    ]
                ),
                ("data", ["text": "Lunch?", "data": ["poll": ["yes", "no"]]]),
            ]),
        answers: [
            Answer(
                201, "It is stored.", "Message", headers: ["Location", "ETag"],
                links: messageLinks + ["addReaction", "readMessages"]),
            Answer(
                200, "The same send was stored before, under this `client_message_id`. The message as it is now.",
                "Message",
                headers: ["ETag"], links: messageLinks),
        ],
        refusals: [
            .invalidJSON, .invalidField, .unsupportedMediaType, .emptyMessage, .emptyField, .tooLong, .tooMany,
            .tooDeep, .nulCharacter, .invalidAttachment, .sizeMissing, .replyToNotFound, .clientMessageIDReused,
            .storageFull,
        ])

    private static let page = APIOperation(
        method: "get", path: "/v1/rooms/{room}/messages", id: "readMessages", tag: .messages,
        summary: "Read a page of messages",
        description: """
            Messages in ascending `seq`, read in one snapshot. Pass at most one of `before`, `after` and `around`; without any \
            you get the newest page. `has_before` and `has_after` are exact: a page can be short without being the last. \
            The places `read` and `unread` need a name; the page then carries `read`, `unread` and `first_unread`.
            """,
        access: .reader, parameters: ["before", "after", "around", "pageLimit"],
        answers: [Answer(200, "A page.", "Page", headers: ["Link"])],
        refusals: [.invalidCursor, .invalidLimit, .unauthenticated])

    private static let message = APIOperation(
        method: "get", path: "/v1/rooms/{room}/messages/{seq}", id: "getMessage", tag: .messages,
        summary: "Read one message", access: .reader, parameters: ["If-None-Match"],
        answers: [
            Answer(200, "The message as it is now.", "Message", headers: ["ETag"]),
            Answer(empty: 304, "The message has not changed.", headers: ["ETag"]),
        ],
        refusals: [.invalidField, .messageNotFound])

    private static let clientMessage = APIOperation(
        method: "get", path: "/v1/rooms/{room}/messages/by-client-id/{client_message_id}", id: "getMessageByClientId",
        tag: .messages, summary: "Did my send land?",
        description: "The caller's own message that was sent under this `client_message_id`, or 404.",
        access: .named, parameters: ["If-None-Match"],
        answers: [
            Answer(200, "The message that was stored, as it is now.", "Message", headers: ["ETag"]),
            Answer(empty: 304, "The message has not changed.", headers: ["ETag"]),
        ],
        refusals: [.messageNotFound])

    private static let changed = APIOperation(
        method: "get", path: "/v1/rooms/{room}/changes", id: "readChanges", tag: .messages,
        summary: "Read the changes since a revision",
        description: """
            The messages that changed after `since`, each once and as it is now, in ascending `rev`. While `has_more` is true, \
            pass the answer's `rev` as the next `since`.
            """,
        access: .reader, parameters: ["since", "epoch", "changesLimit"],
        answers: [Answer(200, "One page of changed messages.", "Changes")],
        refusals: [.invalidCursor, .invalidLimit, .cursorUnknown])
}

/// Operations that change a stored message.
extension APIOperation {
    static let changes: [APIOperation] = [edit, delete, react, takeBack]

    private static let answer = [Answer(200, "The message as it is now.", "Message", headers: ["ETag"])]
    private static let refused: [Problem.Code] = [
        .invalidField, .messageNotFound, .preconditionFailed, .internalError, .storageFull,
    ]

    private static let edit = APIOperation(
        method: "patch", path: "/v1/rooms/{room}/messages/{seq}", id: "editMessage", tag: .messages,
        summary: "Edit your own message",
        description:
            "Absent fields stay as they are; null or empty clears a field. `reply_to` cannot be changed.",
        access: .named, parameters: ["If-Match"],
        body: Content(
            schema: "Edit", examples: [("text", ["text": "see you at 10"]), ("data", ["data": ["poll": ["yes"]]])]),
        answers: answer,
        refusals: refused + [
            .invalidJSON, .unsupportedMediaType, .notTheSender, .messageDeleted, .emptyMessage, .tooLong, .tooMany,
            .tooDeep, .nulCharacter, .invalidAttachment, .sizeMissing,
        ])

    private static let delete = APIOperation(
        method: "delete", path: "/v1/rooms/{room}/messages/{seq}", id: "deleteMessage", tag: .messages,
        summary: "Delete a message",
        description: "Your own, or as an owner of the room any. A tombstone stays, so `seq` has no gaps.",
        access: .named, parameters: ["If-Match"], answers: answer, refusals: refused + [.notTheSender])

    private static let reactingUsers = APIOperation(
        method: "get", path: "/v1/rooms/{room}/messages/{seq}/reactions/{key}", id: "listReactingUsers", tag: .messages,
        summary: "The users who reacted to a message",
        description:
            "All of them, in the byte order of their ids. A message lists the first \(Limits.reactionUsers) only.",
        access: .reader, parameters: ["afterUser", "reactingUsersLimit"],
        answers: [Answer(200, "One page of users.", "ReactingUsers")],
        refusals: [.invalidLimit, .invalidReaction, .messageNotFound])

    private static let react = APIOperation(
        method: "put", path: "/v1/rooms/{room}/messages/{seq}/reactions/{key}", id: "addReaction", tag: .messages,
        summary: "React to a message", description: "Repeating it changes nothing.", access: .named,
        parameters: ["If-Match"],
        answers: [
            Answer(
                200, "The message as it is now.", "Message", headers: ["ETag"], links: ["removeReaction", "getMessage"])
        ],
        refusals: refused + [.invalidReaction, .messageDeleted, .tooManyReactions])

    private static let takeBack = APIOperation(
        method: "delete", path: "/v1/rooms/{room}/messages/{seq}/reactions/{key}", id: "removeReaction",
        tag: .messages, summary: "Remove your reaction", description: "Repeating it changes nothing.",
        access: .named, parameters: ["If-Match"], answers: answer, refusals: refused + [.invalidReaction])
}
