import Chat
import Wire

/// The parameters of requests and the headers of answers.
enum APIParameters {
    /// Returns a reference to a parameter of the components.
    static func reference(_ name: String) -> JSONValue {
        ["$ref": "#/components/parameters/\(name)"]
    }

    /// All parameters, by the names that operations refer to them by.
    static let all: [(String, JSONValue)] = ofPaths + places + limits + headers + names

    /// Returns a parameter with its name in the components, which is its own name unless `component` differs.
    private static func parameter(
        _ name: String, as component: String? = nil, in place: String, _ schema: JSONValue, _ description: String,
        example: JSONValue? = nil, isRequired: Bool = false
    ) -> (String, JSONValue) {
        var parameter: JSONValue = ["name": .string(name), "in": .string(place)]
        if isRequired || place == "path" { parameter = parameter.adding(["required": true]) }
        parameter = parameter.adding(["description": .string(description), "schema": schema])
        if let example { parameter = parameter.adding(["example": example]) }
        return (component ?? name, parameter)
    }

    private static let ofPaths: [(String, JSONValue)] = [
        parameter("room", in: "path", APISchemas.reference("RoomID"), "The room.", example: "lobby"),
        parameter("seq", in: "path", APISchemas.reference("Seq"), "The message's place.", example: 1),
        parameter(
            "client_message_id", in: "path",
            ["type": "string", "minLength": 1, "maxLength": .number(Limits.clientMessageIDBytes)],
            "The name that the caller sent the message with.", example: "3f1c"),
        parameter("key", in: "path", APISchemas.reference("ReactionKey"), "The reaction.", example: "👍"),
        parameter("user", in: "path", APISchemas.reference("UserID"), "The user.", example: "bob"),
    ]

    // MARK: Queries

    /// A string, although most places are numbers: client generators do not support a choice of types in a query.
    private static let place: JSONValue = [
        "type": "string",
        "pattern":
            #"^([0-9]+|first|last|read|unread|[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9:.]+([Zz]|[+-][0-9:]+))$"#,
    ]

    private static func place(_ name: String, _ what: String) -> (String, JSONValue) {
        let forms = """
            a `seq`, a time (RFC 3339), `first`, `last`, `read` for the caller's read mark, or `unread` for the first undeleted \
            message of another user after that mark (the newest message if there is none).
            """
        return parameter(name, in: "query", place, "\(what): \(forms)")
    }

    private static let places: [(String, JSONValue)] = [
        place("before", "The page before a place"),
        place("after", "The page after a place; `after=0` is the start of the room"),
        place("around", "The page with a place in its middle"),
        parameter(
            "since", in: "query",
            ["type": "string", "pattern": "^([A-Za-z0-9]{1,\(SincePosition.maximumEpochBytes)}:)?[0-9]+$"],
            """
            The client's position, the `rev` up to which it has everything: `REV` or `EPOCH:REV`. Take it from a page, then from \
            the messages received on the subscription (the highest) and from `live`; never from the answer to a send or from \
            `subscribed`.
            """, example: "0"),
        parameter("epoch", in: "query", APISchemas.reference("Epoch"), "The epoch of `since`, if it names none."),
        parameter(
            "cursor", in: "query",
            [
                "type": "string",
                "pattern":
                    "^[A-Za-z0-9]{1,\(SincePosition.maximumEpochBytes)}:[0-9]+:[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$",
            ],
            "The `cursor` of the previous answer."),
        parameter(
            "after", as: "afterRoom", in: "query", APISchemas.reference("RoomID"),
            "The last room of the previous answer."),
        parameter(
            "after", as: "afterUser", in: "query", APISchemas.reference("UserID"),
            "The last user of the previous answer."),
    ]

    private static func limit(_ name: String, _ maximum: Int, default: Int) -> (String, JSONValue) {
        let schema: JSONValue = [
            "type": "integer", "minimum": 1, "maximum": .number(maximum), "default": .number(`default`),
        ]
        return parameter("limit", as: name, in: "query", schema, "The maximum number of entries.")
    }

