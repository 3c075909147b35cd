import WebSocket
import Wire

/// The frames of WebSockets and event streams. The schemas of the description and the page at `/docs` are both made of
/// this table.
enum DocsFrames {
    /// A kind of frame.
    struct Frame {
        /// The name of its schema in the components.
        var schema: String
        var type: String
        /// Examples, as they are on the wire.
        var examples: [String]
        /// Its purpose, as Markdown with nothing but code spans.
        var text: String
        /// The members beside `type`.
        var properties: KeyValuePairs<String, JSONValue>
        /// The names of the members that are always there.
        var required: [String]
    }

    private static let room = try! RoomID("lobby")
    private static let user = try! UserID("bob")
    private static let roomID = APISchemas.reference("RoomID")
    private static let rev = APISchemas.reference("Rev")
    private static let epoch = APISchemas.reference("Epoch")

    // MARK: From the server

    /// Frames from the server.
    static let ofServer: [Frame] = [
        ofServer(
            "SubscribedFrame", .subscribed(room: room, head: 5, rev: 7, epoch: "RNmyYL9bWlAE2Ja9ThuN"),
            "The first frame of a subscription: the room as it is.",
            [
                "room": roomID,
                "head": [
                    "type": "integer", "minimum": 0, "description": "The room's highest `seq`; 0 if it is empty.",
                ],
                "rev": rev, "epoch": epoch,
            ]),
        message,
        ofServer(
            "LiveFrame", .live(room: room, rev: 7),
            "Replay ends here, once for each subscription; at once if there is none. What follows happens now.",
            ["room": roomID, "rev": rev]),
        ofServer(
            "TypingFrame", .typing(room: room, user: user),
            "A user is writing. Show it for 6 seconds, or until the user's message arrives.",
            ["room": roomID, "user": APISchemas.reference("UserID")]),
        ofServer(
            "ReadFrame", .read(room: room, user: user, seq: 4),
            "A user's read mark has moved, on any of the user's devices.",
            [
                "room": roomID, "user": APISchemas.reference("UserID"),
                "seq": ["type": "integer", "format": "int64", "minimum": 0, "description": "The read mark."],
            ]),
        ofServer(
            "PresenceFrame", .presence(room: room, online: 3),
            "The number of subscribers, after `live` and whenever it has changed.",
            [
                "room": roomID,
                "online": [
                    "type": "integer", "minimum": 0,
                    "description": "Users, each counted once, and sockets without a name.",
                ],
            ]),
        ofServer(
            "ErrorFrame", .error(.rateLimited(retryAfter: 3), room: "lobby"),
            "A frame of yours could not be served, or a subscription on `/v1/live` has ended; the socket stays open then. Or it "
                + "is refused or ends: the close code that follows says how.",
            [
                "code": [
                    "type": "string",
                    "description": .string("A code of the HTTP answers, or one of \(frameCodes)."),
                ],
                "message": ["type": "string", "description": "What went wrong, for people."],
                "room": ["type": "string", "description": "The room as the client wrote it, if it is about a room."],
                "retry_after": [
                    "type": "integer", "minimum": 1,
                    "description": "Seconds after which to try again, if that is known.",
                ],
            ], optional: ["room", "retry_after"]),
    ]

    private static let frameCodes = Problem.Code.ofFrames.map { "`\($0)`" }.joined(separator: ", ")

    /// A frame that the server writes; the example is what it writes.
    private static func ofServer(
        _ schema: String, _ example: ServerFrame, _ text: String, _ properties: KeyValuePairs<String, JSONValue>,
        optional: Set<String> = []
    ) -> Frame {
        var bytes: [UInt8] = []
        example.encode(into: &bytes)
        return Frame(
            schema: schema, type: example.type.description, examples: [String(decoding: bytes, as: UTF8.self)],
            text: text, properties: properties, required: properties.map(\.key).filter { !optional.contains($0) })
    }

    private static let message: Frame = {
        let snapshot =
            #"{"room":"lobby","seq":5,"rev":7,"sender":"alice","client_message_id":"3f1c","text":"hello","#
            + #""created_at":"2026-11-21T02:13:41.973Z"}"#
        var bytes: [UInt8] = []
        ServerFrame.appendMessage(snapshot.utf8Span.span, to: &bytes)
        return Frame(
            schema: "MessageFrame", type: "message", examples: [String(decoding: bytes, as: UTF8.self)],
            text: """
                A message as it is now, whether it is new, edited, deleted or reacted to. Replace the message that you \
                hold under its `seq` if its `rev` is higher. Your own sends arrive too: the echo is the one whose \
                `sender` is you and whose `client_message_id` you wait for.
                """,
            properties: ["message": APISchemas.reference("Message")], required: ["message"])
    }()

    // MARK: From the client

    private static let mine: JSONValue = [
        "type": "string", "const": "mine", "description": "All rooms of the caller, in place of `room`.",
    ]

