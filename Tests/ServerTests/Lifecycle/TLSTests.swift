import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import Transport

@Suite("Over TLS")
struct TLSTests {
    private func withSecureServer(_ body: (LiveServer, TestCertificate) throws -> Void) throws {
        let certificate = try TestCertificate(name: "first")
        try withServer {
            $0.tls = TLSConfiguration(certificate: certificate.certificatePath, key: certificate.keyPath)
        } _: {
            try body($0, certificate)
        }
    }

    @Test(arguments: [TLSOptions.Version.tls12, .tls13])
    func `messages are sent, pushed and read as over plain TCP`(version: TLSOptions.Version) throws {
        try withSecureServer { server, _ in
            let tls = TLSOptions(version)
            let socket = try WebSocketClient(port: server.port, tls: tls)
            try socket.greeting()
            let stream = try EventStreamClient(port: server.port, tls: tls)
            try stream.greeting()
            let client = try HTTPClient(port: server.port, tls: tls)
            let texts = (0..<40).map { String(repeating: "x", count: 1 + $0 * 400) }
            try client.write(texts.flatMap { HTTPClient.bytes(sending: HTTPClient.draft($0)) })
            for text in texts {
                #expect(try client.response().status == .created)
                #expect(try socket.message().text == text)
                #expect(try stream.message().text == text)
            }
            let page = try client.read("/v1/rooms/lobby/messages?limit=200", as: ReceivedPage.self)
            #expect(page.messages.map(\.text) == texts)
            #expect(server.server.url.hasPrefix("https://"))
        }
    }

    @Test func `a reloaded certificate is used for new connections, and an unusable one is ignored`() throws {
        try withSecureServer { server, certificate in
            let old = try HTTPClient(port: server.port, tls: TLSOptions())
            try certificate.replace(name: "second")
            server.server.reload()
            // The loop loads it in its next turn.
            while try HTTPClient(port: server.port, tls: TLSOptions()).socket.agreed?.certificate != "second" {}
            try certificate.overwrite(certificate: "nonsense")
            server.server.reload()
            let new = try HTTPClient(port: server.port, tls: TLSOptions())
            #expect(new.socket.agreed?.certificate == "second")
            #expect(try new.get("/healthz").status == .ok)
            #expect(try old.get("/healthz").status == .ok)
        }
    }

    @Test func `a client without TLS is dropped, and others are served`() throws {
        try withSecureServer { server, _ in
            let plain = try TestClient(port: server.port)
            try plain.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            try plain.waitForEnd()
            #expect(try HTTPClient(port: server.port, tls: TLSOptions()).get("/healthz").status == .ok)
        }
    }

    @Test(arguments: [
        ("AES128-SHA", false), ("AES256-GCM-SHA384", false), ("ECDHE-ECDSA-AES128-SHA", false),
        ("ECDHE-ECDSA-AES128-GCM-SHA256", true), ("ECDHE-ECDSA-CHACHA20-POLY1305", true),
    ])
    func `TLS 1.2 has forward secrecy only`(cipher: String, isAccepted: Bool) throws {
        try withSecureServer { server, _ in
            let request = #"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"#
            let output = try run(
                "sh", "-c",
                "printf '\(request)' | openssl s_client -ign_eof -tls1_2 -cipher '\(cipher):@SECLEVEL=0' "
                    + "-connect 127.0.0.1:\(server.port) || true")
            #expect(output.contains(#"{"status":"ok"}"#) == isAccepted)
        }
    }

    /// Uses `openssl s_client` to request health, and to save or present a ticket.
    ///
    /// - Returns: True if the server resumed the session.
    private func isResumed(_ server: LiveServer, _ version: String, _ option: String, _ file: String) throws -> Bool {
        let request = #"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"#
        let output = try run(
            "sh", "-c",
            "printf '\(request)' | openssl s_client -ign_eof -\(version) \(option) '\(file)' -connect 127.0.0.1:\(server.port)"
        )
        #expect(output.contains(#"{"status":"ok"}"#))
        #expect(output.contains("Reused, ") != output.contains("New, "))
        return output.contains("Reused, ")
    }

    @Test(arguments: ["tls1_2", "tls1_3"])
    func `a session ticket is valid until SIGHUP, even if the new certificate is unusable`(version: String) throws {
        try withSecureServer { server, certificate in
            let file = server.path + "/ticket.pem"
            #expect(try !isResumed(server, version, "-sess_out", file))
            #expect(try isResumed(server, version, "-sess_in", file))
            server.server.reload()
            // The loop gets the new keys in its next turn.
            while try isResumed(server, version, "-sess_in", file) {}
            #expect(try !isResumed(server, version, "-sess_out", file))
            #expect(try isResumed(server, version, "-sess_in", file))
            try certificate.overwrite(certificate: "nonsense")
            server.server.reload()
            while try isResumed(server, version, "-sess_in", file) {}
        }
    }
}
