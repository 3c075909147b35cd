import Chat
import GRDB
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A copy of a database", .partOfPostgreSQL)
struct DatabaseCopyTests {
    /// Fills a log with some of everything that a database holds.
    private func fill(_ log: TestLog) throws {
        try log.sendAll((1...1203).map { .init(text: "message \($0)", id: "a\($0)") })
        try log.send(.init(text: "elsewhere", room: "gone", sender: "bob"))
        try log.send(.init(text: "정기회의는", room: "den"))
        try log.send(.init(text: "@bob", sender: "carol", mentions: ["bob"], mentionsRoom: true))
        try log.send(.init(text: "by the app", id: "changed", original: "by alice"))
        try log.edit(3, "changed")
        try log.react("👍", to: 4, as: "bob")
        try log.delete(5)
        try log.join("lobby", as: "bob")
        try log.read(to: 7, as: "bob")
        _ = try log.change(.set(RoomSettings(slowSeconds: 1)), by: "alice").get()
        try log.send(.init(text: "slow", sender: "bob"))
        var settings = RoomSettings.every
        (settings.visibility, settings.keepDays) = (nil, 30_000)
        _ = try log.change(.set(settings), by: "alice").get()
        _ = try log.change(TestLog.Change(seq: 9, action: .pin))
        let mallory = try UserID("mallory")
        var profile = try log.submission(.user(UserID("bob"), .setProfile(ProfileSettings(name: "Bob"))), by: "bob")
        profile.room = nil
        _ = try log.outcome(profile).get()
        _ = try log.change(.setBan(mallory, BanSettings(scope: .all)), by: "alice").get()
        _ = try log.change(.delete, in: "gone", by: "bob").get()
        try log.makeDirect("alice", with: "bob")
        try log.block("alice", of: "mallory")
        let notify = NotifySettings(
            level: .none, until: Timestamp(milliseconds: 4_000_000_000_000), roomMentions: false)
        _ = try log.change(.setNotify(notify), by: "bob").get()
        for seq in [1, 2] as [Int64] {
            _ = try log.change(.report(seq: seq, ReportDraft(reason: .spam, note: "why?")), by: "bob").get()
        }
        _ = try log.change(.closeReport(seq: 2, .deleted), by: "root", isAdmin: true).get()
        var webhook = WebhookSettings()
        webhook.url = "https://example.com/"
        webhook.events = [.message, .member]
        let store = try log.log.webhookStore()
        _ = try store.set(WebhookID("a"), webhook, secret: "whsec_x", at: Timestamp(milliseconds: 1))
        // The first of two events is received.
        for user in ["dora", "erin"] { try log.join("lobby", as: user) }
        let (number, row) = (
            try store.webhooks()[0].number, try store.behind(store.webhooks()[0], after: 0, limit: 1)[0]
        )
        var advance = CursorAdvance(
            webhook: number, room: row.number, id: row.id, from: row.rev, to: row.rev, since: Timestamp(milliseconds: 1)
        )
        (advance.isOfEvents, advance.event) = (true, row.event - 1)
        _ = try store.advance([advance])
        try log.send(.init(room: log.makeDirect("bob", with: "carol"), sender: "bob"))
    }

    /// What clients see of it.
    private func contents(_ log: TestLog) throws -> [String] {
        let page = try log.page(.after(.seq(0)), limit: 2000)
        let changes = try log.changes(since: 0, limit: 2000)
        let summary = try log.summary(for: "bob")
        let lists = try ["alice", "bob", "carol"].map { try log.inbox(of: $0).rooms.map(\.summary) }
        let bob = try UserID("bob")
        let profiles: Profiles = try log.read(for: "bob") { .profiles([bob], $0) }
        let store = try log.log.webhookStore()
        let webhooks = try store.webhooks()
        let behind = try store.behind(webhooks[0], after: 0, limit: 9).map { row in
            let event = try store.event(of: webhooks[0].number, in: row.number, after: 0)
            return "\(row.id) \(row.rev) \(String(describing: event))"
        }
        let bans = try log.ask({ .bans(.all(after: nil, limit: 9, $0)) }, for: "alice")
        let members = try log.ask({ .members(after: nil, limit: 9, $0) }, for: "alice")
        return [
            "\(bans)", "\(members)",
            "\(lists)", "\(try log.blocked(by: "alice"))", "\(webhooks)",
            "\(behind)",
            "\(try [true, false].map { isOpen in try log.reports(isOpen: isOpen) })",
            String(decoding: page.messages, as: UTF8.self), String(decoding: changes.messages, as: UTF8.self),
            "\(try log.state())", "\(summary)", "\(try log.reads())", "\(profiles)", log.log.epoch,
            String(decoding: try log.ask { .pins(before: nil, limit: 9, $0) }.messages, as: UTF8.self),
        ]
    }

