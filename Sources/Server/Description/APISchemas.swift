import Wire

/// The schemas of what is sent and answered: JSON Schema, draft 2020-12, as OpenAPI 3.1 has it.
///
/// Bounds are those of ``Limits``. Those that count bytes of UTF-8 stand as `maxLength`, which counts characters: no
/// longer string is taken, and the description says what counts.
enum APISchemas {
    /// A schema of the components.
    static func reference(_ name: String) -> JSONValue {
        ["$ref": "#/components/schemas/\(name)"]
    }

    /// All schemas, by name.
    static let all: [(String, JSONValue)] = names + drafts + messages + roomAnswers + rest

    // MARK: Names and numbers

    /// Printable characters without spaces, in the part of regular expressions that all languages have in common: it
    /// leaves out controls, spaces and what shows nothing but the joiners of names and emoji.
    private static let printable =
        #"^[^\u0000-\u0020\u007F-\u00A0\u00AD\u1680\u180E\u1FFF-\u200B\u200E\u200F\u2028-\u202F\u205F-\u206F"#
        + #"\u3000\uFEFF\uFFF0-\uFFFB\uFFFE\uFFFF]+$"#

    private static let names: [(String, JSONValue)] = [
        (
            "RoomID",
            [
                "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$",
                "description": "What a room is called by programs.", "examples": ["lobby", "team-1"],
            ]
        ),
        (
            "UserID",
            [
                "type": "string", "minLength": 1, "maxLength": .number(UserID.maximumBytes),
                "pattern": .string(printable),
                "description": "1 to \(UserID.maximumBytes) bytes of printable UTF-8 without spaces.",
                "examples": ["alice"],
            ]
        ),
        (
            "ReactionKey",
            [
                "type": "string", "minLength": 1, "maxLength": .number(Limits.reactionKeyBytes),
                "pattern": .string(printable),
                "description": "An emoji or any word: 1 to \(Limits.reactionKeyBytes) bytes of printable UTF-8.",
                "examples": ["❤️", "+1"],
            ]
        ),
        (
            "Seq",
            [
                "type": "integer", "format": "int64", "minimum": 1, "maximum": .number(Int.max), "examples": [120],
                "description": "The place of a message in its room: 1, 2, 3 … without holes, never reused.",
            ]
        ),
        (
            "Rev",
            [
                "type": "integer", "format": "int64", "minimum": 0, "examples": [57],
                "description":
                    "A revision of a room: each change of a message takes the next one. A position to resume from is only that of a page, of a message received on the subscription, or of `live`.",
            ]
        ),
        (
            "Epoch",
            [
                "type": "string", "pattern": "^[A-Za-z0-9]{1,\(SincePosition.maximumEpochBytes)}$",
                "description": "The history that the numbers belong to: another one after a backup was restored.",
                "examples": ["RNmyYL9bWlAE2Ja9ThuN"],
            ]
        ),
        (
            "Time",
            [
                "type": "string", "format": "date-time",
                "pattern": #"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$"#,
                "examples": ["2026-11-21T02:13:41.973Z"],
            ]
        ),
        (
            "JSON",
            [
                "description": "Any JSON without the character U+0000.",
                "anyOf": [
                    ["type": ["null", "boolean", "number"]], text(),
                    ["type": "array", "items": reference("JSON")],
                    [
                        "type": "object", "propertyNames": ["pattern": .string(noNUL)],
                        "additionalProperties": reference("JSON"),
                    ],
                ],
            ]
        ),
        ("Object", ["type": "object"]),
    ]

    // MARK: Pieces

    private static let noNUL = #"^[^\u0000]*$"#

    /// A text of at most so many bytes.
    static func text(_ limit: Int? = nil, isNullable: Bool = false, _ description: String? = nil) -> JSONValue {
        var schema: JSONValue = [
            "type": isNullable ? ["string", "null"] : "string", "pattern": .string(noNUL),
        ]
        if let limit { schema = schema.adding(["maxLength": .number(limit)]) }
        if let description { schema = schema.adding(["description": .string(description)]) }
        return schema
    }

    /// An object with these members, of which some are always there.
    static func object(
        _ properties: KeyValuePairs<String, JSONValue>, required: [String], _ description: String? = nil
    ) -> JSONValue {
        var schema: JSONValue = ["type": "object"]
        if let description { schema = schema.adding(["description": .string(description)]) }
        schema = schema.adding(["properties": .members(properties.map { ($0.key, $0.value) })])
        return required.isEmpty ? schema : schema.adding(["required": .strings(required)])
    }

    /// What clients may also say by null: that it is absent.
    static func nullable(_ schema: JSONValue) -> JSONValue {
        ["anyOf": [schema, ["type": "null"]]]
    }

    // MARK: What is not of messages

    private static let rest: [(String, JSONValue)] = [
        (
            "Problem",
            object(
                [
                    "type": ["const": "about:blank"],
                    "title": ["type": "string"],
                    "status": ["type": "integer", "minimum": 400, "maximum": 599],
                    "code": ["type": "string", "description": "What went wrong, for programs. It keeps its meaning."],
                    "detail": ["type": "string", "description": "What went wrong, for people."],
                    "field": ["type": "string", "description": "The part of the request that is at fault."],
                    "limit": ["type": "integer", "description": "The bound that is exceeded."],
                ], required: ["type", "title", "status", "code", "detail"],
                "Why a request was refused (RFC 9457).")
        ),
        (
            "MalformedCode",
            ["description": "Of requests that no operation could read.", "enum": codes(Problem.Code.malformed)]
        ),
        ("Status", object(["status": ["enum": ["ok", "ready"]]], required: ["status"])),
    ]

    /// The names of codes.
    static func codes(_ codes: [Problem.Code]) -> JSONValue {
        .strings(codes.map(\.string))
    }
}
