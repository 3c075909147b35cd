import Chat
import GRDB
import Glibc
import TestSupport
import Testing
import TextSearch
import Wire

@testable import Store

extension TestLog {
    /// Waits until all messages are indexed and nothing is left to do.
    func waitUntilIndexed() throws {
        try waitUntil {
            if TestStore.isPostgres {
                return try number(
                    """
                    SELECT (SELECT count(*) FROM rooms LEFT JOIN indexed ON room = id
                        WHERE deleted = 0 AND (head > coalesce(seq, 0) OR rooms.rev > coalesce(indexed.rev, 0)))
                        + (SELECT count(*) FROM meta WHERE key = 'search_building')
                    """) == 0
            }
            let lag = try? self.sql { db in
                try Int.fetchOne(
                    db,
                    sql: """
                        SELECT (SELECT count(*) FROM messages JOIN rooms ON rooms.id = messages.id >> 36
                            WHERE deleted = 0 AND messages.id & \(RowKey.maximumOrdinal)
                                > ifnull((SELECT seq FROM indexed WHERE room = rooms.id), 0))
                            + (SELECT count(*) FROM journal) + (SELECT count(*) FROM meta WHERE key = 'search_building')
                        """)
            }
            return lag == 0
        }
    }

    /// Returns the value of a key of the table `meta`. Only with SQLite.
    fileprivate func meta(_ key: String) throws -> String? {
        try sql { try String.fetchOne($0, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key]) }
    }
}

/// The index of words, which is part of the tables.
extension SchemaTests {
    private static func indexingLog(
        in directory: TemporaryDirectory? = nil, _ configure: (inout StoreConfiguration) -> Void = { _ in }
    ) throws -> TestLog {
        try TestLog(in: directory) {
            // What is not indexed is not found.
            $0.scannedMessages = 0
            $0.journal.messages = 0
            $0.journal.idleTime = 1
            configure(&$0)
        }
    }

    @Test func `index words while the log is idle, and have the present ones only`() throws {
        let log = try Self.indexingLog()
        try log.sendAll((1...300).map { .init(text: "word \($0 % 3 == 0 ? "회의는" : "다른") \($0)") })
        try log.sendAll([.init(text: "other", room: "den")])
        try log.waitUntilIndexed()
        #expect(try log.found("회의", in: "lobby").count == 100)
        #expect(try log.found("word 299", in: "lobby") == ["lobby:299"] && log.found("ot") == ["den:1"])
        try log.edit(299, "회의 at last")
        try log.delete(300)
        #expect(try log.found("word 299", in: "lobby") == [] && log.found("회의 la") == ["lobby:299"])
        #expect(try log.found("word 300", in: "lobby") == [])
        _ = try log.change(.delete, in: "den", by: "alice").get()
        try waitUntil { (try? log.sql { try Int.fetchOne($0, sql: "SELECT count(*) FROM indexed") }) == 1 }
        log.close()
        try expectSound(log.path)
    }

    @Test func `say up to when everything is found while messages wait for the index`() throws {
        let clock = TestClock(5000)
        let log = try Self.indexingLog { ($0.clock, $0.scannedMessages, $0.indexes) = ({ clock.now }, 2, false) }
        try log.sendAll((1...4).map { .init(text: "word \($0)") })
        func search() throws -> SearchSlice {
            try log.search(SearchRequest(SearchQuery("word")), in: "lobby", as: "alice")
        }
        #expect(try search().hits.map(\.place) == ["lobby:4", "lobby:3"] && search().indexedTo?.milliseconds == 0)
        try log.sql { try $0.execute(sql: "INSERT INTO indexed VALUES (1, 1)") }
        #expect(try search().hits.map(\.place) == ["lobby:4", "lobby:3"] && search().indexedTo == clock.now)
        try log.sql { try $0.execute(sql: "UPDATE indexed SET seq = 2") }
        #expect(try search().indexedTo == nil)
    }

    @Test(arguments: [0, 12], [5, 1000])
    func `list the matches of all rooms at once, but no more than are allowed`(scannedFirst: Int, listedMatches: Int)
        throws
    {
        let directory = try TemporaryDirectory()
        let clock = TestClock(0)
        var log = try Self.indexingLog(in: directory) { $0.clock = { clock.now } }
        var expected: [String] = []
        for round in 1...3 {
            for room in 1...20 {
                clock.step(1)
                try log.sendAll([.init(text: round == 2 ? "note \(room)" : "notes 회의", room: "room\(room)")])
                expected.insert("room\(room):\(round)", at: 0)
            }
        }
        try log.waitUntilIndexed()
        log = try log.reopened {
            ($0.scannedMessages, $0.scannedFirst, $0.listedMatches) = (scannedFirst, scannedFirst, listedMatches)
        }
        let long = expected.filter { !$0.hasSuffix(":2") }
        for limit in [2, 7, 100] {
            #expect(try log.found("note", limit: limit) == expected && log.found("회의", limit: limit) == long)
            #expect(try log.found("notes", limit: limit) == long)
            #expect(try log.found("note -notes 7", limit: limit) == ["room7:2"])
        }
        #expect(try log.found("note", in: "room9", limit: 1) == ["room9:3", "room9:2", "room9:1"])
    }