    private func copy(_ source: String, _ target: String, transactions: Int = .max) throws -> DatabaseCopy.Progress {
        var count = 0
        return try DatabaseCopy(of: DatabaseLocation(source), to: DatabaseLocation(target)).run(
            isCancelled: {
                count += 1
                return count >= transactions
            })
    }

    @Test func `to PostgreSQL and back has everything that clients see, and continues where it was interrupted`() throws
    {
        let postgres = try TestPostgres.shared()
        let url = postgres.url(of: try postgres.createDatabase())
        let directory = try TemporaryDirectory()
        let (first, second) = (directory.path(of: "first.db"), directory.path(of: "second.db"))
        let log = try TestLog(at: first, of: directory)
        try fill(log)
        let before = try contents(log)
        func awaitIndex(_ log: TestLog) throws { try waitUntil { (try? log.found("회의")) == ["den:1"] } }
        try awaitIndex(log)
        log.close()

        let part = try copy(first, url, transactions: 3)
        #expect(part.isCancelled && !part.isContinued && part.messages > 0 && part.messages < part.allMessages)
        let refusal = #expect(throws: StoreError.self) { try TestLog(postgres: url) }
        #expect(refusal?.description.contains("unfinished copy") == true)
        let rest = try copy(first, url)
        #expect(!rest.isCancelled && rest.isContinued && rest.messages == rest.allMessages)

        // The index is built again. Searches wait for it.
        var there = try TestLog(postgres: url) { ($0.usesDatabaseClock, $0.indexes) = (false, false) }
        #expect(throws: Problem.indexBuilding(percent: 0)) { try there.found("회의") }
        there.close()
        there = try TestLog(postgres: url) { $0.usesDatabaseClock = false }
        try awaitIndex(there)
        #expect(try contents(there) == before)
        // A repeated send is recognized, and a new one gets the next place.
        #expect(try there.send(.init(text: "message 9", id: "a9")).isNew == false)
        #expect(try there.send(.init(text: "by alice", id: "changed")).isNew == false)
        #expect(try there.send(.init(text: "next", id: "next")).seq == 1207)
        #expect(try there.send(.init(room: "new")).seq == 1)
        let after = try contents(there)
        there.close()

        _ = try copy(url, second)
        var back = try TestLog(at: second, of: directory) { $0.indexes = false }
        #expect(throws: Problem.indexBuilding(percent: 0)) { try back.found("회의") }
        back.close()
        back = try TestLog(at: second, of: directory)
        try awaitIndex(back)
        #expect(try contents(back) == after)
        #expect(try back.texts("SELECT \"user\" FROM slow_sends") == ["bob"])
        #expect(try back.send(.init(text: "next", id: "next")).isNew == false)
        back.close()
        try expectSound(second)
    }

