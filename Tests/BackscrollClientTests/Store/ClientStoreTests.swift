import BackscrollClientStore
import GRDB
import TestSupport
import Testing
import Wire

@testable import BackscrollClient

@Suite("A store in a database")
struct ClientStoreTests {
    private let account = StoreAccount(server: "http://x", user: "alice")

    private func key(_ room: String, user: String = "alice") -> StoredRoomKey {
        StoredRoomKey(account: StoreAccount(server: "http://x", user: user), room: room)
    }

    private func page(_ seqs: ClosedRange<Int64>, rev: Int64, epoch: String = "E") -> StoreChange {
        .page(
            MessageRun(first: seqs.lowerBound, last: seqs.upperBound, rev: rev, hasAfter: false), epoch: epoch,
            seqs.map { .model(seq: $0, rev: $0) })
    }

    private func send(_ id: String, at: Int64 = 1) -> StoreChange {
        .send(StoredSend(draft: ChatDraft("text of \(id)", clientMessageID: id), at: at))
    }

    @Test func `keeps the higher revision of a message`() async throws {
        let store = GRDBClientStore.database(try DatabaseQueue())
        let changes: [StoreChange] = [
            page(1...3, rev: 3),
            .frames(from: 3, to: 9, epoch: "E", [.model(seq: 2, rev: 9)]), page(1...3, rev: 9),
            .frames(from: 9, to: 9, epoch: "other", [.model(seq: 1, rev: 12)]),
        ]
        try await store.write(changes, to: key("lobby"))
        let stored = try #require(try await store.load(key("lobby"), limit: 10)?.newest)
        #expect(stored.messages.map(\.text) == ["1 at 1", "2 at 9", "3 at 3"])
        #expect(stored.run == MessageRun(first: 1, last: 3, rev: 9, hasAfter: false))
    }

