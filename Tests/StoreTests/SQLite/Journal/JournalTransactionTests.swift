import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A transaction of the journal", .partOfSQLite(.journal))
struct JournalTransactionTests {
    /// A journal in a database of its own, with one room.
    private struct Fixture {
        let db: SQLiteConnection
        let journal: Journal
        let filter = ClientMessageFilter(bytes: 1024)
        let statements: WriterStatements
        let id: RoomID
        var room: RoomTable.Room

        init(_ db: SQLiteConnection, _ limits: Journal.Limits) throws {
            self.db = db
            journal = Journal(limits)
            statements = try WriterStatements(db)
            id = try RoomID("lobby")
            room = RoomTable.Room(
                number: try statements.insertRoom(id, at: Timestamp(milliseconds: 0))!, RoomFacts())
        }

        func message(_ seq: Int64, bytes: Int = 10) throws -> RecentMessage {
            RecentMessage(
                room: id, roomNumber: room.number, seq: seq, rev: seq, createdAt: Timestamp(milliseconds: seq),
                sender: try UserID("alice"), key: try key(seq), body: Array(repeating: UInt8(seq), count: bytes))
        }

        func key(_ seq: Int64) throws -> ClientMessageKey {
            ClientMessageKey(sender: try UserID("alice"), id: "id\(seq)")
        }

        func transaction(_ filing: Journal.Filing = .none) -> JournalTransaction {
            JournalTransaction(
                journal, filter, filing: filing, appending: 8, at: Timestamp(milliseconds: 1000), statements)
        }

        /// Makes a transaction; an error of `body` ends it and is thrown.
        func transact(
            filing: Journal.Filing = .none, _ body: (inout JournalTransaction) throws -> Void = { _ in }
        ) throws {
            var part = transaction(filing)
            try db.transaction(.immediate) { _ in
                try part.begin()
                try body(&part)
                try part.write()
            }
            part.committed()
        }

        /// Appends messages with these numbers in one transaction.
        func append(_ seqs: Int64..., filing: Journal.Filing = .none) throws {
            try transact(filing: filing) { part in for seq in seqs { try part.append(message(seq)) } }
        }

        /// The `seq` of the messages that readers get from the journal, the journal's rows, and the `seq` of filed messages.
        var state: [[Int64]] {
            get throws {
                [
                    journal.messages(of: id).map(\.seq),
                    try db.all("SELECT id FROM journal ORDER BY id") { $0.integer(0) },
                    try db.all("SELECT id FROM messages ORDER BY id") { RowKey(rawValue: $0.integer(0)).ordinal },
                ]
            }
        }
    }

    private func withFixture(
        _ limits: Journal.Limits = Journal.Limits(), _ body: (inout Fixture) throws -> Void
    ) throws {
        try SQLiteDatabase(path: nil).use { db in
            try Schema.migrate(db)
            var fixture = try Fixture(db, limits)
            try body(&fixture)
        }
    }

    private struct Failure: Error {}

    @Test func `adds one row with all messages, which readers see once it is durable`() throws {
        try withFixture { fixture in
            try fixture.transact { part in
                for seq in 1...3 as ClosedRange<Int64> { try part.append(fixture.message(seq)) }
                #expect(fixture.journal.messages(of: fixture.id).isEmpty)
                #expect(part.hasMessage(of: try UserID("alice"), in: fixture.id, fixture.room))
                #expect(!part.hasMessage(of: try UserID("bob"), in: fixture.id, fixture.room))
            }
            #expect(try fixture.state == [[1, 2, 3], [1], []])
            #expect(fixture.journal.messages(of: [fixture.id, try RoomID("attic")]).map(\.count) == [3, 0])
            #expect(fixture.journal.rooms == [fixture.id] && fixture.journal.nextRow == 2)
        }
    }