    @Test func `of an earlier version are indexed while the log serves, and searches are refused until then`() throws {
        let directory = try TemporaryDirectory()
        var log = try Self.indexingLog(in: directory) { $0.indexes = false }
        try log.sendAll((1...40).map { .init(text: "word \($0)", room: "room\($0 % 4)") })
        try log.sql { try $0.execute(sql: "INSERT INTO meta VALUES ('search_building', '42')") }
        #expect(throws: Problem.indexBuilding(percent: 42)) { try log.found("word") }
        #expect(throws: Problem.indexBuilding(percent: 42)) { try log.found("word", in: "room1") }
        let events = Recorder<JobEvent>()
        log = try log.reopened {
            ($0.scannedMessages, $0.onJob) = (0, { events.record($0) })
        }
        try log.waitUntilIndexed()
        #expect(try log.found("word").count == 40 && events.events.last == .done("indexing messages"))
        // Tokens of another version are made again.
        log.close()
        try log.sql {
            try $0.execute(sql: "UPDATE meta SET value = '0' WHERE key = 'search_version'")
            try $0.execute(sql: "INSERT INTO words (words, rowid, text) VALUES ('delete', (1 << 36) + 1, 'word')")
        }
        log = try log.reopened { $0.scannedMessages = 0 }
        try waitUntil { (try? log.meta("search_version")) == "\(SearchTokens.version)" }
        try log.waitUntilIndexed()
        #expect(try log.found("word").count == 40)
        log.close()
        try expectSound(log.path)
        #expect(throws: StoreError.self) { try SearchRebuild(.file(log.path + "x")).run() }
        try SearchRebuild(.file(log.path)).run()
        log = try log.reopened { $0.scannedMessages = 0 }
        try waitUntil { (try? log.meta("search_version")) == "\(SearchTokens.version)" }
        try log.waitUntilIndexed()
        #expect(try log.found("word 3").count == 11)
    }

    @Test func `lose removed words with the next purge, also after a restart`() throws {
        var log = try Self.indexingLog()
        try log.sendAll([
            .init(text: "zebrasecret"), .init(text: "giraffesecret"), .init(text: "lionsecret", room: "den"),
            .init(text: "elephant"),
        ])
        try log.waitUntilIndexed()
        try log.delete(1)
        try log.edit(2, "public")
        _ = try log.change(.delete, in: "den", by: "alice").get()
        try waitUntil { (try? log.sql { try Int.fetchOne($0, sql: "SELECT count(*) FROM indexed") }) == 1 }
        #expect(try log.meta("search_removed") != nil)
        log = try log.reopened()
        try waitUntil { try log.meta("search_removed") == nil }
        #expect(try log.found("elephant", in: "lobby") == ["lobby:3"])
        log.close()
        try run("grep", "-qa", "elephant", log.path)
        for word in ["zebra", "giraffe", "lion"] {
            #expect(throws: CommandFailed.self, "it is gone from the file") { try run("grep", "-qa", word, log.path) }
        }
        try expectSound(log.path)
    }

    @Test func `lose removed words in time, also while others are removed again and again`() throws {
        let log = try Self.indexingLog { $0.wordPurgeInterval = .seconds(2) }
        try log.fill(200)
        try log.waitUntilIndexed()
        var isPurged = false
        for seq in 1...200 as ClosedRange<Int64> where !isPurged {
            try log.delete(seq)
            // The pace of a busy server, at which the purge is still due after some of the deletions.
            poll(nil, 0, 60)
            isPurged = try log.meta("search_removed") == nil
        }
        #expect(isPurged)
    }

    @Test func `lose the words of a room in which nothing is to be searched, also after a restart, until it is`() throws
    {
        var log = try Self.indexingLog()
        try log.sendAll((1...100).map { .init(text: "word \($0)", room: "den") } + [.init(text: "word")])
        try log.waitUntilIndexed()
        log.close()
        // As if the server had ended at once after the change.
        try log.sql { try $0.execute(sql: "UPDATE rooms SET searchable = 0 WHERE name = 'den'") }
        log = try log.reopened { ($0.scannedMessages, $0.journal.messages, $0.journal.idleTime) = (0, 0, 1) }
        func indexed() throws -> [Int?] {
            try ["indexed", "words WHERE words MATCH 'word'"].map { table in
                try log.sql { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") }
            }
        }
        func set(_ isSearchable: Bool) throws {
            _ = try log.change(.set(RoomSettings(isSearchable: isSearchable)), in: "den", by: "alice").get()
        }
        try waitUntil { (try? indexed()) == [1, 1] }
        #expect(try log.found("word") == ["lobby:1"])
        try set(true)
        try log.waitUntilIndexed()
        #expect(try log.found("word").count == 101 && indexed() == [2, 101])
        try set(false)
        try waitUntil { (try? indexed()) == [1, 1] }
        log.close()
        try expectSound(log.path)
    }

    @Test func `are damaged if their words are not those of the messages`() throws {
        let log = try Self.indexingLog()
        try log.sendAll([.init(text: "one word"), .init(text: "two", room: "den")])
        try log.waitUntilIndexed()
        log.close()
        try expectSound(log.path)
        try log.sql {
            try $0.execute(sql: "INSERT INTO words (words, rowid, text) VALUES ('delete', (2 << 36) + 1, 'two')")
        }
        let damages = try DatabaseCheck(log.path).run().damages
        #expect(
            damages.count == 1
                && damages.first?.description.hasPrefix("room den: the index for searches differs") == true)
    }
}
