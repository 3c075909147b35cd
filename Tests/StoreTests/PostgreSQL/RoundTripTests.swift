import Chat
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Store

/// Counts the round trips to a database.
private final class RoundTrips: Sendable {
    private let count = Mutex(0)

    func add() { count.withLock { $0 += 1 } }

    /// Returns the number of round trips in `body`.
    func during<R>(_ body: () throws -> R) throws -> Int {
        let before = count.withLock { $0 }
        _ = try body()
        return count.withLock { $0 } - before
    }
}

@Suite("The round trips to PostgreSQL", .partOfPostgreSQL)
struct RoundTripTests {
    private let trips = RoundTrips()

    private func makeLog(_ configure: (inout StoreConfiguration) -> Void = { _ in }) throws -> TestLog {
        let server = try TestPostgres.shared()
        let url = server.url(of: try server.createDatabase())
        let log = try TestLog(postgres: url) { [trips] in
            $0.readers = 1
            // So that the reader need not look at revoked access, even if the listener's thread is late.
            $0.accessAge = .seconds(3600)
            $0.onReaderWait = { _ in trips.add() }
            configure(&$0)
        }
        // Connects.
        _ = try log.state()
        return log
    }

    @Test(
        arguments: [
            .newest, .before(.seq(50)), .after(.seq(50)), .around(.seq(50)), .before(.first), .after(.last),
            .around(.first),
        ] as [PageRequest.Anchor])
    func `of a page are one, also in a private room`(anchor: PageRequest.Anchor) throws {
        let log = try makeLog()
        let bodies = try log.fill(100)
        let open = try trips.during {
            let page = try log.page(anchor)
            #expect(page.state.head == 100)
            if page.count > 0 {
                let expected = joined(bodies[Int(page.firstSeq - 1)..<Int(page.lastSeq)])
                #expect(page.messages == expected)
            }
        }
        #expect(open == 1)
        _ = try log.change(.set(RoomSettings(visibility: .private)), by: "alice").get()
        #expect(try trips.during { _ = try log.page(anchor, for: "alice") } == 1)
        let refused = try trips.during { try? log.page(anchor, for: "mallory") }
        #expect(refused == 1)
        #expect(throws: Problem.roomNotFound) { try log.page(anchor, for: "mallory") }
    }

    @Test func `of pages that are requested together are one`() throws {
        let log = try makeLog()
        let rooms = ["a", "b", "c"]
        for room in rooms { try log.fill(40, room) }
        let queries = try (1...30).map { number in
            try log.query(
                { .page(PageRequest(anchor: .before(.seq(Int64(number))), limit: 10), $0) }, of: rooms[number % 3])
        }
        var problems: [Problem?] = []
        let count = try trips.during { problems = try log.problems(of: queries) }
        #expect(count == 1 && problems.allSatisfy { $0 == nil })
    }

    @Test func `of other reads do not depend on the size of the room`() throws {
        let log = try makeLog()
        try log.fill(200)
        try log.read(to: 200, as: "bob")
        func count(_ body: () throws -> Void) throws -> Int { try trips.during(body) }
        #expect(try count { _ = try log.state() } == 1)
        #expect(try count { _ = try log.replay(since: nil) } == 1)
        #expect(try count { _ = try log.replay(since: 190) } == 2)
        #expect(try count { _ = try log.message(7) } == 2)
        #expect(try count { _ = try log.reads(from: 100) } == 2)
        #expect(try count { _ = try log.page(.before(.time(.latest))) } == 3)
        #expect(try count { _ = try log.summary(for: "bob") } == 2)
        #expect(try count { _ = try log.page(.around(.read), for: "bob") } == 3)
        #expect(try count { _ = try log.page(.around(.mention), for: "bob") } == 3)
        try log.edit(3, "edited")
        #expect(try count { _ = try log.replay(since: 150) } == 3)
        let states = try (0..<20).map { _ in try log.query({ .state($0) }) }
        #expect(try count { _ = try log.problems(of: states) } == 1)
    }

    @Test func `of unread messages are the same with mentions and without`() throws {
        let log = try makeLog()
        try log.fill(200)
        try log.read(to: 190, as: "bob")
        let without = try trips.during { _ = try log.summary(for: "bob") }
        try log.sendAll((0..<40).map { _ in .init(mentions: ["bob"], mentionsRoom: true) })
        var summary: RoomSummary?
        #expect(try trips.during { summary = try log.summary(for: "bob") } == without)
        #expect(summary?.unreadMentions == 40)
        var listed: MentionsSlice?
        #expect(try trips.during { listed = try log.mentions(of: "bob") } == 3)
        #expect(listed?.messages.count == 30)
    }

