import Wire

/// An operation of the API, as the description tells it: one method on one path.
struct APIOperation: Sendable {
    /// The parts of the API, in the order in which they are described.
    enum Tag: String, Sendable, CaseIterable {
        case messages, rooms, members, live, admin, server

        var description: String {
            switch self {
            case .messages: "Send, read, change and synchronise messages."
            case .rooms: "What a room is, up to where it has been read, and who is there."
            case .members: "Who may do what in a room."
            case .live: "Hear of changes as they happen. The frames are described at [/docs](/docs)."
            case .admin:
                "What only admins do: a token with `\"admin\": true` that is not limited to rooms. Others, and everybody "
                    + "in open mode, are refused with `forbidden`."
            case .server: "What operators and their machines ask."
            }
        }
    }

    /// Who may ask.
    enum Access: Sendable {
        /// Anybody, without a token.
        case anybody
        /// With keys who has a token; in open mode anybody.
        case reader
        /// Who has a name.
        case named
        /// Callers with an admin's token; nobody in open mode.
        case admin
    }

    /// What is in the body of a request.
    struct Content: Sendable {
        /// The schema's name in the components.
        var schema: String
        var isRequired = true
        /// Bodies that the server accepts, by what they show.
        var examples: [(name: String, value: JSONValue)]
    }

    /// An answer to a good request.
    struct Answer: Sendable {
        var status: Int
        var description: String
        /// The media type and the schema's name in the components, if there is content; text has no schema.
        var content: (mediaType: String, schema: String?)?
        /// The headers' names in the components; always there unless they say that they are not.
        var headers: [String] = []
        /// The operations that go on from it.
        var links: [String] = []

        /// An answer with JSON.
        init(_ status: Int, _ description: String, _ schema: String, headers: [String] = [], links: [String] = []) {
            self.init(status, description, mediaType: "application/json", schema, headers: headers, links: links)
        }

        /// An answer with other content.
        init(
            _ status: Int, _ description: String, mediaType: String, _ schema: String? = nil, headers: [String] = [],
            links: [String] = []
        ) {
            self.status = status
            self.description = description
            content = (mediaType, schema)
            self.headers = headers
            self.links = links
        }

        /// An answer without content.
        init(empty status: Int, _ description: String, headers: [String] = []) {
            self.status = status
            self.description = description
            self.headers = headers
        }
    }

    var method: String
    /// A template (RFC 6570, level 1), whose parameters are in the components by their names.
    var path: String
    /// The name by which generated clients call it.
    var id: String
    var tag: Tag
    /// One line.
    var summary: String
    /// What there is to know beside it; Markdown.
    var description = ""
    var access: Access
    /// The names of the parameters beside the path's, in the components.
    var parameters: [String] = []
    var body: Content?
    var answers: [Answer]
    /// With which codes it is refused, beside those of any operation.
    var refusals: [Problem.Code] = []

    /// The names of the path's parameters.
    var pathParameters: [String] {
        path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    }

    /// All operations, in the order in which they are described.
    static let all: [APIOperation] = messages + changes + rooms + members + bans + live + admin + server
}
