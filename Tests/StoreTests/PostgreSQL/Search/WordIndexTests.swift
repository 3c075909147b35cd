import Chat
import TestSupport
import Testing
import TextSearch
import Wire

@testable import Store

@Suite("The index of words in PostgreSQL", .partOfPostgreSQL, .timeLimit(.minutes(30)))
struct WordIndexTests {
    private let server: TestPostgres
    private let database: String
    private let clock = TestClock()

    init() throws {
        server = try TestPostgres.shared()
        database = try server.createDatabase()
    }

    /// Opens a node whose blocks have few messages.
    private func node(_ configure: (inout StoreConfiguration) -> Void = { _ in }) throws -> TestLog {
        try TestLog(postgres: server.url(of: database)) {
            $0.usesDatabaseClock = false
            $0.clock = { [clock] in clock.now }
            $0.wordBlock = 4
            configure(&$0)
        }
    }

    private func number(_ query: String) throws -> Int {
        try Int(server.query(query, in: database)[0][0] ?? "") ?? 0
    }

    /// Waits until all messages and their changes are indexed.
    private func awaitIndex() throws {
        try waitUntil {
            try number("SELECT count(*) FROM meta WHERE key = 'search_built'") == 1
                && number(
                    """
                    SELECT count(*) FROM rooms LEFT JOIN indexed ON room = id
                    WHERE CASE deleted WHEN 0 THEN head > coalesce(seq, 0) OR rooms.rev > coalesce(indexed.rev, 0)
                        ELSE room IS NOT NULL END
                    """) == 0
        }
    }

    @Test func `finds what was sent, newest first, over many blocks, rooms and pages`() throws {
        let log = try node()
        var expected: [String] = []
        for round in 1...20 {
            clock.step(1000)
            for room in ["a", "b", "c"] {
                try log.sendAll([.init(text: round % 3 == 0 ? "정기회의 \(round)" : "other", room: room)])
                if round % 3 == 0 { expected.insert("\(room):\(round)", at: 0) }
            }
            if round % 5 == 0 { try awaitIndex() }
        }
        #expect(try number("SELECT count(*) FROM word_blocks") > 4)
        for limit in [1, 2, 30] { #expect(try log.found("회의", limit: limit) == expected) }
        #expect(try log.found("회의", in: "b") == expected.filter { $0.hasPrefix("b") })
        #expect(
            try log.found("회의 1")
                == expected.filter { $0.hasSuffix(":12") || $0.hasSuffix(":15") || $0.hasSuffix(":18") })
        #expect(try log.found("의 -회의") == [] && log.found("회", in: "c").count == 6)
        // Messages that are not indexed yet are found, too.
        clock.step(1000)
        try log.sendAll([.init(text: "회의", room: "a")])
        #expect(try log.found("회의") == ["a:21"] + expected)
    }

    @Test func `looks into the rooms of a user among many rooms`() throws {
        let log = try node()
        for room in 1...12 { try log.sendAll([.init(text: "word", room: "room\(room)", sender: "bob")]) }
        for room in 1...11 { try log.join("room\(room)", as: "alice") }
        try awaitIndex()
        #expect(try log.found("word").count == 11)
        #expect(try log.found("word", as: "bob").count == 12)
    }

    @Test func `has the words of an edited message anew, and none of deleted messages and rooms`() throws {
        let log = try node()
        try log.sendAll([.init(text: "secret one"), .init(text: "secret two"), .init(text: "secret", room: "den")])
        try awaitIndex()
        #expect(try number("SELECT count(*) FROM words") == 3)
        try log.edit(1, "public")
        #expect(try log.found("public") == ["lobby:1"])
        try log.delete(2)
        _ = try log.change(.delete, in: "den", by: "alice").get()
        #expect(try log.found("secret") == [])
        try awaitIndex()
        #expect(try number("SELECT count(*) FROM words") == 1)
        #expect(try number("SELECT count(*) FROM indexed") == 1)
        #expect(try number("SELECT count(*) FROM words WHERE tokens::text LIKE '%secret%'") == 0)
        #expect(try log.found("public") == ["lobby:1"])
    }

    @Test(arguments: [true, false])
    func `is kept by a node that searches, and only loses words while none does`(isFirst: Bool) throws {
        func searching() throws -> TestLog { try node() }
        func unsearching() throws -> TestLog { try node { $0.indexes = false } }
        func isHolder(_ log: TestLog) -> Bool { (log.log as! PostgresLog).nodeCounts?.isCaretaker == true }
        func words(_ word: String) throws -> Int {
            try number("SELECT count(*) FROM words WHERE tokens::text LIKE '%\(word)%'")
        }
        // The first node has the other background work.
        let first = try isFirst ? unsearching() : searching()
        try waitUntil { isHolder(first) }
        let second = try isFirst ? searching() : unsearching()
        let (log, other) = isFirst ? (first, second) : (second, first)
        try log.sendAll([.init(text: "secret one"), .init(text: "secret two"), .init(text: "secret three")])
        try awaitIndex()
        #expect(try words("secret") == 3)
        try log.delete(1)
        try awaitIndex()
        #expect(try words("secret") == 2 && other.found("secret") == ["lobby:3", "lobby:2"])
        other.close()
        try log.sendAll([.init(text: "secret", room: "den")])
        try log.delete(2)
        try log.edit(3, "public")
        try waitUntil { try words("secret") == 0 }
        #expect(try words("public") == 1 && number("SELECT count(*) FROM indexed") == 1)
        let third = try searching()
        try awaitIndex()
        #expect(try words("secret") == 1 && third.found("secret") == ["den:1"])
    }

