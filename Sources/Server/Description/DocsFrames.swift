import Chat
import WebSocket
import Wire

/// The frames of WebSockets and event streams. The schemas of the description and the page at `/docs` are both
/// generated from this table.
enum DocsFrames {
    struct Frame {
        /// The name of its schema in the components.
        var schema: String
        var type: String
        /// Example frames, as sent.
        var examples: [String]
        /// The purpose of the frame, as Markdown with only code spans.
        var text: String
        /// The fields in addition to `type`.
        var properties: KeyValuePairs<String, JSONValue>
        /// The names of the fields that are always present.
        var required: [String]
    }

    private static let room = try! RoomID("lobby")
    private static let user = try! UserID("bob")
    private static let roomID = APISchemas.reference("RoomID")
    private static let rev = APISchemas.reference("Rev")
    private static let epoch = APISchemas.reference("Epoch")

    // MARK: From the server

    static let ofServer: [Frame] = [
        ofServer(
            "SubscribedFrame", .subscribed(room: room, head: 5, rev: 7, epoch: "RNmyYL9bWlAE2Ja9ThuN"),
            "The first frame of a subscription, with the state of the room.",
            [
                "room": roomID,
                "head": APISchemas.count("The room's highest `seq`; 0 if it is empty."),
                "rev": rev, "epoch": epoch,
            ]),
        message,
        ofServer(
            "LiveFrame", .live(room: room, rev: 7),
            "The end of the replay; comes once for each subscription, at once if there is nothing to replay. Changes that follow are new.",
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
            ["room": roomID, "online": APISchemas.online]),
        ofServer(
            "ErrorFrame", .error(.rateLimited(retryAfter: 3), room: "lobby"),
            "The server could not serve a frame, or has ended a subscription on `/v1/live`; the socket then stays open. Or the server "
                + "refuses or ends the socket itself; then a close code for the reason follows.",
            [
                "code": [
                    "type": "string",
                    "description": .string("A problem code as in HTTP answers, or one of \(frameCodes)."),
                ],
                "message": ["type": "string", "description": "The reason, for people."],
                "room": [
                    "type": "string", "description": "The room as the client wrote it, if the error concerns a room.",
                ],
                "retry_after": [
                    "type": "integer", "minimum": 1,
                    "description": "The number of seconds after which to try again, if known.",
                ],
            ], optional: ["room", "retry_after"]),
    ]

    private static let frameCodes = Problem.Code.ofFrames.map { "`\($0)`" }.joined(separator: ", ")

    /// Returns a server frame whose example is encoded by the server's own encoder.
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
                A message as it is now: new, edited, deleted, or with changed reactions. Replace the message that you hold under its \
                `seq` if its `rev` is higher. Your own messages arrive, too: the echo of a send has you as `sender` and the \
                `client_message_id` of the send.
                """,
            properties: ["message": APISchemas.reference("Message")], required: ["message"])
    }()

    // MARK: From the client

    private static let mine: JSONValue = [
        "type": "string", "const": "mine", "description": "All rooms of the caller. Use it in place of `room`.",
    ]

    static let ofClient: [Frame] = [
        Frame(
            schema: "SubscribeFrame", type: "subscribe",
            examples: [
                #"{"type":"subscribe","room":"lobby","since":7,"epoch":"RNmyYL9bWlAE2Ja9ThuN"}"#,
                #"{"type":"subscribe","rooms":"mine"}"#,
            ],
            text: """
                On `/v1/live`. Needs either `room` or `rooms`. With `rooms`, the socket subscribes to all rooms that you are a member \
                of, from now on, and to those that you join later. Existing subscriptions stay as they are: subscribe to rooms with \
                a `since` first. A socket has up to 1,000 rooms.
                """,
            properties: [
                "room": roomID, "rooms": mine,
                "since": [
                    "type": ["integer", "string"],
                    "description": """
                    A `rev`, or `EPOCH:REV`: the messages that changed after it come first. Without it the subscription begins with the \
                    next change. Not allowed with `rooms`.
                    """,
                ],
                "epoch": epoch,
            ], required: []),
        Frame(
            schema: "UnsubscribeFrame", type: "unsubscribe",
            examples: [#"{"type":"unsubscribe","room":"lobby"}"#],
            text: """
                On `/v1/live`. Needs either `room` or `rooms`. The server does not answer it, and sends nothing of the room after it.
                """,
            properties: ["room": roomID, "rooms": mine], required: []),
        Frame(
            schema: "SendTypingFrame", type: "typing", examples: [#"{"type":"typing","room":"lobby"}"#],
            text: """
                Send it every 3 seconds while the user types. On a room's own socket leave out `room`. The caller needs a name.
                """,
            properties: ["room": roomID], required: []),
        Frame(
            schema: "TokenFrame", type: "token", examples: [#"{"type":"token","token":"eyJhbGciOi…"}"#],
            text: """
                A new token of the same user; send it before the old one expires. On `/v1/live`, subscriptions to rooms that the new \
                token does not allow end.
                """,
            properties: ["token": ["type": "string", "minLength": 1]], required: ["token"]),
    ]

    // MARK: Schemas

    /// The schemas of all frames, and the unions of server frames and of client frames.
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

    /// The codes that the server closes WebSockets with.
    static let closeCodes: [(code: CloseCode, text: String)] = [
        (.normalClosure, "The answer to your own close frame."),
        (.goingAway, "The server stops. Reconnect after a random delay, from your position."),
        (.protocolError, "A frame broke the rules of RFC 6455."),
        (.unsupportedData, "A binary frame. Send JSON as text frames."),
        (.invalidPayloadData, "A frame that is not JSON or not UTF-8."),
        (.policyViolation, "A frame with JSON that is not an object."),
        (.messageTooBig, "A frame larger than 64 KiB, or than the server's own limit."),
        (.internalError, "An error of the server. Reconnect."),
        (.tryAgainLater, "The history cannot be read at the moment. Reconnect later."),
        (.badRequest, "The request for the socket is invalid: see the error frame. Correct the client."),
        (.tokenExpired, "The token is missing, invalid or expired. Get a new one and reconnect."),
        (.notMember, "You may not read the room, or not any more. Do not reconnect."),
        (.roomDeleted, "The room was deleted, or you may not know whether it exists. Do not reconnect."),
        (
            .noProgress,
            "You received nothing for 60 seconds (or the server's own limit) while data was waiting. You may "
                + "see the connection end without this code."
        ),
        (.cursorUnknown, "Your position belongs to another history. Load the room again."),
        (
            .tooManyFrames,
            "More than 200 frames in a second, on <code>/v1/live</code> 1,200; or a rate limit: then <code>retry_after</code> in "
                + "the error frame says when to reconnect."
        ),
        (.unavailable, "The server cannot serve you at the moment. Reconnect after <code>retry_after</code> seconds."),
    ]
}

extension DocsFrames.Frame {
    /// The schema of the frame.
    fileprivate var value: JSONValue {
        let type: JSONValue = ["type": "string", "const": .string(self.type)]
        let members = [("type", type)] + properties.map { ($0.key, $0.value) }
        return [
            "type": "object", "description": .string(text), "properties": .members(members),
            "required": .strings(["type"] + required), "examples": .array(examples.map(JSONValue.written)),
        ]
    }
}