    /// Receivers compare the numbers with those that they have got.
    @Test func `numbers the events of webhooks after those of the source, although all of them are received`() throws {
        let postgres = try TestPostgres.shared()
        let url = postgres.url(of: try postgres.createDatabase())
        let directory = try TemporaryDirectory()
        let (first, second) = (directory.path(of: "first.db"), directory.path(of: "second.db"))
        /// Lets users join, and a webhook receive all events.
        ///
        /// - Returns: The number of the last one.
        func receive(joining users: String..., log: TestLog) throws -> Int64 {
            for user in users { try log.join("lobby", as: user) }
            let store = try log.log.webhookStore()
            defer { store.close() }
            let webhook = try store.webhooks()[0]
            let row = try #require(try store.behind(webhook, after: 0, limit: 1).first)
            var advance = CursorAdvance(
                webhook: webhook.number, room: row.number, id: row.id, from: row.rev, to: row.rev, since: row.since)
            (advance.isOfMessages, advance.isOfEvents, advance.event) = (false, true, row.event)
            #expect(try store.advance([advance]) == [.caughtUp])
            return row.event
        }
        let log = try TestLog(at: first, of: directory)
        try log.send(.init())
        var webhook = WebhookSettings()
        (webhook.url, webhook.events) = ("https://example.com/", [.member])
        let store = try log.log.webhookStore()
        _ = try store.set(WebhookID("a"), webhook, secret: "whsec_x", at: Timestamp(milliseconds: 1))
        store.close()
        let last = try receive(joining: "bob", "carol", log: log)
        log.close()
        _ = try copy(first, url)
        let there = try TestLog(postgres: url) { $0.usesDatabaseClock = false }
        let next = try receive(joining: "dora", log: there)
        #expect(next > last)
        there.close()
        _ = try copy(url, second)
        let back = try TestLog(at: second, of: directory)
        #expect(try receive(joining: "erin", log: back) > next)
        back.close()
    }

    @Test func `knows the tables whose rows go with a room, and with a user`() {
        let ofMessages: Set = ["reactions", "mentions", "pins", "first_contents"]
        let ofUsers: Set = ["read_marks", "slow_sends", "notify"]
        #expect(Set(StoredTable.ofUsersInRooms.map(\.name)) == ofUsers)
        #expect(
            Set(StoredTable.ofRooms.map(\.name)) == ofMessages.union(ofUsers).union(["members", "expired", "bans"]))
    }

    @Test func `has every table and column but those that are made anew`() throws {
        let copied = Dictionary(
            uniqueKeysWithValues: StoredTable.all.map { ($0.name, $0.columns.map(\.name).sorted()) })
        func check(_ rows: [[String?]], tables: Set<String>, columns: [String: [String]]) {
            var found: [String: [String]] = [:]
            for row in rows { found[row[0]!, default: []].append(row[1]!) }
            #expect(Set(found.keys).subtracting(copied.keys) == tables)
            for (table, names) in copied {
                #expect(
                    found[table, default: []].sorted() == (names + columns[table, default: []]).sorted(), "\(table)")
            }
        }
        let postgres = try TestPostgres.shared()
        let database = try postgres.createDatabase()
        let there = try TestLog(postgres: postgres.url(of: database))
        there.close()
        check(
            try postgres.query(
                "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'",
                in: database),
            tables: ["meta", "words", "word_blocks", "indexed", "server", "events", "presence", "retention"],
            columns: ["rooms": ["head", "rev", "access"]])
        let directory = try TemporaryDirectory()
        let log = try TestLog(at: directory.path(of: "log.db"), of: directory)
        let rows = try log.sql { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT tables.name, columns.name AS "column" FROM sqlite_schema AS tables
                    JOIN pragma_table_info(tables.name) AS columns
                    WHERE tables.type = 'table' AND tables.name NOT GLOB 'words*' AND tables.name NOT GLOB 'sqlite*'
                    """
            ).map { row in [row[0] as String?, row[1] as String?] }
        }
        check(rows, tables: ["meta", "journal", "indexed", "grdb_migrations"], columns: [:])
        log.close()
    }

    @Test func `needs an empty target and an existing source`() throws {
        let postgres = try TestPostgres.shared()
        let url = postgres.url(of: try postgres.createDatabase())
        let directory = try TemporaryDirectory()
        let log = try TestLog(at: directory.path(of: "log.db"), of: directory)
        try log.send(.init())
        let inUse = #expect(throws: StoreError.self) { try copy(directory.path(of: "log.db"), url) }
        #expect(inUse?.description.contains("in use") == true)
        log.close()
        _ = try copy(directory.path(of: "log.db"), url)
        let full = #expect(throws: StoreError.self) { try copy(directory.path(of: "log.db"), url) }
        #expect(full?.description.contains("not empty") == true)
        #expect(throws: StoreError.self) { try copy(directory.path(of: "missing.db"), url) }
        let running = try TestLog(postgres: url)
        // Now one of its connections is there.
        #expect(try running.state().head == 1)
        let served = #expect(throws: StoreError.self) { try copy(url, directory.path(of: "other.db")) }
        #expect(served?.description.contains("servers use it") == true)
        running.close()
    }
}
