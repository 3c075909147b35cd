import Wire

/// One operation of the API, a method on a path, as the description presents it.
struct APIOperation: Sendable {
    /// The groups of operations, in the order in which the description lists them.
    enum Tag: String, Sendable, CaseIterable {
        case messages, rooms, members, live, admin, server

        var description: String {
            switch self {
            case .messages: "Send, read, change and synchronise messages."
            case .rooms: "Rooms, their settings, read marks and subscribers."
            case .members: "The members of a room, their roles and bans."
            case .live: "Receive changes as they happen. [/docs](/docs) describes the frames."
            case .admin:
                "For admins: callers whose token has `\"admin\": true` and is not limited to rooms. Others, and everybody "
                    + "in open mode, are refused with `forbidden`."
            case .server: "Health checks, metrics and descriptions, for operators and tools."
            }
        }
    }

    /// The callers that an operation serves.
    enum Access: Sendable {
        /// Any caller, without a token.
        case anybody
        /// With keys, callers with a token; in open mode, any caller.
        case reader
        /// Callers with a name.
        case named
        /// Callers with an admin's token; no caller in open mode.
        case admin
    }

    /// The body of a request.
    struct Content: Sendable {
        /// The schema's name in the components.
        var schema: String
        var isRequired = true
        /// Example bodies that the server accepts, each with a name.
        var examples: [(name: String, value: JSONValue)]
    }

    /// An answer to a valid request.
    struct Answer: Sendable {
        var status: Int
        var description: String
        /// The media type and the schema's name in the components, if there is content; text has no schema.
        var content: (mediaType: String, schema: String?)?
        /// The names of its headers in the components. A header is always present unless its component says otherwise.
        var headers: [String] = []
        /// The ids of the operations that can follow.
        var links: [String] = []

        /// Creates an answer with content. JSON needs a schema.
        init(
            _ status: Int, _ description: String, _ schema: String? = nil, mediaType: String = "application/json",
            headers: [String] = [], links: [String] = []
        ) {
            self.status = status
            self.description = description
            content = (mediaType, schema)
            self.headers = headers
            self.links = links
        }

        /// Creates an answer without content.
        init(empty status: Int, _ description: String, headers: [String] = []) {
            self.status = status
            self.description = description
            self.headers = headers
        }
    }

    var method: String
    /// A path template (RFC 6570, level 1). Its parameters are in the components under their names.
    var path: String
    /// The operation's name in generated clients.
    var id: String
    var tag: Tag
    /// A summary on one line.
    var summary: String
    /// Details beyond the summary, as Markdown.
    var description = ""
    var access: Access
    /// The names of further parameters in the components, in addition to those of the path.
    var parameters: [String] = []
    var body: Content?
    var answers: [Answer]
    /// The codes of refusals, in addition to those of every operation.
    var refusals: [Problem.Code] = []

    /// The names of the path's parameters.
    var pathParameters: [String] {
        path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    }

    /// All operations, in the order in which the description lists them.
    static let all: [APIOperation] = messages + changes + rooms + members + bans + live + admin + server
}
