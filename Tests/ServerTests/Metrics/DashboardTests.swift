import Foundation
import Glibc
import HTTP
import HTTPTypes
import Store
import TestSupport
import Testing
import Transport

@testable import Server

/// `docs/grafana.json` and `docs/alerts.yaml`. `scripts/test-operations` has their expressions checked by Prometheus.
@Suite("The dashboard and the alerts", .partOfSQLite(.files))
struct DashboardTests {
    private static let docs = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs")

    /// The metrics that a file names, without the suffixes of histograms.
    private func named(in file: String) throws -> Set<String> {
        let text = try String(contentsOf: Self.docs.appending(path: file), encoding: .utf8)
        let names = text.matches(of: /\b(?:backscroll|process)_[a-z_]+/).map { match in
            var name = String(match.output)
            for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) {
                name.removeLast(suffix.count)
            }
            return name
        }
        return Set(names)
    }

    /// The value of each sample by its name with labels.
    private func samples(_ client: HTTPClient) throws -> [Substring: Substring] {
        let lines = try client.get("/metrics").text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        return Dictionary(
            uniqueKeysWithValues: lines.map { line in
                let space = line.lastIndex(of: " ")!
                return (line[..<space], line[line.index(after: space)...])
            })
    }

    private func change(_ name: String, in now: [Substring: Substring], from before: [Substring: Substring]) -> Bool {
        now.contains { sample, value in
            let isOfHistogram = ["_bucket", "_sum", "_count"].contains { sample.hasPrefix(name + $0) }
            return (isOfHistogram || sample == name || sample.hasPrefix(name + "{")) && before[sample] != value
        }
    }

    @Test func `has fifteen panels`() throws {
        let data = try Data(contentsOf: Self.docs.appending(path: "grafana.json"))
        let dashboard = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect((dashboard["panels"] as? [Any])?.count == 15)
    }

    @Test func `name only metrics that the server has, and that move with what they show`() throws {
        // The version of a server does not move. NodeMetricsTests moves those of nodes, WebhookTests and PushTests those of
        // webhooks, BeforeSendTests those of questions, and DegradedTests damages a room.
        let webhooks: [ServerMetricName] = [
            .webhookAttempts, .pushRecipients, .webhookRoomsBehind, .webhookRoomsStopped, .webhookDelay,
            .webhookPaused, .beforeSend, .beforeSendSeconds,
        ]
        let elsewhere = NodeMetricsTests.names + webhooks + [.buildInfo, .roomsQuarantined]
        let all = try named(in: "grafana.json").union(named(in: "alerts.yaml"))
        let others = Set(ServerMetricName.allCases.map(\.rawValue))
        for name in all { #expect(others.contains(name) || name.hasPrefix("process_"), "\(name) does not exist") }
        let names = all.subtracting(elsewhere.map(\.rawValue))
        try withServer {
            $0.metricsAddress = ListenAddress(host: "127.0.0.1", port: 0)
            $0.transport.connections = 8
            $0.transport.noProgress = .seconds(3)
            $0.transport.sendBuffer = 16 * 1024
            $0.busyTimeout = 120_000
        } _: { server in
            let watching = try HTTPClient(port: try #require(server.server.metricsPort))
            let before = try samples(watching)
            var moved: Set<String> = []
            func waitFor(_ expected: String..., before look: () throws -> Void = {}) throws {
                let expected = Set(expected.map { "backscroll_\($0)" })
                do {
                    try waitUntil {
                        try look()
                        let now = try samples(watching)
                        moved.formUnion(names.filter { change($0, in: now, from: before) })
                        return moved.isSuperset(of: expected)
                    }
                } catch is PatienceExhausted {
                    throw Unexpected("\(expected.subtracting(moved)) did not move")
                }
            }
            let client = try HTTPClient(port: server.port)
            // A client that reads nothing, and one that was away.
            let slow = try WebSocketClient(port: server.port, receiveBuffer: 16 * 1024)
            try slow.greeting()
            let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
            for _ in 0..<100 { try client.send(String((0..<16_000).map { _ in letters.randomElement()! })) }
            let idle = try HTTPClient(port: server.port, receiveBuffer: 16 * 1024)
            try idle.write(HTTPClient.bytes(.get, "/v1/rooms/lobby/messages?limit=200"))
            try waitFor("unsent_bytes", "slow_clients_total", "commit_seconds", "deliveries_total")
            // The messages that it lacks take several reads of the store.
            let back = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?user=bob&since=0")
            _ = try back.frames(100)
            try waitFor("replays_total", "subscribers")
            back.http.reset()
            // Refusals.
            #expect(try client.get("/nowhere").status == .notFound)
            let many = try (0..<8).map { _ in try HTTPClient(port: server.port) }
            try waitFor("refusals_total", "connections_refused_total", "connections")
            many.forEach { $0.reset() }
            // The disk, backups, and a database that is away and comes back.
            let database = try Database(of: server.configuration)
            try database.fill(bytes: 4 << 20)
            try database.checkpoint()
            _ = try Backup(of: server.configuration.database, to: server.path + "/copy.db").run()
            try waitFor("database_bytes", "disk_free_bytes", "last_backup_timestamp_seconds")
            // SQLite takes zeros as the end of the log.
            let log = server.configuration.database + "-wal"
            #expect(truncate(log, 32 << 20) == 0)
            try waitFor("wal_bytes")
            try database.lock()
            // The writer takes those that have come, and waits with them. Later ones stay in the queue.
            var senders: [HTTPClient] = []
            try waitFor("queued_sends") {
                guard senders.count < 4 else { return }
                senders.append(try HTTPClient(port: server.port))
                try senders.last!.write(HTTPClient.bytes(sending: HTTPClient.draft("waits", id: "\(senders.count)")))
            }
            try database.unlock()
            for sender in senders { #expect(try sender.response().status == .created) }
            let path = server.configuration.database
            #expect(rename(path, path + ".away") == 0)
            try waitFor("ready")
            #expect(rename(path + ".away", path) == 0)
            #expect(moved.isSuperset(of: names), "\(names.subtracting(moved)) did not move")
        }
    }
}