    private static let limits: [(String, JSONValue)] = [
        limit("roomsLimit", Limits.rooms, default: Limits.defaultRooms),
        limit("pageLimit", Limits.pageMessages, default: Limits.defaultPageMessages),
        limit("changesLimit", Limits.changedMessages, default: Limits.defaultChangedMessages),
        limit("membersLimit", Limits.members, default: Limits.defaultMembers),
        limit("reactingUsersLimit", Limits.reactingUsers, default: Limits.defaultReactingUsers),
        limit("bansLimit", Limits.bans, default: Limits.defaultBans),
    ]

    // MARK: Headers

    private static let headers: [(String, JSONValue)] = [
        parameter(
            "If-Match", in: "header", ["type": "string"],
            "The `ETag` of the message that the client has seen. The answer is 412 if the message has changed since, except for a repeated edit.",
            example: "*"),
        parameter(
            "If-None-Match", in: "header", ["type": "string"],
            "The `ETag` of the content that the client has. The answer is 304 if it is the same.", example: "\"1\""),
        parameter(
            "Last-Event-ID", in: "header",
            [
                "type": "string",
                "pattern": .string(
                    "^(([A-Za-z0-9]{1,\(SincePosition.maximumEpochBytes)}:)?[0-9]+|\(EventStreamText.refusedID))?$"),
            ],
            """
            For an event stream: the id of the last event received. It takes precedence over `since`. With \
            `\(EventStreamText.refusedID)`, the id of a refusal, the answer is 204.
            """),
    ]

    /// The caller's name, in open mode.
    private static let names = [name("callerName", isRequired: true), name("readerName", isRequired: false)]

    private static func name(_ component: String, isRequired: Bool) -> (String, JSONValue) {
        parameter(
            "X-User", as: component, in: "header",
            ["type": "string", "pattern": "^[!-~]{1,\(UserID.maximumBytes)}$"],
            "The caller's name, which the server believes. The query parameter `user` can carry any user id instead.",
            example: "alice", isRequired: isRequired)
    }

    // MARK: Headers of answers

    /// Returns a reference to a header of the components.
    static func headerReference(_ name: String) -> JSONValue {
        ["$ref": "#/components/headers/\(name)"]
    }

    /// All headers of answers, by name.
    static let answerHeaders: [(String, JSONValue)] = [
        header("Location", "The URL of the message.", pattern: "^/v1/rooms/[A-Za-z0-9._~-]+/messages/[0-9]+$"),
        header("ETag", "For a message its `rev` in quotes, for other content a hash.", pattern: "^\"[0-9a-f]+\"$"),
        header(
            "Link", "The neighbouring pages, if there are any: `rel=\"prev\"`, `rel=\"next\"` (RFC 8288).",
            isAlways: false),
        header("Retry-After", "The number of seconds after which to try again.", pattern: "^[1-9][0-9]*$"),
        header("RateLimit", "The remaining limit, which is zero (draft-ietf-httpapi-ratelimit-headers)."),
        header("RateLimit-Policy", "The limit."),
        header("WWW-Authenticate", "The fault of the token (RFC 6750).", isAlways: false),
        header("Upgrade", "`websocket`.", pattern: "^websocket$"),
        header("Sec-WebSocket-Version", "The only supported version.", pattern: "^13$"),
        header("Sec-WebSocket-Accept", "The answer to the client's key (RFC 6455)."),
        header("X-Accel-Buffering", "Makes nginx forward events at once.", pattern: "^no$"),
    ]

    private static func header(
        _ name: String, _ description: String, pattern: String? = nil, isAlways: Bool = true
    ) -> (String, JSONValue) {
        var schema: JSONValue = ["type": "string"]
        if let pattern { schema = schema.adding(["pattern": .string(pattern)]) }
        return (name, ["description": .string(description), "required": .boolean(isAlways), "schema": schema])
    }
}
