import HTTPTypes
import Testing
import Wire

@testable import Server

@Suite("A route")
struct RouteTests {
    private let lobby = try! RoomID("lobby")

    /// The path that a request names, and the values in it.
    private struct Found: Equatable {
        var path: String
        var values: PathValues
    }

    private func find(_ segments: [String]) throws -> Found? {
        guard let resource = Resource.find(segments) else { return nil }
        return Found(path: resource.path, values: try resource.values(in: segments))
    }

    private func find(_ path: String) throws -> Found? {
        try find(path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init))
    }

    @Test func `is found by the path's segments, with the values in them`() throws {
        let room = PathValues(room: lobby)
        let user = PathValues(user: try UserID("bob"))
        let found: [(String, String, PathValues)] = [
            ("/", "/", PathValues()), ("/page/app.js", "/page/{name}", PathValues(text: "app.js")),
            ("/healthz", "/healthz", PathValues()), ("/readyz", "/readyz", PathValues()),
            ("/metrics", "/metrics", PathValues()), ("/v1/rooms", "/v1/rooms", PathValues()),
            ("/v1/rooms/lobby", "/v1/rooms/{room}", room),
            ("/v1/rooms/lobby/messages", "/v1/rooms/{room}/messages", room),
            ("/v1/rooms/lobby/messages/7", "/v1/rooms/{room}/messages/{seq}", PathValues(room: lobby, seq: 7)),
            ("/v1/rooms/lobby/changes", "/v1/rooms/{room}/changes", room),
            ("/v1/rooms/lobby/members", "/v1/rooms/{room}/members", room),
            (
                "/v1/rooms/lobby/bans/bob", "/v1/rooms/{room}/bans/{user}",
                PathValues(room: lobby, user: try UserID("bob"))
            ),
            ("/v1/rooms/lobby/read", "/v1/rooms/{room}/read", room),
            ("/v1/rooms/lobby/presence", "/v1/rooms/{room}/presence", room),
            ("/v1/rooms/lobby/live", "/v1/rooms/{room}/live", room), ("/v1/live", "/v1/live", PathValues()),
            ("/v1/users/bob", "/v1/users/{user}", user), ("/v1/admin/users/bob", "/v1/admin/users/{user}", user),
            ("/v1/admin/users/bob/sockets", "/v1/admin/users/{user}/sockets", user),
        ]
        for (path, template, values) in found { #expect(try find(path) == Found(path: template, values: values)) }
        // A slash within a segment arrives percent-encoded.
        #expect(
            try find(["v1", "rooms", "lobby", "messages", "by-client-id", "a/1"])
                == Found(
                    path: "/v1/rooms/{room}/messages/by-client-id/{client_message_id}",
                    values: PathValues(room: lobby, text: "a/1")))
        #expect(
            try find(["v1", "rooms", "lobby", "messages", "7", "reactions", "a/1"])
                == Found(
                    path: "/v1/rooms/{room}/messages/{seq}/reactions/{key}",
                    values: PathValues(room: lobby, seq: 7, key: try ReactionKey("a/1"))))
        #expect(
            try find(["v1", "rooms", "lobby", "members", "a/b"])
                == Found(
                    path: "/v1/rooms/{room}/members/{user}",
                    values: PathValues(room: lobby, user: try UserID("a/b"))))
    }

    @Test(
        arguments: [
            [], ["v1"], ["v2", "rooms"], ["v2", "rooms", "lobby"], ["v1", "room", "lobby"], ["healthz", ""],
            ["v1", "lives"], ["v2", "live"],
            ["V1", "rooms", "lobby"], ["v1", "rooms", "lobby", "Messages"],
            ["v1", "rooms", "lobby", "messages", "1", "2"],
            ["v1", "rooms", "lobby", "messages", "1", "reactions"],
            ["v1", "rooms", "lobby", "messages", "1", "reactions", "x", "y"],
            ["v1", "rooms", "lobby", "messages", "1", "likes", "x"],
            ["v1", "rooms", "lobby", "messages", "by-client-id", "a", "b"], ["v1", "rooms", "lobby", "live", ""],
            ["v1", "rooms", "lobby", ""],
        ] as [[String]])
    func `is not found for other paths`(segments: [String]) throws {
        #expect(try find(segments) == nil)
    }

    @Test func `treats a seq that is too large as a missing message`() throws {
        #expect(try find("/v1/rooms/lobby/messages/99999999999999999999")?.values.seq == .max)
    }

    @Test(arguments: ["", "-1", "+1", "1.0", "x", "١", "0x1"])
    func `refuses an invalid seq`(text: String) {
        let problem = #expect(throws: Problem.self) { try find("/v1/rooms/lobby/messages/\(text)") }
        #expect(problem?.code == .invalidField)
        #expect(problem?.field == "seq")
        #expect(problem?.detail == "seq must be a decimal number.")
    }

    @Test(arguments: ["", " ", ".", "..", String(repeating: "x", count: 65)])
    func `refuses an invalid reaction key`(text: String) {
        let problem = #expect(throws: Problem.self) { try find("/v1/rooms/lobby/messages/1/reactions/\(text)") }
        #expect(problem == .invalidReaction)
    }

    @Test(arguments: [
        ("/v1/rooms/lobby/messages", "GET, HEAD, POST, OPTIONS"),
        ("/v1/rooms/lobby/messages/1", "GET, HEAD, PATCH, DELETE, OPTIONS"),
        ("/v1/rooms/lobby/messages/1/reactions/x", "GET, HEAD, PUT, DELETE, OPTIONS"),
        ("/v1/rooms/lobby/read", "PUT, OPTIONS"), ("/v1/rooms/lobby/live", "GET, OPTIONS"),
        ("/v1/live", "GET, OPTIONS"), ("/v1/rooms/lobby", "GET, HEAD, PUT, DELETE, OPTIONS"),
        ("/v1/rooms/lobby/changes", "GET, HEAD, OPTIONS"), ("/v1/admin/users/a/sockets", "DELETE, OPTIONS"),
    ])
    func `lists the methods of its path`(path: String, allowed: String) {
        let segments = path.dropFirst().split(separator: "/").map(String.init)
        #expect(Resource.find(segments)?.allowed == allowed)
    }

    // MARK: The table

    @Test func `serves HEAD as GET, unless it is a socket or a stream`() {
        for resource in Resource.all {
            let hasGet = resource.route(for: .get) != nil
            #expect((resource.route(for: .head) != nil) == (hasGet && !resource.isLive), "\(resource.path)")
        }
    }

    @Test func `is the only one of its method and path, and shares the path's listeners`() {
        for resource in Resource.all {
            #expect(Set(resource.routes.map(\.method)).count == resource.routes.count, "\(resource.path)")
            for route in resource.routes {
                #expect(route.listeners == resource.listeners && route.isLive == resource.isLive, "\(route.path)")
            }
        }
    }

    @Test func `is found by its own path, so that no earlier path hides it`() throws {
        for resource in Resource.all {
            // Names that no placeholder's neighbor has.
            let path = resource.path.replacing(/\{[a-z_]+\}/, with: "1")
            #expect(try find(path)?.path == resource.path)
        }
    }
}
