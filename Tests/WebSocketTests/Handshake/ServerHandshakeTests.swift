import Testing
import WebSocket

@Suite("The server's opening handshake, RFC 6455 §4.2")
struct ServerHandshakeTests {
    /// The request of §1.3.
    private let example = ServerHandshake.Request(
        method: "GET", httpMinorVersion: 1, host: ["server.example.com"], upgrade: ["websocket"],
        connection: ["Upgrade"], version: ["13"], key: ["dGhlIHNhbXBsZSBub25jZQ=="],
        subprotocols: ["chat, superchat"])

    private func refusal(_ change: (inout ServerHandshake.Request) -> Void) -> HandshakeRefusal? {
        var request = example
        change(&request)
        return #expect(throws: HandshakeRefusal.self) { try ServerHandshake(request, supporting: []) }
    }

    @Test func `The RFC's example gets the RFC's answer`() throws {
        let handshake = try ServerHandshake(example, supporting: ["chat"])
        #expect(handshake.accept == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(handshake.subprotocol == "chat")
        #expect(
            handshake.fields.map { "\($0.name): \($0.value)" } == [
                "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
                "Sec-WebSocket-Protocol: chat",
            ])
    }

    @Test func `Header values of browsers are accepted`() throws {
        var request = example
        request.upgrade = ["WebSocket"]
        request.connection = ["keep-alive, upgrade"]
        request.subprotocols = []
        let handshake = try ServerHandshake(request, supporting: ["chat"])
        #expect(handshake.subprotocol == nil)
        #expect(!handshake.fields.contains { $0.name == "Sec-WebSocket-Protocol" })
    }

    @Test func `The client's first supported subprotocol is selected; a credential among them is never echoed`() throws
    {
        var request = example
        request.subprotocols = ["bearer.eyJhbGciOiJIUzI1NiJ9.e30.c2ln", "v2, backscroll.v1"]
        let handshake = try ServerHandshake(request, supporting: ["backscroll.v1", "v2"])
        #expect(handshake.subprotocol == "v2")
        #expect(try ServerHandshake(request, supporting: ["other"]).subprotocol == nil)
        #expect(!handshake.fields.contains { $0.value.contains("bearer") })
    }

    @Test func `Subprotocols that are not tokens are refused`() {
        #expect(refusal { $0.subprotocols = ["a b"] }?.status == 400)
    }

    @Test func `Anything but a GET of HTTP/1.1 with one host is refused`() {
        #expect(refusal { $0.method = "POST" }?.status == 400)
        #expect(refusal { $0.httpMinorVersion = 0 }?.status == 400)
        #expect(refusal { $0.host = [] }?.status == 400)
        #expect(refusal { $0.host = ["a", "b"] }?.status == 400)
    }

    @Test func `A request without the upgrade gets 426`() {
        for upgrade in [[], ["h2c"], ["websocket/13"]] {
            let refusal = refusal { $0.upgrade = upgrade }
            #expect(refusal?.status == 426)
            #expect(refusal?.fields.contains { $0 == ("Upgrade", "websocket") } == true)
        }
        #expect(refusal { $0.connection = ["close"] }?.status == 400)
    }

    @Test func `Another version is told the supported one; a missing one is a bad request`() {
        for version in [["12"], ["13", "13"], ["013"], ["13, 8"]] {
            let refusal = refusal { $0.version = version }
            #expect(refusal?.status == 426)
            #expect(refusal?.fields.contains { $0 == ("Sec-WebSocket-Version", "13") } == true)
        }
        #expect(refusal { $0.version = [] }?.status == 400)
    }

    @Test(arguments: [
        [], ["dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ=="], [""], ["dGhlIHNhbXBsZSBub25jZQ"],
        ["dGhlIHNhbXBsZSBub25j"], ["dGhlIHNhbXBsZSBub25jZXM="], ["dGhlIHNhbXBsZSBub25jZ*=="],
    ])
    func `The key must occur once and have 16 bytes`(lines: [String]) {
        let refusal = refusal { $0.key = lines }
        #expect(refusal?.status == 400)
        #expect(refusal?.fields.isEmpty == true)
    }
}
