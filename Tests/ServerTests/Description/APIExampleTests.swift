import HTTP
import HTTPTypes
import Server
import Testing

@Suite("An example in the description")
struct APIExampleTests {
    @Test(arguments: [false, true])
    func `is accepted in a room with a message and a member`(wantsTokens: Bool) async throws {
        try await withServer(wantsTokens: wantsTokens, { $0.presence = true }) { server in
            let alice = wantsTokens ? HTTPField.bearer(try TestToken.of("alice")) : HTTPField("X-User", "alice")
            let bob = wantsTokens ? HTTPField.bearer(try TestToken.of("bob")) : HTTPField("X-User", "bob")
            let root = HTTPField.bearer(try TestToken.of("root", #""admin":true"#))
            // Nobody was banned or erased, nothing was reported, and there is no webhook before; WebhookTests has one.
            let maybeMissing: Set = [
                "closeReport", "getBan", "getServerBan", "liftServerBan", "getErasure", "getWebhook", "removeWebhook",
                "replayWebhook", "rotateWebhookSecret", "skipDelivery", "testWebhook",
            ]
            // Open mode has no admins.
            for operation in try APIDocument(of: server).operations where wantsTokens || operation.tag != "admin" {
                // The user of the example changes the own profile.
                let caller = operation.tag == "admin" ? root : operation.id == "setProfile" ? bob : alice
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
                        operation.method, operation.target.replacing("/v1/rooms/lobby", with: room) + operation.query,
                        fields: [caller] + (operation.tag == "live" ? HandshakeTests.fields : []),
                        body: operation.body == nil ? [] : Array(example.text.utf8))
                    let isMissing = response.status == .notFound && maybeMissing.contains(operation.id)
                    #expect(
                        isMissing || (100..<300).contains(response.status.code),
                        "\(operation.id) \(name): \(response.text)")
                }
            }
        }
    }
}

extension APIDocument.Operation {
    /// The bodies of the request's examples, by name.
    var examples: [String: JSON] {
        (body?["content"]?["application/json"]?["examples"]?.object ?? [:]).compactMapValues { $0["value"] }
    }

    /// The query with the examples of the parameters that are required; empty without any.
    var query: String {
        let pairs = parameters.compactMap { parameter -> String? in
            guard parameter["in"] == .string("query"), parameter["required"] != nil,
                let name = parameter["name"]?.string
            else { return nil }
            return "\(name)=\(Self.escaped(parameter["example"]?.string ?? ""))"
        }
        return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
    }

    /// The operation's tag.
    var tag: String? { json["tags"]?.array?.first?.string }
}
