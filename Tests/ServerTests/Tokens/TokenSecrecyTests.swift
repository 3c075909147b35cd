import HTTP
import HTTPTypes
import Logging
import TestSupport
import Testing
import WebSocket

@testable import Server

@Suite("Tokens and keys")
struct TokenSecrecyTests {
    @Test(arguments: [LogFormat.text, .json])
    func `stay out of the log at every level, and out of errors`(format: LogFormat) async throws {
        let tokens = try [TestToken.of("alice"), TestToken.of("alice", expiringIn: -61), "not.a.token-but-a-secret"]
        let pipe = PipeEnds()
        let logger = makeLogger(
            label: "test", format: format, level: .trace, output: LogOutput(descriptor: pipe.writing))
        var answers = ""
        try await withTokenServer(logger: logger) { server in
            let client = try HTTPClient(port: server.port)
            for token in tokens {
                let messages = "/v1/rooms/lobby/messages?limit=1&access_token=\(token)"
                answers += try client.get(messages).text
                answers += try client.request(.post, messages, body: Array("{".utf8)).text
                answers += try client.get("/v1/rooms/%zz?access_token=\(token)").text
                answers += try client.get("/nowhere?access_token=\(token)", fields: [.bearer(token)]).text
                _ = try? WebSocketClient(port: server.port, subprotocols: ["backscroll.v1", "bearer.\(token)"])
            }
            // Includes libwebsockets' messages about clients that reset connections.
            try HTTPClient(port: server.port).reset()
            let socket = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?access_token=\(tokens[0])")
            try socket.greeting()
            for token in tokens { try socket.send(#"{"type":"token","token":"\#(token)"}"#) }
            try socket.send("{")
            guard try socket.closeCode() == .invalidPayloadData else { throw Unexpected("another close") }
            logger.info("the log is read", metadata: ["path": "/?access_token=\(tokens[0])", "token": "\(tokens[0])"])
        }
        let lines = pipe.finish()
        #expect(lines.contains("the log is read"))
        for secret in tokens + [TestKeys.secret] {
            #expect(!lines.contains(secret) && !answers.contains(secret))
        }
    }
}