    /// Frames from the client.
    static let ofClient: [Frame] = [
        Frame(
            schema: "SubscribeFrame", type: "subscribe",
            examples: [
                #"{"type":"subscribe","room":"lobby","since":7,"epoch":"RNmyYL9bWlAE2Ja9ThuN"}"#,
                #"{"type":"subscribe","rooms":"mine"}"#,
            ],
            text: """
                On `/v1/live`. Needs either `room` or `rooms`. With `rooms`, the socket is subscribed to all rooms that \
                you are a member of, from now on, and to those that you join later. Rooms that you are subscribed to \
                stay as they are: name those first that have a `since`. A socket has up to 1,000 rooms.
                """,
            properties: [
                "room": roomID, "rooms": mine,
                "since": [
                    "type": ["integer", "string"],
                    "description": """
                    A `rev`, or `EPOCH:REV`: what changed after it comes first. Without it the subscription begins with \
                    what happens next. Not with `rooms`.
                    """,
                ],
                "epoch": epoch,
            ], required: []),
        Frame(
            schema: "UnsubscribeFrame", type: "unsubscribe",
            examples: [#"{"type":"unsubscribe","room":"lobby"}"#],
            text: """
                On `/v1/live`. Needs either `room` or `rooms`. It has no answer; nothing of the room comes after it.
                """,
            properties: ["room": roomID, "rooms": mine], required: []),
        Frame(
            schema: "SendTypingFrame", type: "typing", examples: [#"{"type":"typing","room":"lobby"}"#],
            text: """
                Send it every 3 seconds while the user types. On a room's own socket leave out `room`. It needs a name.
                """,
            properties: ["room": roomID], required: []),
        Frame(
            schema: "TokenFrame", type: "token", examples: [#"{"type":"token","token":"eyJhbGciOi…"}"#],
            text: """
                A new token of the same user, before the old one expires. Subscriptions on `/v1/live` to rooms that it \
                does not allow end.
                """,
            properties: ["token": ["type": "string", "minLength": 1]], required: ["token"]),
    ]

    // MARK: Schemas

    /// The schemas of all frames, and of any frame from the server or from the client.
    static let schemas: [(String, JSONValue)] =
        (ofServer + ofClient).map { ($0.schema, $0.value) } + [
            ("ServerFrame", any(ofServer, "A frame from the server. Ignore types and fields that you do not know.")),
            ("ClientFrame", any(ofClient, "A frame from the client.")),
        ]

    private static func any(_ frames: [Frame], _ description: String) -> JSONValue {
        let mapping = frames.map { ($0.type, JSONValue.string("#/components/schemas/\($0.schema)")) }
        return [
            "description": .string(description), "oneOf": .array(frames.map { APISchemas.reference($0.schema) }),
            "discriminator": ["propertyName": "type", "mapping": .members(mapping)],
        ]
    }

    // MARK: Closing

    /// The codes with which the server closes WebSockets.
    static let closeCodes: [(code: CloseCode, text: String)] = [
        (.normalClosure, "The answer to your own close."),
        (.goingAway, "The server stops. Come back after a random delay, with what you have seen."),
        (.protocolError, "A frame broke the rules of RFC 6455."),
        (.unsupportedData, "A binary frame: frames are JSON, as text."),
        (.invalidPayloadData, "A frame that is no JSON, or no UTF-8."),
        (.policyViolation, "A frame that is JSON, but no object."),
        (.messageTooBig, "A frame of more than 64 KiB, or what the server is set to."),
        (.internalError, "A mistake of the server. Come back."),
        (.tryAgainLater, "The history cannot be read at the moment. Come back."),
        (.badRequest, "The request for the socket cannot be read: see the error frame. Mend the client."),
        (.tokenExpired, "The token is missing, invalid or expired. Get a new one and come back."),
        (.notMember, "You may not read the room, or no longer. Do not come back."),
        (.roomDeleted, "The room has been deleted, or there is none that you may know of. Do not come back."),
        (
            .noProgress,
            "You took nothing for 60 seconds, or what the server is set to, while there was something to take. You may "
                + "see a bare end instead."
        ),
        (.cursorUnknown, "Your position belongs to another history. Load the room afresh."),
        (
            .tooManyFrames,
            "More than 200 frames in a second, on <code>/v1/live</code> 1,200; or a limit, and then <code>retry_after</code> in "
                + "the error frame says when to come back."
        ),
        (.unavailable, "The server cannot serve you at the moment. Come back after <code>retry_after</code> seconds."),
    ]
}

extension DocsFrames.Frame {
    /// Its schema.
    fileprivate var value: JSONValue {
        let type: JSONValue = ["type": "string", "const": .string(self.type)]
        let members = [("type", type)] + properties.map { ($0.key, $0.value) }
        return [
            "type": "object", "description": .string(text), "properties": .members(members),
            "required": .strings(["type"] + required), "examples": .array(examples.map(JSONValue.written)),
        ]
    }
}
