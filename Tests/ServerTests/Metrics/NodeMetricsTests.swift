import TestSupport
import Testing

@testable import Server
@testable import Store

@Suite("Metrics of a node on PostgreSQL")
struct NodeMetricsTests {
    /// The metrics that servers on SQLite do not have.
    static let names: [ServerMetricName] = [
        .lookupDelay, .writerWait, .lookups, .lookupRooms, .sweptRooms, .hintsSent, .hintsReceived,
        .listenerConnected, .caretaker, .commitConflicts, .databaseConnections, .databaseConnects, .databaseWaits,
    ]

    /// The value of a sample, given with its labels.
    private func value(_ sample: String, _ client: HTTPClient) throws -> Double? {
        let lines = try client.get("/metrics").text.split(separator: "\n")
        return lines.first { $0.hasPrefix(sample + " ") }.flatMap { Double($0.dropFirst(sample.count + 1)) }
    }

    @Test func `are absent on SQLite`() throws {
        try withServer { server in
            let text = try HTTPClient(port: server.port).get("/metrics").text
            for name in Self.names { #expect(text.contains(name.rawValue) == TestPostgres.isTestedStore) }
        }
    }

    @Test func `count what the log has counted, by purpose`() {
        let registry = PrometheusRegistry(help: ServerMetricName.help)
        let metrics = NodeMetrics(factory: registry)
        metrics.observe(
            {
                var counts = NodeCounts()
                var readers = NodeCounts.Connections()
                (readers.open, readers.made, readers.waited) = (2, 3, .milliseconds(1500))
                counts.connections[.reader] = readers
                counts.isListening = true
                counts.hintsSent = 4
                counts.isCaretaker = true
                counts.hintsReceived = 5
                counts.lookups = 6
                counts.lookupRooms = 7
                counts.sweptRooms = 8
                counts.conflicts = 9
                return counts
            }, in: registry)
        for sample in [
            "lookups_total 6", "lookup_rooms_total 7", "swept_rooms_total 8", "hints_sent_total 4",
            "hints_received_total 5", "listener_connected 1", "caretaker 1", "commit_conflicts_total 9",
            #"database_connections{purpose="reader"} 2"#, #"database_connects_total{purpose="reader"} 3"#,
            #"database_wait_seconds_total{purpose="reader"} 1.5"#, #"database_connections{purpose="writer"} 0"#,
        ] {
            #expect(registry.samples.contains("backscroll_" + sample))
        }
    }

    @Test func `are left out when the log is gone`() {
        let registry = PrometheusRegistry(help: ServerMetricName.help)
        NodeMetrics(factory: registry).observe({ nil }, in: registry)
        #expect(!registry.text.contains(ServerMetricName.lookups.rawValue))
    }

    @Test(.enabled(if: TestPostgres.isEnabled))
    func `show the notifications between nodes, and their connections`() throws {
        let database = try TestPostgres.shared()
        let url = database.url(of: try database.createDatabase())
        try withServer {
            $0.database = url
        } _: { first in
            let client = try HTTPClient(port: first.port)
            try client.send("1")
            try withServer {
                $0.database = url
            } _: { second in
                let reader = try HTTPClient(port: second.port)
                for name in Self.names { #expect(try reader.get("/metrics").text.contains(name.rawValue)) }
                try waitUntil { try value("backscroll_listener_connected", reader) == 1 }
                let bob = try WebSocketClient(port: second.port, "/v1/rooms/lobby/live?user=bob")
                try bob.greeting()
                try client.send("2")
                #expect(try bob.message().text == "2")
                #expect(try value("backscroll_lookups_total", reader) ?? 0 >= 1)
                #expect(try value("backscroll_lookup_rooms_total", reader) ?? 0 >= 1)
                #expect(try value("backscroll_lookup_delay_seconds_count", reader) ?? 0 >= 1)
                #expect(try value(#"backscroll_database_connections{purpose="listener"}"#, reader) == 1)
                #expect(try value(#"backscroll_database_connections{purpose="exchange"}"#, reader) == 1)
                #expect(try value(#"backscroll_database_connects_total{purpose="reader"}"#, reader) ?? 0 >= 1)
                #expect(try value(#"backscroll_database_wait_seconds_total{purpose="listener"}"#, reader) ?? 0 > 0)
                #expect(try value("backscroll_writer_wait_seconds_count", client) ?? 0 >= 1)
                try waitUntil { try value("backscroll_hints_sent_total", client) ?? 0 >= 2 }
                try waitUntil { try value("backscroll_hints_received_total", reader) ?? 0 >= 1 }
                let both = [client, reader]
                try waitUntil { try both.filter { try value("backscroll_caretaker", $0) == 1 }.count == 1 }
                // Only the node that does the background work tells the size.
                try waitUntil { try both.compactMap { try value("backscroll_database_bytes", $0) }.count == 1 }
                // Another program's commit, as a node's whose hint is lost.
                let other = try PostgresConnection(PostgresConnection.Settings(url: url))
                try other.execute("UPDATE rooms SET head = 3, rev = 3")
                try other.execute(
                    """
                    INSERT INTO messages SELECT id + 1, 3, NULL, created_at, sender, NULL, '{"lost":1}' FROM messages
                    ORDER BY id DESC LIMIT 1
                    """)
                try waitUntil { try value("backscroll_swept_rooms_total", reader) ?? 0 >= 1 }
            }
        }
    }
}
