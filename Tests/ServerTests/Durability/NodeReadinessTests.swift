import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing

@Suite("The readiness of a node on PostgreSQL", .partOfPostgreSQL)
struct NodeReadinessTests {
    /// Runs `body` with a node of a database server of its own, whose first message is stored.
    private func withNode(
        silence: Duration, _ body: (TestPostgres, String, HTTPClient) throws -> Void
    ) throws {
        let postgres = try TestPostgres()
        let database = try postgres.createDatabase()
        try withServer {
            $0.database = postgres.url(of: database)
            $0.listenerSilence = silence
        } _: { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            try waitUntil { try connects(client) == 1 }
            try body(postgres, database, client)
        }
    }

    /// The number of connections that the listener has made.
    private func connects(_ client: HTTPClient) throws -> Int {
        let sample = #"backscroll_database_connects_total{purpose="listener"} "#
        let line = try client.get("/metrics").text.split(separator: "\n").first { $0.hasPrefix(sample) }
        return line.flatMap { Int($0.dropFirst(sample.count)) } ?? 0
    }

    private func waitForReadiness(_ status: HTTPResponse.Status, _ client: HTTPClient) throws {
        try waitUntil { try client.get("/readyz").status == status }
    }

    @Test func `ends while the database is away, even if nobody sends, and returns when the database is back`() throws {
        try withNode(silence: .milliseconds(700)) { postgres, _, client in
            try waitForReadiness(.ok, client)
            postgres.stop(.immediate)
            try waitForReadiness(.serviceUnavailable, client)
            let answer = try client.get("/readyz")
            #expect(try answer.problem.code == "unavailable")
            #expect(answer.text.contains("The server does not reach its database."))
            #expect(answer["Retry-After"] != nil)
            #expect(!answer.text.contains(postgres.directory))
            #expect(try client.get("/healthz").status == .ok)
            try postgres.start()
            try waitForReadiness(.ok, client)
            #expect(try client.send("2").seq == 2)
        }
    }

    @Test func `ends while the listener's connection is open but gives no answer`() throws {
        try withNode(silence: .milliseconds(700)) { postgres, database, client in
            try postgres.withStoppedBackends(of: database, purpose: "backscroll listener") {
                try waitForReadiness(.serviceUnavailable, client)
                // Others still work.
                #expect(try client.send("2").seq == 2)
            }
            try waitForReadiness(.ok, client)
        }
    }

    @Test func `continues when the listener's connection ends, because the listener connects again`() throws {
        try withNode(silence: .seconds(60)) { postgres, database, client in
            #expect(try postgres.terminateConnections(to: database, purpose: "backscroll listener") == 1)
            while try connects(client) < 2 { #expect(try client.get("/readyz").status == .ok) }
            #expect(try client.get("/readyz").status == .ok)
        }
    }

    @Test func `ends when messages cannot be stored, even if the listener gets answers`() throws {
        try withNode(silence: .seconds(60)) { postgres, database, client in
            try postgres.query("ALTER DATABASE \(database) ALLOW_CONNECTIONS false")
            try postgres.terminateConnections(to: database, purpose: "backscroll writer")
            #expect(try client.post(HTTPClient.draft("2", id: "2")).status == .serviceUnavailable)
            let answer = try client.get("/readyz")
            #expect(answer.status == .serviceUnavailable)
            #expect(answer.text.contains("Messages cannot be stored at the moment."))
            try postgres.query("ALTER DATABASE \(database) ALLOW_CONNECTIONS true")
            try waitForReadiness(.ok, client)
            #expect(try client.send("2", id: "2").seq == 2)
        }
    }

    @Test func `ends when no reader can connect, even if nobody reads`() throws {
        try withNode(silence: .seconds(60)) { postgres, database, client in
            #expect(try client.get("/v1/rooms/lobby/messages").status == .ok)
            try postgres.query("ALTER DATABASE \(database) ALLOW_CONNECTIONS false")
            #expect(try postgres.terminateConnections(to: database, purpose: "backscroll reader") > 0)
            // The writers have their connections, until PostgreSQL ends those of a node that is silent for seconds.
            #expect(try client.send("2").seq == 2)
            try waitForReadiness(.serviceUnavailable, client)
            #expect(try client.get("/readyz").text.contains("The server does not reach its database."))
            try postgres.query("ALTER DATABASE \(database) ALLOW_CONNECTIONS true")
            try waitForReadiness(.ok, client)
            #expect(try client.get("/v1/rooms/lobby/messages").status == .ok)
        }
    }

    @Test func `need not end before a send to a read-only database is refused`() throws {
        try withNode(silence: .seconds(60)) { postgres, database, client in
            try postgres.query("ALTER DATABASE \(database) SET default_transaction_read_only = on")
            try postgres.terminateConnections(to: database, purpose: "backscroll writer")
            let answer = try client.post(HTTPClient.draft("2", id: "2"))
            #expect(answer.status == .serviceUnavailable && answer["Retry-After"] != nil)
            try postgres.query("ALTER DATABASE \(database) SET default_transaction_read_only = off")
            try postgres.terminateConnections(to: database, purpose: "backscroll writer")
            #expect(try client.send("2", id: "2").seq == 2)
        }
    }

    @Test func `ends when the database becomes read-only, even if nobody sends, and pages can still be read`() throws {
        try withNode(silence: .seconds(60)) { postgres, database, client in
            try postgres.query("ALTER DATABASE \(database) SET default_transaction_read_only = on")
            try postgres.terminateConnections(to: database, purpose: "backscroll writer")
            try waitForReadiness(.serviceUnavailable, client)
            #expect(try client.get("/readyz").text.contains("Messages cannot be stored at the moment."))
            #expect(try client.get("/v1/rooms/lobby/messages").status == .ok)
            try postgres.query("ALTER DATABASE \(database) SET default_transaction_read_only = off")
            // Nobody ends the connections: the writers make new ones.
            try waitForReadiness(.ok, client)
            #expect(try client.send("2").seq == 2)
        }
    }

    @Test func `ends when the database restarts as a standby, and returns when it is the primary again`() throws {
        try withNode(silence: .seconds(60)) { postgres, _, client in
            postgres.stop(.fast)
            try postgres.setStandby(true)
            try postgres.start()
            try waitForReadiness(.serviceUnavailable, client)
            // It is certain that nothing was stored, even without a client_message_id.
            let answer = try client.post(HTTPClient.draft("2"))
            #expect(answer.status == .serviceUnavailable && answer["Retry-After"] != nil)
            #expect(!answer.text.contains("may be stored"))
            #expect(try client.get("/v1/rooms/lobby/messages").status == .ok)
            postgres.stop(.fast)
            try postgres.setStandby(false)
            try postgres.start()
            try waitForReadiness(.ok, client)
            #expect(try client.send("2").seq == 2)
        }
    }

    @Test func `ends after five seconds without an answer by default`() {
        #expect(ServerConfiguration().listenerSilence == .seconds(5))
    }
}