    @Test func `is created once in a file that several stores open at the same time`() async throws {
        let directory = try TemporaryDirectory()
        for round in 1...20 {
            let path = directory.path(of: "\(round).db")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...8 {
                    group.addTask {
                        try await GRDBClientStore.file(path).write([send("\(number)")], to: key("room\(number)"))
                    }
                }
                try await group.waitForAll()
            }
            let rooms = try await GRDBClientStore.file(path).roomsWithSends(of: account)
            #expect(Set(rooms) == Set((1...8).map { "room\($0)" }))
        }
    }

    @Test func `keeps sends in their order, and across another history`() async throws {
        let store = GRDBClientStore.database(try DatabaseQueue())
        var draft = ChatDraft("with all", replyTo: 3, data: Array(#"{"a":[1]}"#.utf8), clientMessageID: "full")
        draft.attachments = [Attachment(kind: .file, url: "https://x/y")]
        try await store.write([page(1...3, rev: 3), send("a"), send("b"), send("c")], to: key("lobby"))
        try await store.write(
            [
                .refused(clientMessageID: "b", code: "too_long"), .removeSend(clientMessageID: "c"), send("a"),
                .send(StoredSend(draft: draft, at: 77)), page(1...1, rev: 1, epoch: "F"), .unsentMark(2),
            ], to: key("lobby"))
        try await store.write([send("x")], to: key("kitchen", user: "bob"))
        let stored = try #require(try await store.load(key("lobby"), limit: 10))
        #expect(stored.sends.map(\.draft.clientMessageID) == ["b", "a", "full"])
        #expect(stored.sends.map(\.refusal) == ["too_long", nil, nil])
        #expect(stored.sends[2].draft == draft && stored.sends[2].at == 77 && stored.unsentMark == 2)
        #expect(stored.newest?.messages.count == 1 && stored.newest?.epoch == "F")
        #expect(try await store.roomsWithSends(of: account) == ["lobby"])
        #expect(try await store.load(key("kitchen"), limit: 10) == nil)
    }

    @Test func `evicts the oldest messages of the rooms opened longest ago, and no sends and marks`() async throws {
        let database = try DatabaseQueue()
        let store = GRDBClientStore.database(database, maximumBytes: 200_000)
        for room in ["old", "new"] {
            try await store.write([.opened, page(1...300, rev: 300), send(room), .read(5)], to: key(room))
        }
        let bytes = try await database.read { try Int.fetchOne($0, sql: "SELECT SUM(bytes) FROM backscroll_room")! }
        try #require(bytes > 50_000 && bytes < 200_000)
        // More than fits.
        for first in stride(from: 301, to: 1501, by: 300) as StrideTo<Int64> {
            try await store.write(
                [
                    .frames(
                        from: first - 1, to: first + 299, epoch: "E",
                        (first..<first + 300).map { .model(seq: $0, rev: $0) })
                ],
                to: key("new"))
        }
        let old = try #require(try await store.load(key("old"), limit: 10))
        #expect(old.newest == nil && old.sends.count == 1 && old.epoch == "E")
        let new = try #require(try await store.load(key("new"), limit: 5000)?.newest)
        #expect(new.messages.last?.seq == 1500 && new.run.first > 1 && new.hasBefore && new.read == 5)
        let (sum, real) = try await database.read { db in
            (
                try Int.fetchOne(db, sql: "SELECT SUM(bytes) FROM backscroll_room")!,
                try Int.fetchOne(db, sql: "SELECT SUM(LENGTH(json) + 32) FROM backscroll_message")!
            )
        }
        #expect(sum == real && sum <= 200_000)
        #expect(GRDBClientStore.defaultMaximumBytes == 67_108_864)
    }

    @Test func `keeps the list of each user's rooms`() async throws {
        let store = GRDBClientStore.database(try DatabaseQueue())
        let bob = StoreAccount(server: "http://x", user: "bob")
        func room(_ id: String, rest: String = "", latest: Int64, place: Int = 0) throws -> StoredInboxRoom {
            let json = #"{"room":"\#(id)","head":0,"rev":0,"epoch":"E"\#(rest)}"#
            return StoredInboxRoom(room: try RoomSummary(json: Array(json.utf8)), latest: latest, place: place)
        }
        #expect(try await store.inbox(of: account).isEmpty)
        let message = String(decoding: ChatMessage.model(seq: 9, rev: 12).json, as: UTF8.self)
        let full = try room(
            "full",
            rest: """
                ,"title":"A \\"b\\"","visibility":"private","role":"owner","read":3,"unread":5,"first_unread":4,\
                "last_message":\(message)
                """, latest: 50)
        let (gone, first, second) = (
            try room("gone", latest: 1), try room("first", latest: 50, place: -2),
            try room("second", latest: 50, place: -1)
        )
        try await store.write([.put(gone), .put(second), .put(full), .put(first)], toInboxOf: account)
        try await store.write([.remove("gone"), .remove("unknown")], toInboxOf: account)
        try await store.write([.put(gone)], toInboxOf: bob)
        #expect(try await store.inbox(of: account) == [first, second, full])
        #expect(full.room.title == #"A "b""# && full.room.role == .owner && full.room.lastMessage?.rev == 12)
        let moved = try room("full", latest: 99)
        try await store.write([.put(moved)], toInboxOf: account)
        #expect(try await store.inbox(of: account) == [moved, first, second])
        #expect(try await store.inbox(of: bob) == [gone])
        #expect(throws: BackscrollClientError.self) { try RoomSummary(json: Array(#"{"room":"a"}"#.utf8)) }
    }

    @Test(arguments: [true, false])
    func `removes an account when its user signs out`(hasForeignKeys: Bool) async throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = hasForeignKeys
        let database = try DatabaseQueue(configuration: configuration)
        let store = GRDBClientStore.database(database)
        let room = try RoomSummary(json: Array(#"{"room":"a","head":0,"rev":0,"epoch":"E"}"#.utf8))
        for user in ["alice", "bob"] {
            try await store.write([page(1...3, rev: 3), send("a")], to: key("lobby", user: user))
            try await store.write(
                [.put(StoredInboxRoom(room: room, latest: 1, place: 0))], toInboxOf: key("lobby", user: user).account)
        }
        try await store.removeAll(of: account)
        #expect(try await store.load(key("lobby"), limit: 10) == nil)
        #expect(try await store.inbox(of: account).isEmpty)
        #expect(try await store.load(key("lobby", user: "bob"), limit: 10)?.newest?.messages.count == 3)
        #expect(try await store.inbox(of: key("lobby", user: "bob").account).map(\.room) == [room])
        // The rows of a room that comes next may have its number.
        try await store.removeAll(of: key("lobby", user: "bob").account)
        try await store.write([page(1...1, rev: 1)], to: key("lobby", user: "carol"))
        let stored = try #require(try await store.load(key("lobby", user: "carol"), limit: 10))
        #expect(stored.newest?.messages.count == 1 && stored.sends.isEmpty)
    }

    @Test func `lives in a database of the app, beside its tables and migrations`() async throws {
        let database = try DatabaseQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("app") { try $0.execute(sql: "CREATE TABLE room (id INTEGER)") }
        try migrator.migrate(database)
        for _ in 1...2 {
            let store = GRDBClientStore.database(database)
            try await store.write([page(1...3, rev: 3)], to: key("lobby"))
        }
        let isSuperseded = try await database.read { [migrator] db in try migrator.hasBeenSuperseded(db) }
        #expect(!isSuperseded)
    }

    @Test func `is brought to the present version once`() async throws {
        let database = try DatabaseQueue()
        try await GRDBClientStore.database(database).write([send("a")], to: key("lobby"))
        // The database is as version 2 has left it.
        try await database.write { db in
            try db.execute(sql: "ALTER TABLE backscroll_room DROP COLUMN unread")
            try db.execute(sql: "ALTER TABLE backscroll_room DROP COLUMN unread_rev")
            try db.execute(sql: "UPDATE backscroll_version SET version = 2")
        }
        for _ in 1...2 {
            let store = GRDBClientStore.database(database)
            #expect(try await store.roomsWithSends(of: account) == ["lobby"])
        }
    }

    @Test func `reads only the shown messages of a large room`() async throws {
        let store = GRDBClientStore.database(try DatabaseQueue())
        try await store.write([page(1...20_000, rev: 20_000)], to: key("lobby"))
        let stored = try await store.load(key("lobby"), limit: 200)?.newest
        #expect(stored?.messages.map(\.seq) == Array(19_801...20_000) && stored?.run.first == 1)
    }
}
