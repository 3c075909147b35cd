import Chat
import Wire

/// The schemas of requests, answers and frames: JSON Schema, draft 2020-12, as OpenAPI 3.1 uses it.
///
/// Client generators read them, so only objects and enumerations have names: a named string or number would become a
/// wrapper type in generated code, and generators reject recursive schemas and `anyOf` conditions. Rules that need one
/// of these are stated in a description instead.
///
/// Bounds come from ``Limits``. A bound in bytes of UTF-8 is written as `maxLength`, which counts characters: a longer
/// string is never accepted, and the description names the unit.
enum APISchemas {
    /// Returns a reference to an object or enumeration of this name, or the schema of the string or number itself.
    static func reference(_ name: String) -> JSONValue {
        scalars[name] ?? ["$ref": .string("#/components/schemas/\(name)")]
    }

    /// All schemas of the components, by name.
    static let all: [(String, JSONValue)] = drafts + messages + roomAnswers + DocsFrames.schemas + rest

    // MARK: Names and numbers

    /// Printable characters without spaces. Excludes controls, spaces and invisible characters, except the joiners used
    /// in names and emoji.
    private static let printable = undotted(
        except: #"\u0000-\u0020\u007F-\u00A0\u00AD\u1680\u180E\u1FFF-\u200B\u200E\u200F\u2028-\u202F\u205F-\u206F"#
            + #"\u3000\uFEFF\uFFF0-\uFFFB\uFFFE\uFFFF"#)

    /// Returns the pattern of strings without the characters of a class, other than the empty string, `.` and `..`, in
    /// the regular-expression syntax that all languages share.
    static func undotted(except excluded: String) -> String {
        #"^(\.{0,2}[^\#(excluded).][^\#(excluded)]*|\.{3}[^\#(excluded)]*)$"#
    }

    /// Strings and numbers with a meaning of their own. Their schemas are repeated where they are used.
    private static let scalars: [String: JSONValue] = [
        "RoomID": [
            "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$", "description": "The id of a room.",
            "examples": ["lobby"],
        ],
        "UserID": [
            "type": "string", "minLength": 1, "maxLength": .number(UserID.maximumBytes),
            "pattern": .string(printable), "examples": ["alice"],
            "description": .string(
                "A user: 1 to \(UserID.maximumBytes) bytes of printable UTF-8 without spaces, not `.` or `..`."),
        ],
        "ReactionKey": [
            "type": "string", "minLength": 1, "maxLength": .number(Limits.reactionKeyBytes),
            "pattern": .string(printable), "examples": ["+1"],
            "description":
                .string(
                    "An emoji or any word: 1 to \(Limits.reactionKeyBytes) bytes of printable UTF-8, not `.` or `..`."),
        ],
        "Seq": [
            "type": "integer", "format": "int64", "minimum": 1, "maximum": .number(Int.max), "examples": [120],
            "description": "The place of a message in its room: 1, 2, 3 … without gaps, never reused.",
        ],
        "Rev": [
            "type": "integer", "format": "int64", "minimum": 0, "examples": [57],
            "description": """
            A revision of the room: each change of a message takes the next one. Resume only from the `rev` of a page, of a \
            message received on the subscription, or of `live`.
            """,
        ],
        "Epoch": [
            "type": "string", "pattern": .string("^[A-Za-z0-9]{1,\(SincePosition.maximumEpochBytes)}$"),
            "description": "The history that `seq` and `rev` belong to. It changes when a backup is restored.",
            "examples": ["RNmyYL9bWlAE2Ja9ThuN"],
        ],
        "Time": [
            "type": "string", "format": "date-time",
            "pattern": #"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$"#,
            "examples": ["2026-11-21T02:13:41.973Z"],
        ],
    ]

    // MARK: Pieces

    /// Returns the schema of a text without the character U+0000, of at most `limit` bytes.
    static func text(_ limit: Int, isNullable: Bool = false, _ description: String? = nil) -> JSONValue {
        let schema: JSONValue = [
            "type": isNullable ? ["string", "null"] : "string", "pattern": #"^[^\u0000]*$"#,
            "maxLength": .number(limit),
        ]
        return description.map { schema.adding(["description": .string($0)]) } ?? schema
    }

    /// Returns the schema of a number that is not negative.
    static func count(_ description: String) -> JSONValue {
        ["type": "integer", "minimum": 0, "description": .string(description)]
    }

    /// Returns the schema of a string that has one of these values.
    static func choice(_ values: [String], _ description: String) -> JSONValue {
        ["type": "string", "enum": .strings(values), "description": .string(description)]
    }

    /// Returns the schema of an array of at most `limit` elements.
    static func list(of element: String, upTo limit: Int) -> JSONValue {
        ["type": "array", "maxItems": .number(limit), "items": reference(element)]
    }

    /// Returns the schema of `has_more`. The client reads the next page by passing `last` as `after`.
    static func hasMore(passing last: String) -> JSONValue {
        ["type": "boolean", "description": "For the next page, pass the last \(last) as `after`."]
    }

    /// Returns the schema of an object with these members; those in `required` are always present.
    static func object(
        _ properties: KeyValuePairs<String, JSONValue>, required: [String], _ description: String? = nil
    ) -> JSONValue {
        var schema: JSONValue = ["type": "object"]
        if let description { schema = schema.adding(["description": .string(description)]) }
        schema = schema.adding(["properties": .members(properties.map { ($0.key, $0.value) })])
        return required.isEmpty ? schema : schema.adding(["required": .strings(required)])
    }

    /// Returns a schema that also allows null.
    static func nullable(_ schema: JSONValue) -> JSONValue {
        if case .object(let members) = schema, let type = members.firstIndex(where: { $0.name == "type" }) {
            var members = members
            members[type].value = .array([members[type].value, "null"])
            return .object(members)
        }
        return ["anyOf": [schema, ["type": "null"]]]
    }

    // MARK: Errors and the server

    private static let rest: [(String, JSONValue)] = [
        (
            "Problem",
            object(
                [
                    "type": ["type": "string", "examples": ["about:blank"]],
                    "title": ["type": "string", "description": "The name of the status."],
                    "status": ["type": "integer", "minimum": 400, "maximum": 599],
                    "code": [
                        "type": "string", "examples": ["invalid_field"],
                        "description": """
                        The reason, for programs. A code never changes its meaning. Each response lists its codes as `x-codes`. \
                        Treat a code that you do not know by its status.
                        """,
                    ],
                    "detail": ["type": "string", "description": "The reason, for people."],
                    "field": ["type": "string", "description": "The part of the request that is wrong."],
                    "limit": ["type": "integer", "description": "The bound that is exceeded."],
                ], required: ["type", "title", "status", "code", "detail"],
                "The reason why a request was refused (RFC 9457).")
        ),
        (
            "Status",
            object(
                [
                    "status": [
                        "type": "string", "description": "`ok`, `ready` or `degraded`.", "examples": ["ok"],
                    ],
                    "rooms": [
                        "type": "integer", "minimum": 1,
                        "description": "With `degraded`: the number of rooms that take no changes.",
                    ],
                ],
                required: ["status"])
        ),
        ("OpenAPIDocument", ["type": "object", "additionalProperties": true]),
    ]
}