    @Test func `has no words of a room in which nothing is to be searched, until it is`() throws {
        let log = try node()
        try log.sendAll((1...300).map { .init(text: "word \($0)", room: "den") } + [.init(text: "word")])
        try awaitIndex()
        func set(_ isSearchable: Bool) throws {
            _ = try log.change(.set(RoomSettings(isSearchable: isSearchable)), in: "den", by: "alice").get()
        }
        try set(false)
        #expect(try log.found("word") == ["lobby:1"])
        try waitUntil { try number("SELECT count(*) FROM indexed") == 1 }
        #expect(try number("SELECT count(*) FROM words") == 1)
        try set(true)
        try awaitIndex()
        #expect(try log.found("word").count == 301 && number("SELECT count(*) FROM words") == 301)
    }

    @Test func `is built again for another version of the words, and divides an existing database into blocks`() throws
    {
        let first = try node()
        for _ in 1...10 {
            clock.step(1000)
            try first.sendAll((1...10).map { .init(text: "word \($0)") })
        }
        try awaitIndex()
        first.close()
        try server.query("UPDATE meta SET value = '0' WHERE key = 'search_version'", in: database)
        try server.query("UPDATE words SET tokens = '''0:old'''", in: database)
        let second = try node()
        try waitUntil { try number("SELECT count(*) FROM meta WHERE key = 'search_version' AND value <> '0'") == 1 }
        try awaitIndex()
        #expect(try number("SELECT count(*) FROM word_blocks WHERE start < \(clock.now.milliseconds - 5000)") > 3)
        #expect(try second.found("word 7").count == 10)
    }

    @Test func `is built while the log serves, also again, and searches are refused until then`() throws {
        let first = try node { $0.indexes = false }
        try first.sendAll((1...600).map { .init(text: "word \($0)") } + [.init(text: "word", room: "den")])
        try server.query("INSERT INTO meta VALUES ('search_building', '42')", in: database)
        #expect(throws: Problem.indexBuilding(percent: 42)) { try first.found("word") }
        #expect(throws: Problem.indexBuilding(percent: 42)) { try first.found("word", in: "den") }
        first.close()
        let second = try node()
        try awaitIndex()
        #expect(try second.found("word 5").count == 111)
        try SearchRebuild(.postgres(server.url(of: database))).run()
        try waitUntil { try number("SELECT count(*) FROM meta WHERE key = 'search_version'") == 1 }
        try awaitIndex()
        #expect(try second.found("word").count == 601 && number("SELECT count(*) FROM words") == 601)
        #expect(try number("SELECT count(*) FROM meta WHERE key = 'search_building'") == 0)
    }

