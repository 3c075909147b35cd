import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Messages that expire in PostgreSQL", .partOfPostgreSQL, .timeLimit(.minutes(30)))
struct RetentionTests {
    private let server: TestPostgres
    private let database: String
    private var url: String { server.url(of: database) }
    private let events = Recorder<ExpiryEvent>()

    init() throws {
        server = try TestPostgres.shared()
        database = try server.createDatabase()
    }

    private static let day: Int64 = 86_400_000

    /// Stores messages that are some days old.
    private func store(_ count: Int = 1, in room: String, daysAgo days: Int64) throws {
        let time = Timestamp(milliseconds: Timestamp.now().milliseconds - days * Self.day)
        let log = try TestLog(postgres: url) {
            $0.usesDatabaseClock = false
            $0.clock = { time }
        }
        try log.fill(count, room)
        log.close()
        // This node keeps messages for ever, and counts no more.
        try server.query("DELETE FROM retention WHERE days = 0", in: database)
    }

    private func node(keeping days: Int?, _ configure: (inout StoreConfiguration) -> Void = { _ in }) throws -> TestLog
    {
        try TestLog(postgres: url) {
            $0.keepDays = days
            $0.sharedExpiryPause = 1
            $0.expiryInterval = 1
            $0.onExpiry = { [events] in events.record($0) }
            configure(&$0)
        }
    }

    private func isDeleted(_ seq: Int64, of room: String, _ log: TestLog) throws -> Bool {
        try Message(decoding: #require(try log.message(seq, of: room))).deleted
    }

    @Test func `do so by the database's clock, even if a node's is a year ahead`() throws {
        try store(in: "old", daysAgo: 2)
        let log = try node(keeping: 1) {
            $0.clock = { Timestamp(milliseconds: Timestamp.now().milliseconds + 400 * Self.day) }
        }
        try events.wait(for: .passOver(1))
        try log.send(.init(room: "attic"))
        // Messages that are found in a later round show that the rounds go on.
        try store(in: "older", daysAgo: 3)
        try events.wait { $0.count { if case .passOver = $0 { true } else { false } } == 2 }
        #expect(try isDeleted(1, of: "old", log) && isDeleted(1, of: "older", log))
        #expect(try !isDeleted(1, of: "attic", log))
        log.close()
    }

    @Test func `do so by the longest time of all nodes, which are warned, until they agree`() throws {
        try store(in: "two", daysAgo: 2)
        try store(in: "forty", daysAgo: 40)
        let long = try node(keeping: 30)
        let others = Recorder<[Int?]>()
        let short = try node(keeping: 1) { $0.onOtherRetention = { others.record($0) } }
        #expect(try others.wait(for: 1)[0] == [30])
        try events.wait { $0.contains(.passOver(1)) }
        #expect(try isDeleted(1, of: "forty", short) && !isDeleted(1, of: "two", short))
        long.close()
        // As five minutes after the other one's end.
        try server.query("UPDATE retention SET at = at - 300000 WHERE days = 30", in: database)
        try waitUntil { (try? isDeleted(1, of: "two", short)) == true }
        short.close()
    }

    @Test func `stay while a node keeps them for ever`() throws {
        try store(in: "old", daysAgo: 2)
        let forever = try node(keeping: nil)
        let others = Recorder<[Int?]>()
        let short = try node(keeping: 1) { $0.onOtherRetention = { others.record($0) } }
        #expect(try others.wait(for: 1)[0] == [nil])
        let connection = try PostgresConnection(PostgresConnection.Settings(url: url))
        #expect(try connection.run(connection.statement(Retention.select)).isNull(0, 1))
        forever.close()
        // A node that has missed a report still counts, two minutes after the one before.
        try server.query("UPDATE retention SET at = at - 120000 WHERE days = 0", in: database)
        #expect(try connection.run(connection.statement(Retention.select)).isNull(0, 1))
        // Five minutes after it, it does not.
        try server.query("UPDATE retention SET at = at - 180000 WHERE days = 0", in: database)
        try events.wait { $0.contains(.passOver(1)) }
        short.close()
    }

    @Test func `stay as long as a node runs that keeps them, because it says so again and again`() throws {
        let forever = try node(keeping: nil) { $0.retentionInterval = .zero }
        defer { forever.close() }
        let recent = "SELECT 1 FROM retention WHERE days = 0 AND at > extract(epoch FROM now()) * 1000 - 60000"
        for _ in 0..<2 {
            try waitUntil { (try? server.query(recent, in: database).count) == 1 }
            try server.query("UPDATE retention SET at = at - 300000", in: database)
        }
    }

    @Test func `expire many in one commit, which changes the room's row once`() throws {
        let count = 1300
        try store(count, in: "lobby", daysAgo: 2)
        try store(3, in: "attic", daysAgo: 2)
        let log = try node(keeping: 1)
        let found = try events.wait { $0.contains(.passOver(count + 3)) }
        #expect(found.first == .expired(StoreConfiguration().commit.sharedExpiredMessages))
        #expect(found.count <= 5)
        #expect(try log.state() == RoomState(head: Int64(count), rev: 2 * Int64(count)))
        #expect(
            try server.query(
                """
                SELECT DISTINCT bytes = (SELECT sum(length(body)) FROM messages WHERE id >> 36 = rooms.id) FROM rooms
                """, in: database) == [["t"]])
        #expect(try isDeleted(Int64(count), of: "lobby", log) && isDeleted(3, of: "attic", log))
        #expect(try server.query("SELECT count(*) FROM messages WHERE changed IS NULL", in: database) == [["0"]])
        log.close()
    }
}
