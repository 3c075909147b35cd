import Wire

/// The parameters of requests, and the headers of answers.
enum APIParameters {
    /// A parameter of the components.
    static func reference(_ name: String) -> JSONValue {
        ["$ref": "#/components/parameters/\(name)"]
    }

    /// All parameters, by the names under which operations refer to them.
    static let all: [(String, JSONValue)] = ofPaths + places + limits + headers + names

    private static func parameter(
        _ name: String, in place: String, _ schema: JSONValue, _ description: String, example: JSONValue? = nil,
        isRequired: Bool = false
    ) -> JSONValue {
        var parameter: JSONValue = ["name": .string(name), "in": .string(place)]
        if isRequired || place == "path" { parameter = parameter.adding(["required": true]) }
        parameter = parameter.adding(["description": .string(description), "schema": schema])
        return example.map { parameter.adding(["example": $0]) } ?? parameter
    }

    private static let ofPaths: [(String, JSONValue)] = [
        ("room", parameter("room", in: "path", APISchemas.reference("RoomID"), "The room.", example: "lobby")),
        ("seq", parameter("seq", in: "path", APISchemas.reference("Seq"), "The message's place.", example: 1)),
        (
            "client_message_id",
            parameter(
                "client_message_id", in: "path",
                ["type": "string", "minLength": 1, "maxLength": .number(Limits.clientMessageIDBytes)],
                "What the caller has sent it with.", example: "3f1c")
        ),
        (
            "key",
            parameter("key", in: "path", APISchemas.reference("ReactionKey"), "What to react with.", example: "👍")
        ),
        ("user", parameter("user", in: "path", APISchemas.reference("UserID"), "The member.", example: "bob")),
    ]

    // MARK: Queries

    /// A string, though most places are numbers: generators handle no choice of types in a query.
    private static let place: JSONValue = [
        "type": "string",
        "pattern":
            #"^([0-9]+|first|last|read|unread|[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9:.]+([Zz]|[+-][0-9:]+))$"#,
    ]

    private static func place(_ name: String, _ what: String) -> (String, JSONValue) {
        let forms = """
            a `seq`, a time (RFC 3339), `first`, `last`, `read` for the caller's read mark, or `unread` for the first \
            message of others beyond it that is not deleted (the newest message if there is none).
            """
        return (name, parameter(name, in: "query", place, "\(what): \(forms)"))
    }

    private static let places: [(String, JSONValue)] = [
        place("before", "What lies before a place"),
        place("after", "What lies after a place; `after=0` is the room from its start"),
        place("around", "What lies around a place, with it in the middle"),
        (
            "since",
            parameter(
                "since", in: "query",
                ["type": "string", "pattern": "^([A-Za-z0-9]{1,\(SincePosition.maximumEpochBytes)}:)?[0-9]+$"],
                """
                The client's position: a `rev` up to which it has everything, as `REV` or `EPOCH:REV`. It is the page's, \
                then the highest received on the subscription, and that of `live`; never that of an answer to a send, nor \
                that of `subscribed`.
                """, example: "0")
        ),
        (
            "epoch",
            parameter("epoch", in: "query", APISchemas.reference("Epoch"), "The epoch of `since`, if it names none.")
        ),
        (
            "cursor",
            parameter(
                "cursor", in: "query",
                [
                    "type": "string",
                    "pattern":
                        "^[A-Za-z0-9]{1,\(SincePosition.maximumEpochBytes)}:[0-9]+:[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$",
                ],
                "Where to go on: the `cursor` of the answer before.")
        ),
        (
            "afterRoom",
            parameter("after", in: "query", APISchemas.reference("RoomID"), "Behind which room to go on.")
        ),
        (
            "afterUser",
            parameter("after", in: "query", APISchemas.reference("UserID"), "Behind which member to go on.")
        ),
    ]

    private static func limit(_ name: String, _ maximum: Int, default: Int) -> (String, JSONValue) {
        let schema: JSONValue = [
            "type": "integer", "minimum": 1, "maximum": .number(maximum), "default": .number(`default`),
        ]
        return (name, parameter("limit", in: "query", schema, "How many there are at most."))
    }