    @Test func `is whole although its node is killed while it is built, and built again`() throws {
        let log = try node { $0.wordBlock = 512 }
        let rooms = (1...5).map { "room\($0)" }
        for room in rooms { try log.sendAll((1...900).map { .init(text: "word \($0)", room: room) }) }
        // PostgreSQL does not see if the node or only its session has ended. The node keeps nothing either.
        func kill() throws {
            try server.query(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = 'backscroll caretaker'
                """, in: database)
        }
        func indexed() throws -> Int { try number("SELECT coalesce(sum(seq), 0) FROM indexed") }
        for isRebuilt in [false, true] {
            if isRebuilt {
                try awaitIndex()
                try SearchRebuild(.postgres(server.url(of: database))).run()
                try waitUntil { try number("SELECT count(*) FROM meta WHERE key = 'search_version'") == 1 }
            }
            for round in 1...4 {
                let before = try indexed()
                try waitUntil { try indexed() > before || before == 4500 }
                try kill()
                for room in rooms {
                    try log.edit(Int64(round), "changed \(isRebuilt)", of: room)
                    try log.delete(Int64(round + (isRebuilt ? 20 : 10)), of: room)
                }
            }
        }
        try awaitIndex()
        #expect(try number("SELECT count(*) FROM words") == 4500 - 40)
        #expect(try log.found("changed true", limit: 200).count == 20 && log.found("changed false") == [])
        #expect(try log.found("word 900").count == 5)
        log.close()
        #expect(try DatabaseCheck(.postgres(server.url(of: database))).run().damages == [])
    }

    @Test func `finds all, newest first, in more rooms than those of which it examines the newest messages`() throws {
        let log = try node { configuration in configuration.wordBlock = 512 }
        for _ in 1...4 {
            clock.step(1000)
            try log.sendAll((1...260).map { .init(text: "word", room: "room-\($0)") })
        }
        try awaitIndex()
        let expected = try server.query(
            "SELECT name || ':' || (messages.id & ((1::bigint << 36) - 1)) FROM messages JOIN rooms ON rooms.id = messages.id >> 36"
                + " ORDER BY messages.created_at DESC, messages.id DESC", in: database
        ).map { $0[0]! }
        #expect(expected.count == 1040)
        for limit in [30, 200] { #expect(try log.found("word", limit: limit) == expected) }
    }

    @Test func `leaves out old messages that are not indexed, and tells so`() throws {
        let first = try node()
        try first.sendAll([.init(text: "word")])
        try awaitIndex()
        let indexed = clock.now
        first.close()
        // A newer version of the program has the index.
        try server.query("UPDATE meta SET value = '99' WHERE key = 'search_version'", in: database)
        let second = try node { $0.scannedMessages = 25 }
        clock.step(1000)
        try second.sendAll((1...30).map { _ in .init(text: "word") })
        let slice = try second.search(SearchRequest(SearchQuery("word"), limit: 200), in: "lobby", as: "alice")
        #expect(slice.hits.count == 26 && slice.indexedTo == indexed)
        #expect(try second.search(SearchRequest(SearchQuery("word")), in: "den", as: "alice").indexedTo == nil)
    }

    @Test func `is damaged where its words are not those of the messages, but not where it lags or is removed`() throws
    {
        let log = try node()
        // Rooms get their numbers in this order.
        try log.sendAll((1...6).map { .init(text: "word \($0)") })
        try log.sendAll([.init(text: "word", room: "den")])
        try log.delete(4)
        try awaitIndex()
        log.close()
        func check() throws -> [String] {
            try DatabaseCheck(.postgres(server.url(of: database))).run().damages.map {
                $0.description.replacing("the index for searches", with: "it")
                    .replacing("; build it again with backscroll index --rebuild", with: "")
            }
        }
        #expect(try check() == [])
        let (lobby, den) = ("(1::bigint << 36)", "(2::bigint << 36)")
        for damage in [
            "UPDATE words SET tokens = tokens || '''0:extra''' WHERE message = \(lobby) + 1",
            "DELETE FROM words WHERE message = \(lobby) + 2",
            "UPDATE words SET created_at = created_at + 1 WHERE message = \(lobby) + 3",
            "INSERT INTO words SELECT \(lobby) + 4, created_at, tokens FROM words WHERE message = \(lobby) + 5",
            "UPDATE words SET tokens = tokens || '''9:word''' WHERE message = \(lobby) + 6",
            "INSERT INTO words SELECT \(den) + 9, created_at, tokens FROM words WHERE message = \(lobby) + 5",
        ] { try server.query(damage, in: database) }
        let (other, lobbys) = ("it has other words than this message", "room lobby, seq")
        let left = "room den, seq 9: it has words of no message"
        #expect(
            try check() == [
                "\(lobbys) 1: \(other)", "\(lobbys) 2: it has no words of this message", "\(lobbys) 3: \(other)",
                "\(lobbys) 4: it has words of a message without text", "\(lobbys) 6: \(other)", left,
            ])
        try server.query("UPDATE indexed SET seq = 2, rev = 2 WHERE room = 1", in: database)
        #expect(try check() == ["\(lobbys) 1: \(other)", "\(lobbys) 2: it has no words of this message", left])
        try server.query("UPDATE indexed SET seq = 0, rev = 0 WHERE room = 1", in: database)
        #expect(try check() == [left])
        try server.query("UPDATE rooms SET searchable = 0 WHERE name = 'den'", in: database)
        #expect(try check() == [])
        try server.query("DELETE FROM indexed WHERE room = 2", in: database)
        #expect(try check() == ["room den, seq 1: it has words of no message", left])
        try server.query("UPDATE indexed SET seq = 7 WHERE room = 1", in: database)
        #expect(try check().first == "room lobby: it reaches beyond the room")
        // The index of another version is built again.
        try server.query("UPDATE meta SET value = '0' WHERE key = 'search_version'", in: database)
        #expect(try check() == [])
    }

    @Test func `loses removed words at once, and PostgreSQL's files lose them when the tables are written anew`() throws
    {
        let log = try node()
        try log.sendAll([
            .init(text: "elephant"), .init(text: "giraffesecret"), .init(text: "lionsecret", room: "den"),
            .init(text: "zebrasecret"),
        ])
        try awaitIndex()
        // PostgreSQL's statistics have words, too.
        try server.query("ANALYZE", in: database)
        try log.edit(2, "public")
        try log.delete(3)
        _ = try log.change(.delete, in: "den", by: "alice").get()
        try awaitIndex()
        try waitUntil { try number("SELECT count(*) FROM messages") == 3 }
        #expect(try number("SELECT count(*) FROM words WHERE tokens::text LIKE '%secret%'") == 0)
        log.close()
        for statement in ["ANALYZE", "VACUUM FULL", "CHECKPOINT"] { try server.query(statement, in: database) }
        let files = "\(server.directory)/data/base"
        try run("grep", "-rqa", "elephant", files)
        for word in ["zebra", "giraffe", "lion"] {
            #expect(throws: CommandFailed.self, "it is gone from the files") {
                try run("grep", "-rqa", "\(word)secret", files)
            }
        }
    }
}
