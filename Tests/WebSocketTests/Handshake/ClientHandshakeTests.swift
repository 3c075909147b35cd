import TestSupport
import Testing
import WebSocket

@Suite("The client's opening handshake, RFC 6455 §4.1")
struct ClientHandshakeTests {
    /// The nonce of §1.3.
    private let handshake = ClientHandshake(nonce: Array("the sample nonce".utf8), subprotocols: ["chat", "superchat"])
    /// The answer of §1.3.
    private let example = ClientHandshake.Response(
        status: 101, upgrade: ["websocket"], connection: ["Upgrade"], accept: ["s3pPLMBiTxaQ9kYGzzhZRbK+xOo="],
        subprotocol: ["chat"])

    private func fails(_ change: (inout ClientHandshake.Response) -> Void) -> Bool {
        var response = example
        change(&response)
        return #expect(throws: ClientHandshake.Failure.self) { try handshake.check(response) } != nil
    }

    @Test func `The request has the fields that the RFC requires`() {
        #expect(
            handshake.fields.map { "\($0.name): \($0.value)" } == [
                "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: chat, superchat",
            ])
        #expect(ClientHandshake(nonce: [UInt8](repeating: 0, count: 16)).fields.count == 4)
    }

    @Test func `The RFC's answer is accepted, with or without a subprotocol`() throws {
        #expect(try handshake.check(example).subprotocol == "chat")
        var plain = example
        plain.subprotocol = []
        #expect(try handshake.check(plain).subprotocol == nil)
        #expect(try handshake.check(plain).deflate == nil)
    }

    @Test func `Any other answer is refused`() {
        #expect(fails { $0.status = 200 })
        #expect(fails { $0.upgrade = [] })
        #expect(fails { $0.connection = ["keep-alive"] })
        #expect(fails { $0.accept = [] })
        #expect(fails { $0.accept = ["s3pPLMBiTxaQ9kYGzzhZRbK+xOO="] })
        #expect(fails { $0.subprotocol = ["other"] })
        #expect(fails { $0.subprotocol = ["chat", "superchat"] })
        #expect(fails { $0.extensions = ["permessage-deflate"] })
    }

    @Test(arguments: [
        [], [""], ["permessage-deflate; server_no_context_takeover"],
        ["permessage-deflate; server_no_context_takeover; client_no_context_takeover"],
        ["permessage-deflate;server_no_context_takeover;server_max_window_bits=8"],
    ])
    func `An answer to the offer of compression may have these parameters`(lines: [String]) throws {
        let client = ClientHandshake(nonce: Array("the sample nonce".utf8), offersDeflate: true)
        #expect(
            client.fields.last! == (
                "Sec-WebSocket-Extensions",
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
            ))
        var response = example
        response.subprotocol = []
        response.extensions = lines
        #expect(try client.check(response).deflate != nil || lines.allSatisfy(\.isEmpty))
    }

    @Test(arguments: [
        "permessage-deflate", "permessage-deflate; client_no_context_takeover", "permessage-bzip2",
        "permessage-deflate; server_no_context_takeover, permessage-deflate; server_no_context_takeover",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
        "permessage-deflate; server_no_context_takeover; client_max_window_bits=15",
        "permessage-deflate; server_no_context_takeover; server_max_window_bits=16",
        "permessage-deflate; server_no_context_takeover; other", "permessage-deflate; =", "x y",
    ])
    func `Any other answer to the offer is refused`(line: String) {
        let client = ClientHandshake(nonce: Array("the sample nonce".utf8), offersDeflate: true)
        var response = example
        response.subprotocol = []
        response.extensions = [line]
        #expect(throws: ClientHandshake.Failure.self) { try client.check(response) }
    }

    @Test func `Our client and our server understand each other`() throws {
        var generator = SeededGenerator(seed: 13)
        let nonce = (0..<ClientHandshake.nonceLength).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let client = ClientHandshake(
            nonce: nonce, subprotocols: ["backscroll.v1", "bearer.x.y.z"], offersDeflate: true)
        func values(_ name: String, in fields: [(name: String, value: String)]) -> [String] {
            fields.filter { $0.name == name }.map(\.value)
        }
        let server = try ServerHandshake(
            ServerHandshake.Request(
                method: "GET", httpMinorVersion: 1, host: ["localhost"], upgrade: values("Upgrade", in: client.fields),
                connection: values("Connection", in: client.fields),
                version: values("Sec-WebSocket-Version", in: client.fields),
                key: values("Sec-WebSocket-Key", in: client.fields),
                subprotocols: values("Sec-WebSocket-Protocol", in: client.fields),
                extensions: values("Sec-WebSocket-Extensions", in: client.fields)),
            supporting: ["backscroll.v1"], deflatingWithin: 12...12)
        let agreement = try client.check(
            ClientHandshake.Response(
                status: 101, upgrade: values("Upgrade", in: server.fields),
                connection: values("Connection", in: server.fields),
                accept: values("Sec-WebSocket-Accept", in: server.fields),
                subprotocol: values("Sec-WebSocket-Protocol", in: server.fields),
                extensions: values("Sec-WebSocket-Extensions", in: server.fields)))
        #expect(agreement.subprotocol == "backscroll.v1")
        #expect(agreement.deflate != nil && agreement.deflate == server.deflate)
    }
}