    private static let limits: [(String, JSONValue)] = [
        limit("roomsLimit", Limits.rooms, default: Limits.defaultRooms),
        limit("pageLimit", Limits.pageMessages, default: Limits.defaultPageMessages),
        limit("changesLimit", Limits.changedMessages, default: Limits.defaultChangedMessages),
        limit("membersLimit", Limits.members, default: Limits.defaultMembers),
        limit("bansLimit", Limits.bans, default: Limits.defaultBans),
    ]

    // MARK: Headers

    private static let headers: [(String, JSONValue)] = [
        (
            "If-Match",
            parameter(
                "If-Match", in: "header", ["type": "string"],
                "The `ETag` of the message that the client has seen: 412 if it has changed since, but not for an edit that is repeated.",
                example: "*")
        ),
        (
            "If-None-Match",
            parameter(
                "If-None-Match", in: "header", ["type": "string"],
                "The `ETag` of what the client has: 304 if it is the same.",
                example: "\"1\"")
        ),
        (
            "Last-Event-ID",
            parameter(
                "Last-Event-ID", in: "header",
                [
                    "type": "string",
                    "pattern": .string(
                        "^(([A-Za-z0-9]{1,\(SincePosition.maximumEpochBytes)}:)?[0-9]+|\(EventStreamText.refusedID))?$"),
                ],
                """
                Of an event stream: the id of the last event that was received. It wins over `since`. With \
                `\(EventStreamText.refusedID)`, the id of a refusal, the answer is 204.
                """)
        ),
    ]

    /// In open mode.
    private static let names: [(String, JSONValue)] = [
        ("callerName", callerName(isRequired: true)), ("readerName", callerName(isRequired: false)),
    ]

    private static func callerName(isRequired: Bool) -> JSONValue {
        parameter(
            "X-User", in: "header", ["type": "string", "pattern": "^[!-~]{1,\(UserID.maximumBytes)}$"],
            "Who the caller is; it is believed. Or the parameter `user`, where it is any user id.", example: "alice",
            isRequired: isRequired)
    }

    // MARK: Headers of answers

    /// A header of the components.
    static func headerReference(_ name: String) -> JSONValue {
        ["$ref": "#/components/headers/\(name)"]
    }

    /// All headers of answers, by name.
    static let answerHeaders: [(String, JSONValue)] = [
        header("Location", "Where the message is.", pattern: "^/v1/rooms/[A-Za-z0-9._~-]+/messages/[0-9]+$"),
        header("ETag", "The `rev` of a message in quotes; of other content a hash.", pattern: "^\"[0-9a-f]+\"$"),
        header(
            "Link", "Where the pages on either side are, if there are any: `rel=\"prev\"`, `rel=\"next\"` (RFC 8288).",
            isAlways: false),
        header("Retry-After", "In how many seconds to try again.", pattern: "^[1-9][0-9]*$"),
        header("RateLimit", "That nothing is left of the limit (draft-ietf-httpapi-ratelimit-headers)."),
        header("RateLimit-Policy", "The limit."),
        header("WWW-Authenticate", "What is wrong with the token (RFC 6750).", isAlways: false),
        header("Upgrade", "`websocket`.", pattern: "^websocket$"),
        header("Sec-WebSocket-Version", "The only version that there is.", pattern: "^13$"),
        header("Sec-WebSocket-Accept", "The answer to the client's key (RFC 6455)."),
        header("X-Accel-Buffering", "Has nginx pass events on as they come.", pattern: "^no$"),
    ]

    private static func header(
        _ name: String, _ description: String, pattern: String? = nil, isAlways: Bool = true
    ) -> (String, JSONValue) {
        var schema: JSONValue = ["type": "string"]
        if let pattern { schema = schema.adding(["pattern": .string(pattern)]) }
        return (name, ["description": .string(description), "required": .boolean(isAlways), "schema": schema])
    }
}
