import Chat
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Nodes of a cluster", .partOfPostgreSQL, .timeLimit(.minutes(30)))
struct NodeExchangeTests {
    private let alice = try! UserID("alice")
    private let bob = try! UserID("bob")
    private let lobby = try! RoomID("lobby")

    /// A node, and what it has heard.
    private struct Node {
        let presence = Presence(isShared: true)
        let heard: AsyncStream<NodeNotices>
        let changes: AsyncStream<Void>
        let exchange: NodeExchange
        private let flushes = Counter()

        init(_ url: String) {
            let (heard, notices) = AsyncStream<NodeNotices>.makeStream()
            let (changes, changed) = AsyncStream<Void>.makeStream()
            (self.heard, self.changes) = (heard, changes)
            exchange = NodeExchange(
                url: url, presence: presence, onNotices: { notices.yield($0) }, onPresence: { changed.yield() })
        }

        /// Waits until the node shows this number. Time passes from flush to flush, so that each is due.
        func shows(_ online: Int, in room: RoomID) async {
            var changes = changes.makeAsyncIterator()
            repeat {
                _ = presence.flush(at: .now + .seconds(1_000) * flushes.next())
                if presence.online(in: room) == online { return }
            } while await changes.next() != nil
        }
    }

    private final class Counter: Sendable {
        private let value = Atomic(0)

        func next() -> Int { value.add(1, ordering: .relaxed).newValue }
    }

    private func makeURL() throws -> String {
        let server = try TestPostgres.shared()
        let url = server.url(of: try server.createDatabase())
        try PostgresSchema.migrate(PostgresConnection(PostgresConnection.Settings(url: url)))
        return url
    }

    @Test func `report presence without new entries in indexes`() throws {
        let connection = try PostgresConnection(PostgresConnection.Settings(url: makeURL()))
        try connection.execute(
            "BEGIN", "INSERT INTO presence VALUES ('a', 'lobby', 1, NULL, 0)",
            "UPDATE presence SET online = 2, users = 'bob', at = 1")
        let count = connection.statement("SELECT pg_stat_get_xact_tuples_hot_updated('presence'::regclass)")
        #expect(try connection.run(count).integer(0, 0) == 1)
    }

    @Test func `exchange typing and read notices, and do not hear their own`() async throws {
        let url = try makeURL()
        let nodes = [Node(url), Node(url)]
        defer { for node in nodes { node.exchange.close() } }
        var heard = nodes[1].heard.makeAsyncIterator()
        // A node hears nothing before it listens, so the first ones may be lost.
        let asking = Task {
            while !Task.isCancelled {
                nodes[0].exchange.addTyping(alice, in: lobby)
                nodes[0].exchange.addRead(bob, in: lobby, to: 7)
                await Task.yield()
            }
        }
        var seen = NodeNotices()
        while seen.typing.isEmpty || seen.read.isEmpty {
            let next = try #require(await heard.next())
            for key in next.typing { seen.addTyping(key.user, in: key.room) }
            for (key, seq) in next.read { seen.addRead(key.user, in: key.room, to: seq) }
        }
        asking.cancel()
        #expect(seen.typing == [.init(room: lobby, user: alice)])
        #expect(seen.read == [.init(room: lobby, user: bob): 7])
        nodes[1].exchange.addTyping(bob, in: lobby)
        var own = nodes[0].heard.makeAsyncIterator()
        #expect(await own.next()?.typing == [.init(room: lobby, user: bob)])
    }

    @Test func `count the subscribers of all nodes, except nodes that have left`() async throws {
        let url = try makeURL()
        let nodes = [Node(url), Node(url)]
        defer { for node in nodes { node.exchange.close() } }
        _ = nodes[0].presence.join(lobby, as: alice)
        _ = nodes[0].presence.join(lobby, as: nil)
        _ = nodes[1].presence.join(lobby, as: alice)
        _ = nodes[1].presence.join(lobby, as: bob)
        await nodes[0].shows(3, in: lobby)
        await nodes[1].shows(3, in: lobby)
        #expect(nodes[0].presence.present(in: lobby).users == [alice, bob])
        _ = nodes[1].presence.leave(lobby, as: bob)
        await nodes[0].shows(2, in: lobby)
        // A node that starts later learns what was reported before.
        let third = Node(url)
        _ = third.presence.join(lobby, as: bob)
        await third.shows(3, in: lobby)
        nodes[0].exchange.close()
        await third.shows(2, in: lobby)
        third.exchange.close()
    }

    @Test func `do not count subscribers that left while their node was away from the database`() async throws {
        let server = try TestPostgres()
        let url = server.url(of: try server.createDatabase())
        try PostgresSchema.migrate(PostgresConnection(PostgresConnection.Settings(url: url)))
        let nodes = [Node(url), Node(url)]
        defer { for node in nodes { node.exchange.close() } }
        let green = try RoomID("green")
        _ = nodes[0].presence.join(lobby, as: alice)
        _ = nodes[0].presence.join(green, as: alice)
        _ = nodes[1].presence.join(lobby, as: bob)
        await nodes[1].shows(2, in: lobby)
        await nodes[1].shows(1, in: green)
        server.stop(.fast)
        _ = nodes[0].presence.leave(green, as: alice)
        try server.start()
        await nodes[1].shows(0, in: green)
        await nodes[1].shows(2, in: lobby)
    }

    @Test func `read the reports of others in parts`() async throws {
        let url = try makeURL()
        let connection = try PostgresConnection(PostgresConnection.Settings(url: url))
        // A node that has just reported more rooms than one statement reads, in three statements.
        try connection.execute(
            "INSERT INTO presence SELECT 'other', '', 0, NULL, (extract(epoch FROM now() + interval '1 hour') * 1000)::bigint",
            """
            INSERT INTO presence SELECT 'other', 'room' || i, 1, NULL,
                (extract(epoch FROM now()) * 1000)::bigint - 600000 + i / \(NodeExchange.maximumReports)
            FROM generate_series(1, \(NodeExchange.maximumRows + 5)) AS i
            """)
        let node = Node(url)
        defer { node.exchange.close() }
        let rooms = try [1, NodeExchange.maximumRows + 5].map { try RoomID("room\($0)") }
        // A node announces only rooms that have subscribers there.
        for room in rooms { _ = node.presence.join(room, as: nil) }
        for room in rooms { await node.shows(2, in: room) }
    }

    @Test func `keep their bounds`() {
        #expect(NodeExchange.noticeInterval == .milliseconds(100) && NodeExchange.presenceInterval == .seconds(1))
        #expect(NodeExchange.maximumReports == 10_000 && NodeExchange.maximumRows == 20_000)
    }
}
