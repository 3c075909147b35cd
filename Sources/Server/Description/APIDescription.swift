/// The description of the API as `GET /openapi.json` answers it: OpenAPI 3.1.
///
/// Composed of the values that the server itself uses: the limits and the problem codes. A server with keys and one in
/// open mode have different descriptions.
struct APIDescription {
    /// True if callers authenticate with tokens. In open mode they state a name instead.
    let wantsTokens: Bool

    /// True if this listener serves `/metrics`; false if it has a listener of its own.
    var hasMetrics = true

    /// Returns the description of a server in the given mode, encoded once per process.
    static func content(wantsTokens: Bool, hasMetrics: Bool) -> StaticContent {
        switch (wantsTokens, hasMetrics) {
        case (false, true): open
        case (true, true): withTokens
        case (false, false): openWithoutMetrics
        case (true, false): withTokensWithoutMetrics
        }
    }

    private static let withTokens = APIDescription(wantsTokens: true).content
    private static let open = APIDescription(wantsTokens: false).content
    private static let withTokensWithoutMetrics = APIDescription(wantsTokens: true, hasMetrics: false).content
    private static let openWithoutMetrics = APIDescription(wantsTokens: false, hasMetrics: false).content

    private var content: StaticContent {
        var bytes: [UInt8] = []
        document.write(into: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        return StaticContent(bytes, contentType: Exchange.ContentType.json)
    }

    var document: JSONValue {
        var components: JSONValue = [
            "schemas": .members(APISchemas.all),
            "parameters": .members(APIParameters.all),
            "headers": .members(APIParameters.answerHeaders),
            "responses": .members(APIRefusals.components),
        ]
        if wantsTokens { components = components.adding(["securitySchemes": .members(Self.securitySchemes)]) }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "Backscroll", "version": .string(Version.current),
                "summary": "A realtime chat backend whose history you can scroll both ways",
                "description": .string(Self.introduction),
                "license": ["name": "MIT", "identifier": "MIT"],
            ],
            "servers": [["url": "/"]],
            "tags": .array(
                APIOperation.Tag.allCases.map { tag in
                    ["name": .string(tag.rawValue), "description": .string(tag.description)]
                }),
            "paths": .members(paths),
            "components": components,
            "externalDocs": ["url": "/docs", "description": "WebSockets and event streams, to read"],
        ]
    }

    private static let introduction = """
        A room is a log. Every message has a `seq`, its place in the room without gaps, which pages go by; every change \
        takes the room's next `rev`, which clients synchronise by. Messages are always sent whole, as they are now.

        JSON in UTF-8; times are RFC 3339 in UTC. Unknown fields are ignored, and so is a content type, unless it \
        contradicts JSON. Every GET also has HEAD, OPTIONS lists the methods of a path, and other methods get 405 with `Allow`. \
        Errors are `application/problem+json` (RFC 9457) with a stable `code`.
        """

    // MARK: Paths

    private var paths: [(String, JSONValue)] {
        var paths: [(String, JSONValue)] = []
        for operation in APIOperation.all where hasMetrics || operation.path != "/metrics" {
            let member = (operation.method, describe(operation))
            if let index = paths.firstIndex(where: { $0.0 == operation.path }) {
                paths[index].1 = paths[index].1.adding([member.0: member.1])
            } else {
                let parameters = JSONValue.array(operation.pathParameters.map(APIParameters.reference))
                let path: JSONValue = operation.pathParameters.isEmpty ? [:] : ["parameters": parameters]
                paths.append((operation.path, path.adding([member.0: member.1])))
            }
        }
        return paths
    }

    private func describe(_ operation: APIOperation) -> JSONValue {
        var value: JSONValue = [
            "operationId": .string(operation.id), "tags": [.string(operation.tag.rawValue)],
            "summary": .string(operation.summary),
        ]
        if !operation.description.isEmpty {
            value = value.adding(["description": .string(operation.description)])
        }
        value = value.adding(["security": security(of: operation)])
        if operation.tag == .live {
            // OpenAPI cannot describe the frames of a socket; these extensions name their schemas.
            value = value.adding([
                "x-server-frames": APISchemas.reference("ServerFrame"),
                "x-client-frames": APISchemas.reference("ClientFrame"),
            ])
        }
        let parameters = parameters(of: operation)
        if !parameters.isEmpty {
            value = value.adding(["parameters": .array(parameters.map(APIParameters.reference))])
        }
        if let body = operation.body { value = value.adding(["requestBody": describe(body)]) }
        let responses =
            operation.answers.map { (String($0.status), describe($0, of: operation)) }
            + APIRefusals(of: operation, wantsTokens: wantsTokens).responses
        return value.adding(["responses": .members(responses)])
    }

    private func describe(_ body: APIOperation.Content) -> JSONValue {
        let examples = body.examples.map { example -> (String, JSONValue) in (example.name, ["value": example.value]) }
        return [
            "required": .boolean(body.isRequired),
            "content": [
                "application/json": ["schema": APISchemas.reference(body.schema), "examples": .members(examples)]
            ],
        ]
    }

    private func describe(_ answer: APIOperation.Answer, of operation: APIOperation) -> JSONValue {
        var value: JSONValue = ["description": .string(answer.description)]
        if !answer.headers.isEmpty {
            value = value.adding([
                "headers": .members(answer.headers.map { ($0, APIParameters.headerReference($0)) })
            ])
        }
        if let (mediaType, schema) = answer.content {
            let schema: JSONValue = schema.map(APISchemas.reference) ?? ["type": "string"]
            let content: JSONValue = ["schema": schema]
            value = value.adding(["content": .members([(mediaType, content)])])
        }
        guard !answer.links.isEmpty else { return value }
        return value.adding(["links": .members(answer.links.map { ($0, link(to: $0, from: operation)) })])
    }

    /// Returns a link (OpenAPI 3.1, 4.8.20) from an answer to an operation that can follow it.
    private func link(to id: String, from operation: APIOperation) -> JSONValue {
        let target = APIOperation.all.first { $0.id == id }!
        let known = operation.pathParameters
        let parameters = target.pathParameters.map { name in
            let place = known.contains(name) ? "$request.path.\(name)" : "$response.body#/\(name)"
            return (name, JSONValue.string(name == "key" ? "👍" : place))
        }
        return ["operationId": .string(id), "parameters": .members(parameters)]
    }

    // MARK: Callers

    /// Parameters of an operation. In open mode the caller's name is a parameter like any other.
    private func parameters(of operation: APIOperation) -> [String] {
        switch operation.access {
        case .anybody: operation.parameters
        case .reader, .admin: operation.parameters + (wantsTokens ? [] : ["readerName"])
        case .named: operation.parameters + (wantsTokens ? [] : ["callerName"])
        }
    }

    /// Security requirements of an operation. A token in the URL works everywhere, but the description recommends it
    /// only where clients cannot set headers.
    private func security(of operation: APIOperation) -> JSONValue {
        guard wantsTokens, operation.access != .anybody else { return [] }
        return operation.tag == .live ? [["token": .array([])], ["tokenInURL": .array([])]] : [["token": .array([])]]
    }

    private static let securitySchemes: [(String, JSONValue)] = [
        (
            "token",
            [
                "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
                "description": "Signed by the application: `sub` is the user, `exp` the expiry time.",
            ]
        ),
        (
            "tokenInURL",
            [
                "type": "apiKey", "in": "query", "name": "access_token",
                "description": "The same token, where headers cannot be set. Send one of the two, never both.",
            ]
        ),
    ]
}
