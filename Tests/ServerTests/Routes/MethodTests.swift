import HTTP
import HTTPTypes
import Testing

@Suite("Methods")
struct MethodTests {
    private static let readOnly = [
        "/", "/healthz", "/readyz", "/metrics", "/v1/rooms?user=alice", "/v1/rooms/lobby/members",
        "/v1/rooms/lobby/messages/by-client-id/a?user=alice", "/v1/rooms/lobby/changes",
    ]

    @Test func `that a resource does not support get 405 with the supported ones`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let known: [(String, String, [HTTPRequest.Method])] =
                Self.readOnly.map { ($0, "GET, HEAD, OPTIONS", [.post, .put, .patch, .delete, .trace]) } + [
                    ("/v1/rooms/lobby/messages", "GET, HEAD, POST, OPTIONS", [.put, .patch, .delete]),
                    ("/v1/rooms/lobby/messages/1", "GET, HEAD, PATCH, DELETE, OPTIONS", [.put, .post]),
                    ("/v1/rooms/lobby/messages/1/reactions/x", "GET, HEAD, PUT, DELETE, OPTIONS", [.post, .patch]),
                    ("/v1/rooms/lobby", "GET, HEAD, PUT, DELETE, OPTIONS", [.post, .patch]),
                    ("/v1/rooms/lobby/members/bob", "GET, HEAD, PUT, DELETE, OPTIONS", [.post, .patch]),
                    ("/v1/rooms/lobby/read", "PUT, OPTIONS", [.get, .head, .post, .delete]),
                    ("/v1/rooms/lobby/live", "GET, OPTIONS", [.head, .post, .delete]),
                ]
            for (target, allowed, methods) in known {
                for method in methods + [HTTPRequest.Method("BREW")!] {
                    let response = try client.request(method, target)
                    #expect(response.status == .methodNotAllowed, "\(method) \(target)")
                    #expect(response["Allow"] == allowed)
                    if method != .head { #expect(try response.problem.code == "method_not_allowed") }
                }
            }
        }
    }

    @Test func `HEAD answers like GET without the content`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for id in ["a", "b", "c"] { try client.send("x", id: id) }
            for target in Self.readOnly + [
                "/v1/rooms/lobby/messages?limit=1", "/v1/rooms/lobby/messages/1", "/v1/rooms/lobby/messages/9",
                "/nowhere",
            ] {
                let get = try client.get(target)
                let head = try client.request(.head, target)
                #expect(head.status == get.status)
                #expect(head.body.isEmpty)
                #expect(head["Link"] == get["Link"])
                #expect(head["ETag"] == get["ETag"])
                #expect(head["Content-Type"] == get["Content-Type"])
                // The metrics change between the two requests.
                if target != "/metrics" { #expect(head["Content-Length"] == get["Content-Length"]) }
            }
        }
    }

    @Test func `OPTIONS lists them, for a resource and for the server`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let response = try client.request(.options, "/v1/rooms/lobby/messages")
            #expect(response.status == .noContent)
            #expect(response["Allow"] == "GET, HEAD, POST, OPTIONS")
            #expect(try client.request(.options, "*").status == .noContent)
            #expect(try client.request(.options, "/nowhere").status == .notFound)
        }
    }

    @Test(arguments: [
        "/nowhere", "/v1", "/v1/", "/v1/rooms/lobby/", "/V1/rooms/lobby", "/v1/rooms/lobby/messages/1/2", "//",
        "/v1/rooms/lobby/messages/1/reactions", "/v1/rooms/lobby/messages/1/reactions/x/y",
        "/healthz/", "/v1//rooms/lobby", "/v1/rooms/lobby/../lobby/messages", "/v2/rooms/lobby/messages",
    ])
    func `on an unknown path get 404`(target: String) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for method in [HTTPRequest.Method.get, .post, .delete] {
                let response = try client.request(method, target)
                #expect(response.status == .notFound)
                #expect(try response.problem.code == "not_found")
            }
        }
    }

    @Test(arguments: ["/%", "/%zz", "/%00", "/%FF", "/?a=%"])
    func `on an undecodable target get 400`(target: String) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let response = try client.get(target)
            #expect(response.status == .badRequest)
            #expect(try response.problem.code == "target_encoding_invalid")
            #expect(try client.get("/healthz").status == .ok)
        }
    }
}
