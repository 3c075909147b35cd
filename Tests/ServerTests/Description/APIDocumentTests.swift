import HTTP
import HTTPTypes
import Testing
import Wire

@testable import Server

@Suite("The description")
struct APIDocumentTests {
    @Test("is served to everybody as JSON, and not again to who has it", arguments: [false, true])
    func served(wantsTokens: Bool) async throws {
        try await withServer(wantsTokens: wantsTokens) { server in
            let client = try HTTPClient(port: server.port)
            let response = try client.get("/openapi.json")
            #expect(response.status == .ok && response["Content-Type"] == "application/json")
            let tag = try #require(response["ETag"])
            let head = try client.request(.head, "/openapi.json")
            #expect(head["ETag"] == tag && head["Content-Length"] == "\(response.body.count)" && head.body.isEmpty)
            for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                let again = try client.get("/openapi.json", fields: [HTTPField("If-None-Match", known)])
                #expect(again.status == .notModified && again.body.isEmpty && again["ETag"] == tag)
            }
            #expect(try client.get("/openapi.json", fields: [HTTPField("If-None-Match", "\"x\"")]).status == .ok)
            let other = try client.request(.post, "/openapi.json")
            #expect(other.status == .methodNotAllowed && other["Allow"] == "GET, HEAD, OPTIONS")
        }
    }

    @Test("refers to what is there, and uses everything that is there", arguments: [false, true])
    func references(wantsTokens: Bool) async throws {
        try await withServer(wantsTokens: wantsTokens) { server in
            let document = try APIDocument(of: server)
            var used: Set<String> = []
            for (place, value) in document.json.places where place.hasSuffix("/$ref") {
                #expect(throws: Never.self) { try document.schemas.resolve(value) }
                used.insert(value.string ?? "")
            }
            for (kind, components) in document.json["components"]?.object ?? [:] where kind != "securitySchemes" {
                for name in (components.object ?? [:]).keys {
                    let reference = "#/components/\(kind)/\(name)"
                    // The names of the other mode are of no use in this one.
                    if wantsTokens, name.hasSuffix("Name") { continue }
                    #expect(used.contains(reference), "\(reference) is of no use")
                }
            }
            let ids = document.operations.map(\.id)
            #expect(Set(ids).count == ids.count && !ids.contains(""))
        }
    }

    @Test("has the operations of all routes and no others", arguments: [false, true])
    func routes(wantsTokens: Bool) async throws {
        try await withServer(wantsTokens: wantsTokens) { server in
            let document = try APIDocument(of: server)
            let paths = Dictionary(grouping: document.operations, by: \.path)
            #expect(Set(paths.keys) == Set(try Self.routes.map(Self.template)))
            for (path, operations) in paths {
                let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
                let target = segments.map {
                    ["{room}": "lobby", "{seq}": "1", "{key}": "x", "{user}": "bob"][$0] ?? $0
                }
                let route = try #require(try Route(target))
                #expect(try Self.template(route) == path)
                #expect(Set(operations.map(\.method)) == Set(route.methods).subtracting([.head]))
                for operation in operations {
                    let names = operation.parameters.filter { $0["in"] == .string("path") }.compactMap {
                        $0["name"]?.string
                    }
                    #expect(
                        Set(names)
                            == Set(segments.filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }))
                }
            }
        }
    }

    @Test("lists all codes that answers have, each under its status")
    func codes() async throws {
        var described: Set<String> = []
        for wantsTokens in [false, true] {
            try await withServer(wantsTokens: wantsTokens) { server in
                let document = try APIDocument(of: server)
                for operation in document.operations {
                    for (status, answer) in operation.answers where status >= 400 {
                        let schema = try #require(answer["content"]?["application/problem+json"]?["schema"])
                        for (place, value) in schema.places
                            + (document.schemas.document["components"]?["schemas"]?["MalformedCode"]?.places ?? [])
                        where place.contains("/enum/") {
                            let code = try #require(Problem.Code(rawValue: value.string ?? ""))
                            if place.contains("properties") {
                                #expect(code.status == status, "\(operation.id) \(code)")
                            }
                            described.insert(code.string)
                        }
                    }
                }
            }
        }
        // No operation is described for a path that is not there, or a method that a path does not know.
        // And faults are not the API's: clients are tried with them.
        let others = Problem.Code.ofFrames + [.notFound, .methodNotAllowed, .invalidFault]
        #expect(described.union(others.map(\.string)) == Set(Problem.Code.allCases.map(\.string)))
        #expect(described.isDisjoint(with: others.map(\.string)))
    }

    // MARK: Routes

    private static let routes: [Route] = {
        let (room, user) = (try! RoomID("lobby"), try! UserID("bob"))
        return [
            .index, .health, .readiness, .metrics, .description, .docs, .rooms, .room(room), .messages(room),
            .message(room, seq: 1), .clientMessage(room, id: "a"), .reaction(room, seq: 1, try! ReactionKey("x")),
            .changes(room), .read(room), .members(room), .member(room, user), .presence(room), .live(room), .liveRooms,
        ]
    }()

    /// The path of a route. Whoever adds one adds it to the list above, too.
    private static func template(_ route: Route) throws -> String {
        switch route {
        case .index: "/"
        // Not in the list: the page's files are no part of the API.
        case .pageFile: "/page/{name}"
        case .health: "/healthz"
        case .readiness: "/readyz"
        case .metrics: "/metrics"
        case .description: "/openapi.json"
        case .docs: "/docs"
        case .rooms: "/v1/rooms"
        case .room: "/v1/rooms/{room}"
        case .messages: "/v1/rooms/{room}/messages"
        case .message: "/v1/rooms/{room}/messages/{seq}"
        case .clientMessage: "/v1/rooms/{room}/messages/by-client-id/{client_message_id}"
        case .reaction: "/v1/rooms/{room}/messages/{seq}/reactions/{key}"
        case .changes: "/v1/rooms/{room}/changes"
        case .read: "/v1/rooms/{room}/read"
        case .members: "/v1/rooms/{room}/members"
        case .member: "/v1/rooms/{room}/members/{user}"
        case .presence: "/v1/rooms/{room}/presence"
        case .live: "/v1/rooms/{room}/live"
        case .liveRooms: "/v1/live"
        }
    }
}

/// Runs `body` with a server in open mode, or one that wants tokens.
func withServer(
    wantsTokens: Bool, _ configure: (inout ServerConfiguration) -> Void = { _ in }, _ body: (LiveServer) throws -> Void
) async throws {
    if wantsTokens {
        try await withTokenServer(configure: configure, body)
    } else {
        try withServer(configure, body)
    }
}
