import TestSupport
import Testing
import Transport

@testable import Load

/// Tests whole runs against a small server with TLS in this process.
@Suite struct EncryptedTests {
    private static func withServer(_ body: (TinyServer, TestCertificate) async throws -> Void) async throws {
        let certificate = try TestCertificate(name: "127.0.0.1")
        let files = TLSConfiguration(certificate: certificate.certificatePath, key: certificate.keyPath)
        let server = try TinyServer(tls: files)
        defer { server.stop() }
        try await body(server, certificate)
    }

    @Test func `a server with TLS can be loaded like one without`() async throws {
        try await Self.withServer { server, _ in
            let report = try await EndToEndTests.run(server, "--insecure", "--threads=2")
            #expect(report.isGood, "\(report.verdict?.lines ?? []) \(report.failures.lines)")
            #expect(report.measured.deliveries > 0)
        }
    }

    @Test func `templates can use wss and https`() async throws {
        try await Self.withServer { server, _ in
            let report = try await EndToEndTests.run([
                "--ws=wss://127.0.0.1:\(server.port)/v1/rooms/{run}-{room}/live",
                "--post=\(server.address)/v1/rooms/{run}-{room}/messages", "--insecure",
            ])
            #expect(report.isGood)
        }
    }

    @Test func `an untrusted certificate is refused, and reported as the reason`() async throws {
        try await Self.withServer { server, _ in
            let error = await #expect(throws: LoadError.self) { _ = try await EndToEndTests.run(server) }
            #expect(error?.description.contains("the server's certificate is not trusted: self-signed") == true)
        }
    }

    @Test func `an unreadable file of certificates is reported`() async throws {
        try await Self.withServer { server, _ in
            let error = await #expect(throws: TransportError.self) {
                _ = try await EndToEndTests.run(server, "--tls-ca=/nowhere.pem")
            }
            #expect(error?.description.contains("/nowhere.pem") == true)
        }
    }
}