    @Test func `of a list of rooms do not depend on the number of rooms, read to their ends or not`() throws {
        let log = try makeLog()
        for number in 0..<12 {
            try log.fill(3, "room\(number)")
            try log.join("room\(number)", as: "bob")
            try log.read(to: number < 6 ? 3 : 1, in: "room\(number)", as: "bob")
        }
        let count = try trips.during {
            let rooms = try log.inbox(of: "bob").rooms
            #expect(rooms.count == 12 && rooms.allSatisfy { $0.lastMessage != nil })
            #expect(rooms.reduce(0) { $0 + ($1.summary.unread ?? 0) } == 12)
        }
        #expect(count == 3)
    }

    @Test func `of badges do not depend on the number of users and rooms`() throws {
        let log = try makeLog()
        var pairs: [PushPair] = []
        for number in 0..<12 {
            try log.fill(3, "room\(number)")
            for user in ["bob", "carol", "dora"] {
                try log.join("room\(number)", as: user)
                pairs.append(PushPair(try UserID(user), Int64(number + 1)))
            }
        }
        let store = try log.log.webhookStore()
        defer { store.close() }
        // Connects.
        _ = try store.webhooks()
        let count = try trips.during {
            let states = try store.pushStates(of: pairs, at: .now())
            #expect(states.count == 36 && states.values.allSatisfy { $0.badge == 36 && $0.read?.unread == 3 })
        }
        #expect(count == 3)
    }

    @Test func `of a page with many bytes or messages are more, so that the answer stays within its bound`() throws {
        let log = try makeLog { $0.answerBytes = 300_000 }
        let text = String(repeating: "x", count: 15_000)
        for _ in 0..<4 { try log.sendAll((0..<10).map { _ in .init(text: text) }) }
        let page = try log.page(limit: 40)
        #expect(page.lastSeq == 40 && page.count > 5 && page.messages.count <= 300_000)
        #expect(try log.page(limit: 5).count == 5)
        #expect(try log.page(limit: 10).count == 10)
        try log.fill(300, "long")
        #expect(try log.page(.after(.first), limit: 250, of: "long").count == 250)
    }

    // MARK: Read transactions

    private func connect() throws -> PostgresConnection {
        let server = try TestPostgres.shared()
        var settings = PostgresConnection.Settings(url: server.url(of: try server.createDatabase()))
        settings.onWait = { [trips] _ in trips.add() }
        return try PostgresConnection(settings)
    }

    @Test func `of a read transaction are those of its statements, which see one snapshot`() throws {
        let connection = try connect()
        let statement = connection.prepare("SELECT transaction_timestamp()::text", isLong: false)
        var times: [String] = []
        let count = try trips.during {
            for _ in 0..<2 {
                connection.beginTransaction()
                defer { connection.endTransaction() }
                for _ in 0..<2 { times.append(try statement.firstRow { $0.text(0) }!) }
            }
        }
        #expect(count == 4)
        #expect(times[0] == times[1] && times[2] == times[3] && times[0] != times[2])
        let none = try trips.during {
            connection.beginTransaction()
            connection.endTransaction()
        }
        #expect(none == 0)
    }

    @Test func `of statements sent ahead are one, and their rows are those of the same parameters and transaction`()
        throws
    {
        let connection = try connect()
        let statement = connection.prepare("SELECT $1::bigint + 1", isLong: false)
        func next(_ number: Int64) throws -> Int64? {
            statement.bind(number, at: 1)
            return try statement.firstRow { $0.integer(0) }
        }
        connection.beginTransaction()
        var found: [Int64?] = []
        let count = try trips.during {
            try connection.sendAhead { for number in [1, 2, 1] as [Int64] { found.append(try next(number)) } }
            #expect(found == [nil, nil, nil])
            found = []
            for number in [2, 1, 2] as [Int64] { found.append(try next(number)) }
        }
        #expect(count == 1 && found == [3, 2, 3])
        #expect(try trips.during { found.append(try next(3)) } == 1)
        connection.endTransaction()
        #expect(try trips.during { found.append(try next(1)) } == 1)
        #expect(found == [3, 2, 3, 4, 2])
    }

    @Test func `continue after a statement has failed in a read transaction`() throws {
        let connection = try connect()
        let wrong = connection.prepare("SELECT 1 / $1::bigint", isLong: false)
        let right = connection.prepare("SELECT 7", isLong: false)
        let long = connection.prepare("SELECT 8", isLong: true)
        for _ in 0..<3 {
            connection.beginTransaction()
            wrong.bind(0, at: 1)
            try connection.sendAhead {
                for statement in [right, wrong] { _ = try statement.firstRow { $0.integer(0) } }
            }
            // The end of the long statement is queued after the failure.
            #expect(throws: PostgresError.self) { try long.withRows { _ in try wrong.firstRow { $0.integer(0) } } }
            connection.endTransaction()
            #expect(try right.firstRow { $0.integer(0) } == 7)
        }
        #expect(!connection.isLost)
    }
}
