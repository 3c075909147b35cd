import TestSupport
import Testing

@testable import Transport

@Suite("Certificates")
struct CertificateTests {
    @Test(arguments: [
        (TestCertificate.Key.ec, TestCertificate.Key.ec), (.rsa, .ec), (.ec, .rsa),
    ])
    func `A reload applies to new connections, and open ones continue`(
        old: TestCertificate.Key, new: TestCertificate.Key
    ) throws {
        let certificate = try TestCertificate(name: "old", key: old)
        try withServer(loops: 2, certificate: certificate) { server in
            let before = try TestClient(port: server.port, tls: TLSOptions(.tls13))
            #expect(before.agreed?.certificate == "old")
            try certificate.replace(name: "new", key: new)
            #expect(try TestClient(port: server.port, tls: TLSOptions(.tls13)).agreed?.certificate == "old")
            try server.group.reloadCertificate()
            for loop in server.group.loops { try loop.run {} }
            for version in [TLSOptions.Version.tls12, .tls13] {
                for _ in 0..<8 {
                    let after = try TestClient(port: server.port, tls: TLSOptions(version))
                    #expect(after.agreed?.certificate == "new")
                }
            }
            try before.send("hello")
            #expect(try before.receive(asLongAs: "hello") == "hello")
        }
    }

    @Test func `An unusable file leaves the old certificate in place`() throws {
        let certificate = try TestCertificate(name: "old")
        let other = try TestCertificate(name: "other")
        try withServer(certificate: certificate) { server in
            try certificate.overwrite(certificate: "not a certificate")
            var error = #expect(throws: TransportError.self) { try server.group.reloadCertificate() }
            #expect(error?.description == "cannot use \(certificate.certificatePath): no start line")
            try certificate.replace(name: "newer")
            try certificate.overwrite(key: try other.keyText())
            error = #expect(throws: TransportError.self) { try server.group.reloadCertificate() }
            #expect(error?.description == "cannot use \(certificate.keyPath): key values mismatch")
            for _ in 0..<2 {
                let client = try TestClient(port: server.port, tls: TLSOptions(.tls13))
                #expect(client.agreed?.certificate == "old")
            }
        }
    }

    @Test func `A group without TLS reloads nothing`() throws {
        let group = try LoopGroup(count: 1)
        defer { group.stop() }
        try group.reloadCertificate()
        #expect(!group.isSecure)
    }

    @Test func `An error at the start names the file`() throws {
        let good = try TestCertificate()
        let bad = try TestCertificate()
        let other = try TestCertificate()
        func message(certificate: String, key: String) -> String? {
            let files = TLSConfiguration(certificate: certificate, key: key)
            return #expect(throws: TransportError.self) { try LoopGroup(count: 1, tls: files) }?.description
        }
        #expect(
            message(certificate: "/nowhere/certificate.pem", key: good.keyPath)
                == "cannot use /nowhere/certificate.pem: No such file or directory")
        #expect(
            message(certificate: good.certificatePath, key: "/nowhere/key.pem")
                == "cannot use /nowhere/key.pem: No such file or directory")
        #expect(
            message(certificate: good.certificatePath, key: other.keyPath)
                == "cannot use \(other.keyPath): key values mismatch")
        try bad.overwrite(certificate: "", key: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
        #expect(
            message(certificate: bad.certificatePath, key: good.keyPath)
                == "cannot use \(bad.certificatePath): no start line")
        let reason = message(certificate: good.certificatePath, key: bad.keyPath)
        #expect(reason?.hasPrefix("cannot use \(bad.keyPath): ") == true)
    }

    @Test func `An encrypted key is refused instead of prompting for the passphrase`() throws {
        let certificate = try TestCertificate()
        try run(
            "openssl", "pkcs8", "-topk8", "-in", certificate.keyPath, "-out", certificate.keyPath + ".encrypted",
            "-passout", "pass:secret")
        let files = TLSConfiguration(
            certificate: certificate.certificatePath, key: certificate.keyPath + ".encrypted")
        let error = #expect(throws: TransportError.self) { _ = try Certificate(files) }
        #expect(error?.description.hasPrefix("cannot use \(files.key): ") == true)
    }

    @Test(arguments: [
        TLSOptions.Version.tls12, .tls13,
    ])
    func `A returning client is recognized by its ticket, on any loop`(version: TLSOptions.Version) throws {
        let loops = Recorder<Int>()
        var script = Script()
        script.received = { connection, bytes in
            loops.record(connection.loop.index)
            connection.write(bytes)
        }
        let certificate = try TestCertificate()
        try withServer(script, loops: 2, certificate: certificate) { server in
            func visit(_ options: TLSOptions) throws -> TestClient {
                let client = try TestClient(port: server.port, tls: options)
                try client.send("hello")
                #expect(try client.receive(asLongAs: "hello") == "hello")
                return client
            }
            let first = try visit(TLSOptions(version))
            #expect(first.agreed?.isResumed == false)
            let ticket = try #require(first.ticket)
            repeat {
                let again = try visit(TLSOptions(version, resuming: ticket))
                #expect(again.agreed?.isResumed == true)
            } while Set(loops.events).count < 2
        }
    }

    /// Connects, and waits for an answer, by which time the client has a ticket.
    private func visit(_ port: Int, _ options: TLSOptions) throws -> TestClient {
        let client = try TestClient(port: port, tls: options)
        try client.send("hello")
        #expect(try client.receive(asLongAs: "hello") == "hello")
        return client
    }

    @Test(arguments: [TLSOptions.Version.tls12, .tls13])
    func `A ticket is invalid after the keys were rotated`(version: TLSOptions.Version) throws {
        let certificate = try TestCertificate()
        try withServer(loops: 2, certificate: certificate) { server in
            let old = try #require(try visit(server.port, TLSOptions(version)).ticket)
            let resumed = try visit(server.port, TLSOptions(version, resuming: old)).agreed?.isResumed
            #expect(resumed == true)
            server.group.rotateTicketKeys()
            for loop in server.group.loops { try loop.run {} }
            for _ in 0..<8 {
                let again = try visit(server.port, TLSOptions(version, resuming: old)).agreed?.isResumed
                #expect(again == false)
            }
            let new = try #require(try visit(server.port, TLSOptions(version)).ticket)
            for _ in 0..<8 {
                let again = try visit(server.port, TLSOptions(version, resuming: new)).agreed?.isResumed
                #expect(again == true)
            }
        }
    }

    @Test func `Ticket keys rotate by themselves after half a day`() throws {
        #expect(TransportLimits().ticketKeys == .seconds(12 * 3600))
        let certificate = try TestCertificate()
        try withServer(limits: TransportLimits(ticketKeys: .milliseconds(50)), certificate: certificate) { server in
            let ticket = try #require(try visit(server.port, TLSOptions(.tls13)).ticket)
            while try visit(server.port, TLSOptions(.tls13, resuming: ticket)).agreed?.isResumed == true {}
        }
    }
}
