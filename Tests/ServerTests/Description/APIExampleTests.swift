import HTTP
import HTTPTypes
import Server
import Testing

@Suite("What the description gives as examples")
struct APIExampleTests {
    @Test("is valid, by the schemas beside it", arguments: [false, true])
    func valid(wantsTokens: Bool) async throws {
        try await withServer(wantsTokens: wantsTokens) { server in
            let document = try APIDocument(of: server)
            for (name, schema) in document.json["components"]?["schemas"]?.object ?? [:] {
                for example in schema["examples"]?.array ?? [] {
                    #expect(try document.schemas.faults(of: example, by: schema) == [], "\(name)")
                }
            }
            for operation in document.operations {
                for parameter in operation.parameters {
                    guard let example = parameter["example"] else { continue }
                    let schema = try #require(parameter["schema"])
                    #expect(try document.schemas.faults(of: example, by: schema) == [], "\(operation.id)")
                }
                for (name, example) in operation.examples {
                    let schema = try #require(operation.body?["content"]?["application/json"]?["schema"])
                    #expect(try document.schemas.faults(of: example, by: schema) == [], "\(operation.id) \(name)")
                }
            }
        }
    }

    @Test("is accepted, each in a room with a message and a member", arguments: [false, true])
    func accepted(wantsTokens: Bool) async throws {
        try await withServer(wantsTokens: wantsTokens, { $0.presence = true }) { server in
            let alice = wantsTokens ? HTTPField.bearer(try TestToken.of("alice")) : HTTPField("X-User", "alice")
            for operation in try APIDocument(of: server).operations {
                for (name, example) in operation.body == nil ? ["none": JSON.null] : operation.examples {
                    let client = try HTTPClient(port: server.port)
                    let room = "/v1/rooms/\(operation.id)-\(name)"
                    if operation.id != "sendMessage" {
                        let draft = Array(#"{"client_message_id":"3f1c","text":"x"}"#.utf8)
                        let sent = try client.request(.post, "\(room)/messages", fields: [alice], body: draft)
                        #expect(sent.status == .created)
                        let added = try client.request(.put, "\(room)/members/bob", fields: [alice])
                        #expect(added.status == .created)
                    }
                    let response = try client.request(
                        operation.method, operation.target.replacing("/v1/rooms/lobby", with: room),
                        fields: [alice] + (operation.tag == "live" ? HandshakeTests.fields : []),
                        body: operation.body == nil ? [] : Array(example.text.utf8))
                    #expect((100..<300).contains(response.status.code), "\(operation.id) \(name): \(response.text)")
                }
            }
        }
    }
}

extension APIDocument.Operation {
    /// The bodies of requests, by what they show.
    var examples: [String: JSON] {
        (body?["content"]?["application/json"]?["examples"]?.object ?? [:]).compactMapValues { $0["value"] }
    }

    /// The part of the API that it is in.
    var tag: String? { json["tags"]?.array?.first?.string }
}