    @Test func `changes nothing if it fails`() throws {
        try withFixture { fixture in
            try fixture.append(1)
            #expect(throws: Failure.self) {
                try fixture.transact(filing: .oldest(.max)) { part in
                    try part.append(fixture.message(2))
                    throw Failure()
                }
            }
            #expect(try fixture.state == [[1], [1], []])
        }
    }

    @Test(
        arguments: [
            (.none, [[1, 2], [1, 2], []]), (.due, [[1, 2], [1, 2], []]), (.oldest(1), [[], [], [1, 2]]),
            (.rows(before: 1), [[1, 2], [1, 2], []]), (.rows(before: 2), [[], [], [1, 2]]),
        ] as [(Journal.Filing, [[Int64]])])
    func `files the messages that it is asked to, and deletes the rows that held them`(
        filing: Journal.Filing, state: [[Int64]]
    ) throws {
        try withFixture { fixture in
            try fixture.append(1)
            try fixture.append(2)
            #expect(fixture.journal.nextIdleFiling != nil && fixture.journal.hasRows(before: 2))
            try fixture.transact(filing: filing)
            #expect(try fixture.state == state)
            #expect(fixture.journal.isEmpty == state[0].isEmpty)
            #expect((fixture.journal.nextIdleFiling == nil) == state[0].isEmpty)
        }
    }

    @Test func `files what is due beyond the journal's bounds, and then appends`() throws {
        try withFixture(Journal.Limits(messages: 2)) { fixture in
            try fixture.append(1, 2, 3, filing: .due)
            #expect(try fixture.state == [[1, 2, 3], [1], []])
            try fixture.append(4, filing: .due)
            #expect(try fixture.state == [[4], [2], [1, 2, 3]])
        }
    }

    @Test func `files a room that changes, with the messages it has before and after`() throws {
        try withFixture { fixture in
            try fixture.append(1)
            try fixture.transact { part in
                try part.append(fixture.message(2))
                try part.file(fixture.id, fixture.room)
                try part.append(fixture.message(3))
            }
            #expect(try fixture.state == [[], [], [1, 2, 3]])
        }
    }

    @Test func `names the rooms whose messages cannot be filed`() throws {
        try withFixture { fixture in
            try fixture.append(1)
            try fixture.statements.insert([fixture.message(1)])
            let failure = #expect(throws: RowFailure.self) { try fixture.transact(filing: .oldest(1)) }
            #expect(failure?.rooms == [fixture.id] && failure?.submission == nil)
            #expect(try fixture.state == [[1], [1], [1]])
            // The room is then quarantined, and stays readable in a row of its own.
            #expect(try fixture.journal.quarantine(fixture.id, fixture.statements))
            try fixture.transact()
            #expect(try fixture.state == [[1], [-1], [1]])
            #expect(fixture.journal.isEmpty)
            #expect(fixture.transaction().refusal(ofErasing: try UserID("alice")) != nil)
        }
    }

    @Test(arguments: [true, false])
    func `finds messages by their client message ids, wherever they are`(isFiltered: Bool) throws {
        try withFixture { fixture in
            let fresh = fixture.transaction()
            fresh.complete(&fixture.room, fixture.id)
            #expect(fixture.room.filter == fixture.filter.number && fixture.room.head == 0)
            try fixture.append(1)
            try fixture.append(2, filing: .oldest(.max))
            try fixture.transact { part in
                try part.append(fixture.message(3))
                if !isFiltered { fixture.room.filter = 0 }
                for seq in 1...3 as ClosedRange<Int64> {
                    let found = try part.message(sentAs: fixture.key(seq), in: fixture.id, &fixture.room)
                    #expect(try found?.body == fixture.message(seq).body)
                }
                #expect(try part.message(sentAs: fixture.key(4), in: fixture.id, &fixture.room) == nil)
            }
        }
    }

    @Test func `completes a room's filed state with its newest message`() throws {
        try withFixture { fixture in
            try fixture.append(1, 2)
            fixture.transaction().complete(&fixture.room, fixture.id)
            #expect(fixture.room.head == 2 && fixture.room.rev == 2 && fixture.room.filter == 0)
            #expect(fixture.room.latest == Timestamp(milliseconds: 2))
        }
    }

    @Test func `files its own messages if the journal is turned off`() throws {
        try withFixture(Journal.Limits(messages: 0)) { fixture in
            try fixture.append(1)
            #expect(try fixture.state == [[], [], [1]])
        }
    }
}
