import Foundation
import HTTP
import HTTPTypes
import Server
import Store
import TestSupport
import Testing
import Transport

@Suite("A server that starts")
struct StartTests {
    private func expectFailure<E: Error>(
        _ type: E.Type, naming names: String..., configure: (inout ServerConfiguration) -> Void
    ) throws {
        let error = #expect(throws: type) { try withServer(configure) { _ in } }
        for name in names {
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains(name))
        }
    }

    @Test func `is refused a port that is in use`() throws {
        try withServer { first in
            try expectFailure(TransportError.self, naming: "127.0.0.1:\(first.port)", "listening") {
                $0.port = first.port
            }
            // The first server is not affected.
            #expect(try HTTPClient(port: first.port).send("x").seq == 1)
        }
    }

    @Test(.onSQLite(.files))
    func `is refused a database that is in use, until the other server stops`() throws {
        try withServer { first in
            let path = first.configuration.database
            try expectFailure(StoreError.self, naming: path, "in use") { $0.database = path }
            #expect(try HTTPClient(port: first.port).send("x").seq == 1)
            first.stop()
            try withServer {
                $0.database = path
            } _: { second in
                let seq = try HTTPClient(port: second.port).send("y").seq
                #expect(seq == 2)
            }
        }
    }

    @Test func `and fails releases its resources`() throws {
        try withServer { first in
            let directory = try TemporaryDirectory()
            let path = directory.path(of: "other.db")
            for _ in 0..<3 {
                try expectFailure(TransportError.self, naming: "listening") {
                    $0.database = path
                    $0.port = first.port
                }
            }
            try withServer {
                $0.database = path
            } _: { second in
                let seq = try HTTPClient(port: second.port).send("x").seq
                #expect(seq == 1)
            }
        }
    }

    @Test(arguments: [false, true])
    func `creates nothing in its database if an address is in use`(isOfMetrics: Bool) throws {
        try withServer { first in
            let path = try first.anotherDatabase()
            try expectFailure(TransportError.self, naming: "127.0.0.1:\(first.port)", "listening") {
                $0.database = path
                if isOfMetrics {
                    $0.metricsAddress = ListenAddress(host: "127.0.0.1", port: first.port)
                } else {
                    $0.port = first.port
                }
            }
            if TestPostgres.isTestedStore {
                let name = try #require(URL(string: path)).lastPathComponent
                let tables = try TestPostgres.contract().query(
                    "SELECT tablename FROM pg_tables WHERE schemaname = 'public'", in: name)
                #expect(tables == [])
            } else {
                #expect(!FileManager.default.fileExists(atPath: path))
            }
        }
    }

    @Test func `is refused open mode beyond loopback without --insecure-open`() throws {
        for host in ["0.0.0.0", "::"] {
            try expectFailure(ServerError.self, naming: host, "--insecure-open") { $0.host = host }
        }
        try withServer {
            $0.host = "0.0.0.0"
            $0.insecureOpen = true
        } _: { server in
            let seq = try HTTPClient(port: server.port).send("x").seq
            #expect(seq == 1)
        }
    }

    @Test(arguments: ["app.example", "https://app.example/path", "", "https://"])
    func `is refused an invalid origin`(origin: String) throws {
        try expectFailure(ServerError.self, naming: "'\(origin)'") {
            $0.allowedOrigins = ["https://good.example", origin]
        }
    }

    @Test func `is refused an invalid address`() throws {
        try expectFailure(TransportError.self, naming: "no.such.host.invalid") { $0.host = "no.such.host.invalid" }
        try expectFailure(TransportError.self, naming: "70000") { $0.port = 70_000 }
    }

    @Test func `is refused a file that is not a database, or a place where none can be`() throws {
        let directory = try TemporaryDirectory()
        let text = try directory.write(String(repeating: "This is no database. ", count: 100), to: "text.db")
        try expectFailure(StoreError.self, naming: text) { $0.database = text }
        let below = text + "/chat.db"
        try expectFailure(StoreError.self, naming: text) { $0.database = below }
    }

    @Test func `is refused an unusable certificate`() throws {
        try expectFailure(TransportError.self, naming: "/nowhere/certificate.pem") {
            $0.tls = TLSConfiguration(certificate: "/nowhere/certificate.pem", key: "/nowhere/key.pem")
        }
    }

    @Test func `on localhost listens on IPv4 and IPv6, and knows its URL`() throws {
        try withServer {
            $0.host = "localhost"
        } _: { server in
            #expect(server.server.url == "http://localhost:\(server.port)")
            for host in ["127.0.0.1", "::1"] {
                let client = try TestClient(port: server.port, host: host)
                try client.send("GET /healthz HTTP/1.0\r\n\r\n")
                #expect(String(decoding: try client.receiveToEnd(), as: UTF8.self).hasSuffix("{\"status\":\"ok\"}\n"))
            }
        }
    }
}
