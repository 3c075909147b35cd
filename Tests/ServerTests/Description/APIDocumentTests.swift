import DescriptionFiles
import HTTP
import HTTPTypes
import Testing
import Wire

@testable import Server

@Suite("The description")
struct APIDocumentTests {
    @Test(arguments: [false, true])
    func `is served to everybody as JSON, and only once to a client that caches it`(wantsTokens: Bool) async throws {
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

    @Test(arguments: [false, true])
    func `has no dangling references and no unused components`(wantsTokens: Bool) async throws {
        try await withServer(wantsTokens: wantsTokens) { server in
            let document = try APIDocument(of: server)
            var used: Set<String> = []
            for (place, value) in document.json.places where place.hasSuffix("/$ref") {
                #expect(throws: Never.self) { try document.json.resolve(value) }
                used.insert(value.string ?? "")
            }
            for (kind, components) in document.json["components"]?.object ?? [:] where kind != "securitySchemes" {
                for name in (components.object ?? [:]).keys {
                    let reference = "#/components/\(kind)/\(name)"
                    // Skip the caller's parameters of the other mode.
                    if wantsTokens, name.hasSuffix("Name") { continue }
                    #expect(used.contains(reference), "nothing refers to \(reference)")
                }
            }
            let ids = document.operations.map(\.id)
            #expect(Set(ids).count == ids.count && !ids.contains(""))
        }
    }

    @Test(arguments: [false, true])
    func `lists exactly the operations of all routes`(wantsTokens: Bool) async throws {
        try await withServer(wantsTokens: wantsTokens) { server in
            let document = try APIDocument(of: server)
            let paths = Dictionary(grouping: document.operations, by: \.path)
            // The files of the page and of the JavaScript package are not part of the API.
            let isFile = { (path: String) in path.hasPrefix("/page/") || path.hasPrefix("/backscroll") }
            #expect(Set(paths.keys) == Set(Resource.all.map(\.path).filter { !isFile($0) }))
            for (path, operations) in paths {
                let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
                let resource = try #require(Resource.all.first { $0.path == path })
                #expect(Set(operations.map(\.method)) == Set(resource.routes.map(\.method)))
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

    @Test(arguments: APIDescription.placeholders.keys.sorted())
    func `names each of the program's numbers`(name: String) {
        #expect(String(cString: description_openapi).contains("{{\(name)}}"))
    }

    @Test(arguments: [false, true])
    func `states the callers and the bodies of every route as the server checks them`(wantsTokens: Bool) async throws {
        try await withServer(wantsTokens: wantsTokens) { server in
            let document = try APIDocument(of: server)
            for operation in document.operations {
                let resource = try #require(Resource.all.first { $0.path == operation.path })
                let route = try #require(resource.route(for: operation.method))
                #expect((operation.json["requestBody"] != nil) == route.takesJSON, "\(operation.id)")
                if wantsTokens {
                    let isForAnybody = operation.json["security"]?.array?.isEmpty ?? true
                    #expect(isForAnybody == (route.access == .anybody), "\(operation.id)")
                    let refusals = operation.answers[403]?["x-codes"]?.array ?? []
                    if route.access == .admin { #expect(refusals.contains(.string("forbidden")), "\(operation.id)") }
                    // The two users of a direct room name it, too.
                    let namesRoom = route.path.contains("{room}") || route.path == "/v1/direct/{user}"
                    #expect(
                        refusals.contains(.string("room_not_allowed")) == (namesRoom && route.access != .anybody),
                        "\(operation.id)")
                } else {
                    // In open mode only a route for named callers needs the parameter or the header.
                    let codes = operation.answers[401]?["x-codes"]?.array ?? []
                    if route.access == .named { #expect(codes == [.string("unauthenticated")], "\(operation.id)") }
                    if route.access == .anybody { #expect(codes.isEmpty, "\(operation.id)") }
                }
            }
        }
    }

    @Test func `lists every code of every answer under its status`() async throws {
        var described: Set<String> = []
        for wantsTokens in [false, true] {
            try await withServer(wantsTokens: wantsTokens) { server in
                for operation in try APIDocument(of: server).operations {
                    for (status, answer) in operation.answers where status >= 400 {
                        let codes = (answer["x-codes"]?.array ?? []).compactMap(\.string)
                        #expect(!codes.isEmpty && Set(codes).count == codes.count, "\(operation.id) \(status)")
                        for name in codes {
                            let code = try #require(Problem.Code(rawValue: name))
                            #expect(code.status == status, "\(operation.id) \(code)")
                        }
                        described.formUnion(codes)
                    }
                }
            }
        }
        // Some occur in `error` frames only. No operation describes unknown paths or methods. Faults are for testing clients and not
        // part of the API.
        let others: [Problem.Code] = [
            .unknownType, .alreadySubscribed, .notSubscribed, .tooManySubscriptions, .disconnected, .notFound,
            .methodNotAllowed, .invalidFault,
        ]
        #expect(described.union(others.map(\.string)) == Set(Problem.Code.allCases.map(\.string)))
        #expect(described.isDisjoint(with: others.map(\.string)))
    }

    // MARK: For generators

    @Test(arguments: [false, true])
    func `uses the one schema of problems for every refusal`(wantsTokens: Bool) async throws {
        try await withServer(wantsTokens: wantsTokens) { server in
            for operation in try APIDocument(of: server).operations {
                for (status, answer) in operation.answers where status >= 400 {
                    let content = try #require(answer["content"]?.object)
                    let problem = JSON.object(["$ref": .string("#/components/schemas/Problem")])
                    #expect(content.keys.elementsEqual(["application/problem+json"]))
                    #expect(content["application/problem+json"] == .object(["schema": problem]), "\(operation.id)")
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func `names only objects and enumerations, none of them recursive`(wantsTokens: Bool) async throws {
        try await withServer(wantsTokens: wantsTokens) { server in
            let document = try APIDocument(of: server)
            let schemas = try #require(document.json["components"]?["schemas"]?.object)
            func names(in schema: JSON) -> Set<String> {
                Set(
                    schema.places.compactMap { place, value in
                        place.hasSuffix("/$ref") ? value.string?.split(separator: "/").last.map(String.init) : nil
                    })
            }
            for (name, schema) in schemas {
                let isObject = schema["type"] == .string("object") || schema["oneOf"] != nil || schema["allOf"] != nil
                #expect(isObject || schema["enum"] != nil, "\(name) is a string or a number")
                var reached = names(in: schema)
                var count = 0
                while count < reached.count {
                    count = reached.count
                    for other in reached {
                        let schema = try #require(schemas[other])
                        reached.formUnion(names(in: schema))
                    }
                }
                #expect(!reached.contains(name), "\(name) contains itself")
            }
        }
    }

    @Test func `names every enumeration, and has no choice of schemas except frames and null`() throws {
        try withServer { server in
            for (place, _) in try APIDocument(of: server).json.places {
                let steps = place.split(separator: "/")
                switch steps.last {
                case "enum":
                    #expect(steps.count == 4 && steps.starts(with: ["components", "schemas"]), "\(place)")
                case "oneOf":
                    #expect(["ServerFrame", "ClientFrame"].contains(steps[2]), "\(place)")
                case "anyOf":
                    let choice = try APIDocument(of: server).value(at: place)
                    #expect(choice?.array?.last == .object(["type": .string("null")]), "\(place)")
                default: break
                }
            }
        }
    }

    @Test func `shows frames as they are sent`() throws {
        try withServer { server in
            let document = try APIDocument(of: server)
            for direction in ["ServerFrame", "ClientFrame"] {
                let any = try #require(document.json["components"]?["schemas"]?[direction])
                let mapping = try #require(any["discriminator"]?["mapping"]?.object)
                let references = try #require(any["oneOf"]?.array)
                for reference in references {
                    let schema = try document.json.dereference(reference)
                    let type = try #require(schema["properties"]?["type"]?["const"]?.string)
                    #expect(mapping[type] == reference["$ref"])
                    let properties = try #require(schema["properties"]?.object?.keys)
                    let examples = try #require(schema["examples"]?.array)
                    let required = (schema["required"]?.array ?? []).compactMap(\.string)
                    for example in examples {
                        let members = Set(try #require(example.object?.keys))
                        #expect(example["type"]?.string == type && members.isSubset(of: properties))
                        // The example of a server frame is what the server writes, with all possible fields.
                        if direction == "ServerFrame" { #expect(members == Set(properties), "\(type)") }
                        #expect(members.isSuperset(of: required))
                    }
                }
                #expect(mapping.count == references.count)
            }
        }
    }
}

/// Runs `body` with a server in open mode or with keys.
func withServer(
    wantsTokens: Bool, _ configure: (inout ServerConfiguration) -> Void = { _ in }, _ body: (LiveServer) throws -> Void
) async throws {
    if wantsTokens {
        try await withTokenServer(configure: configure, body)
    } else {
        try withServer(configure, body)
    }
}
