import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A ban")
struct BanTests {
    private let clock = TestClock()

    private func makeLog(_ configure: (inout StoreConfiguration) -> Void = { _ in }) throws -> TestLog {
        try TestLog {
            $0.clock = { [clock] in clock.now }
            configure(&$0)
        }
    }

    private func code(_ result: Result<Receipt, Problem>) -> String? {
        if case .failure(let problem) = result { problem.code.string } else { nil }
    }

    private func ban(
        _ user: String, with settings: BanSettings = BanSettings(), from room: String = "lobby", by: String = "alice",
        isAdmin: Bool = false, _ log: TestLog
    ) throws -> Result<Receipt, Problem> {
        try log.change(.setBan(try UserID(user), settings), in: room, by: by, isAdmin: isAdmin)
    }

    private func banFromServer(
        _ user: String, with settings: BanSettings? = BanSettings(), isAdmin: Bool = true, _ log: TestLog
    ) throws -> Result<Receipt, Problem> {
        let change: UserChange = settings.map { .ban($0) } ?? .liftBan
        return try log.outcome(
            Submission(
                ticket: Ticket(loop: 9, number: .random(in: 0 ... .max)), room: nil, sender: try UserID("root"),
                change: .user(try UserID(user), change), isAdmin: isAdmin))
    }

    /// Returns the changes and reads that are refused to a user.
    private func refusals(_ user: String, in room: String = "lobby", _ log: TestLog) throws -> [String] {
        let changes = try log.submitAll([
            log.submissions([.init(room: room, sender: user)])[0],
            log.submission(.init(seq: 1, action: .addReaction(ReactionKey("x")), room: room, user: user)),
            log.submission(.read(seq: 1), in: room, by: user),
            log.submission(.room(.setMember(try UserID(user), nil)), in: room, by: user),
        ]).compactMap(code)
        let reads = try log.problems(of: [
            log.query({ .summary($0) }, of: room, for: user),
            log.query({ .page(PageRequest(anchor: .newest, limit: 1), $0) }, of: room, for: user),
            log.query({ .replay(since: 0, format: .webSocket, bytes: 1, $0) }, of: room, for: user),
        ])
        return changes + reads.compactMap { $0.map { "read " + $0.code.string } }
    }

    private static let noChange = Array(repeating: "banned", count: 4)
    private static let nothing = noChange + Array(repeating: "read banned", count: 3)

    @Test func `from a room refuses every change there, or reading too, until it is lifted`() throws {
        let log = try makeLog()
        try log.sendAll([.init(), .init(room: "other")])
        #expect(try ban("bob", log).get().isNew)
        #expect(try refusals("bob", log) == Self.noChange)
        #expect(try refusals("bob", in: "other", log) == [])
        #expect(try refusals("carol", log) == [])
        #expect(try !ban("bob", with: BanSettings(scope: .all), log).get().isNew)
        #expect(try refusals("bob", log) == Self.nothing)
        #expect(log.listener.ends.events.count == 1)
        let lift = RoomChange.removeBan(try UserID("bob"))
        for _ in 0..<2 { _ = try log.change(lift, by: "alice").get() }
        #expect(try refusals("bob", log) == [])
    }

    @Test(arguments: [false, true])
    func `from sending leaves reports, blocks, muting, and the answer to a repeated send`(isFromServer: Bool) throws {
        let log = try makeLog()
        try log.send(.init())
        let stored = try log.send(.init(text: "hi", sender: "bob", id: "b1"))
        func setBan(_ scope: Ban.Scope) throws {
            let settings = BanSettings(scope: scope)
            _ = try (isFromServer ? banFromServer("bob", with: settings, log) : ban("bob", with: settings, log)).get()
        }
        func answers() throws -> [String?] {
            try log.submitAll([
                log.submission(.room(.report(seq: 1, ReportDraft(reason: .abuse))), by: "bob"),
                log.submission(.room(.setNotify(NotifySettings(level: .none))), by: "bob"),
                log.submissions([.init(text: "hi", sender: "bob", id: "b1")])[0],
                log.submissions([.init(text: "hi", sender: "bob", id: "b2")])[0],
                log.submissions([.init(text: "ho", sender: "bob", id: "b1")])[0],
                log.blockSubmission("bob", of: "alice"),
            ]).map(code)
        }
        try setBan(.send)
        #expect(try answers() == [nil, nil, nil, "banned", "client_message_id_reused", nil])
        #expect(try log.send(.init(text: "hi", sender: "bob", id: "b1")).body == stored.body)
        try setBan(.all)
        #expect(try answers() == Array(repeating: "banned", count: 5) + [isFromServer ? "banned" : nil])
    }

    @Test func `from the server applies in every room, also to admins, who set it`() throws {
        let log = try makeLog()
        try log.sendAll([.init(), .init(room: "other")])
        #expect(try code(banFromServer("bob", isAdmin: false, log)) == "forbidden")
        #expect(try code(banFromServer("root", log)) == "forbidden")
        #expect(try banFromServer("bob", log).get().isNew)
        for room in ["lobby", "other", "new"] {
            #expect(try log.sendAll([.init(room: room, sender: "bob")]).compactMap(code) == ["banned"])
        }
        #expect(try refusals("bob", log) == Self.noChange)
        _ = try banFromServer("bob", with: BanSettings(scope: .all), log).get()
        #expect(try refusals("bob", in: "other", log) == Self.nothing)
        #expect(throws: Problem.self) { try log.inbox(of: "bob") }
        let admin = try log.change(.set(RoomSettings()), by: "bob", isAdmin: true)
        #expect(code(admin) == "banned")
        _ = try banFromServer("bob", with: nil, log).get()
        #expect(try refusals("bob", log) == [])
    }

    @Test(arguments: [false, true])
    func `from reading takes the room out of the user's lists; one from sending does not`(journal: Bool) throws {
        let log = try makeLog { if !journal { $0.journal.messages = 0 } }
        let bob = try UserID("bob")
        for room in ["lobby", "other"] {
            try log.send(.init(room: room))
            _ = try log.change(.setMember(bob, nil), in: room, by: "bob").get()
        }
        func listed(isAdmin: Bool = false) throws -> [[String]] {
            let request = InboxRequest(cursor: nil, limit: 1)
            let inbox: InboxSlice = try log.read(for: "bob", isAdmin: isAdmin) {
                .ownRooms(.inbox(request, $0), within: nil)
            }
            let memberships: Memberships = try log.read(for: "bob", isAdmin: isAdmin) {
                .ownRooms(.memberships(limit: 1, $0), within: nil)
            }
            return [inbox.rooms.map(\.summary.room.string), memberships.rooms.map(\.string)]
                + (inbox.next == nil && !memberships.hasMore ? [] : [["…"]])
        }
        let all = try listed()
        #expect(all.count == 3)
        _ = try ban("bob", from: "other", log).get()
        #expect(try listed() == all)
        _ = try ban("bob", with: BanSettings(scope: .all), from: "other", log).get()
        #expect(try listed() == [["lobby"], ["lobby"]])
        #expect(try listed(isAdmin: true) == all)
        _ = try log.change(.removeBan(bob), in: "other", by: "alice").get()
        #expect(try listed() == all)
    }

    @Test func `of an owner is for admins, of oneself for nobody; one from a room does not affect admins`() throws {
        let log = try makeLog()
        try log.send(.init())
        _ = try log.change(.setMember(try UserID("bob"), .owner), by: "alice").get()
        #expect(try code(ban("bob", log)) == "forbidden")
        #expect(try code(ban("alice", log)) == "forbidden")
        #expect(try code(ban("dave", by: "carol", log)) == "forbidden")
        #expect(try code(ban("dave", from: "nowhere", log)) == "room_not_found")
        #expect(try ban("bob", by: "root", isAdmin: true, log).get().isNew)
        #expect(try refusals("bob", log) == Self.noChange)
        #expect(try ban("root", with: BanSettings(scope: .all), log).get().isNew)
        #expect(try code(log.change(.set(RoomSettings()), by: "root", isAdmin: true)) == nil)
    }

    @Test func `ends by itself at its time, and is then not listed`() throws {
        let log = try makeLog()
        try log.send(.init())
        let until = Timestamp(milliseconds: clock.now.milliseconds + 1000)
        #expect(try code(ban("bob", with: BanSettings(until: clock.now), log)) == "ban_over")
        _ = try ban("bob", with: BanSettings(scope: .all, until: until), log).get()
        _ = try ban("carol", log).get()
        clock.step(999)
        #expect(try refusals("bob", log) == Self.nothing)
        #expect(try list(log) == ["bob", "carol"])
        clock.step(1)
        #expect(try refusals("bob", log) == [])
        #expect(try list(log) == ["carol"])
        #expect(try ban("bob", log).get().isNew)
        #expect(try log.count("bans") == 2)
    }

    private func list(after: String? = nil, limit: Int = 10, _ log: TestLog) throws -> [String] {
        let after = try after.map { try UserID($0) }
        let found = try log.ask({ .bans(.all(after: after, limit: limit, $0)) }, for: "alice")
        return found.bans.map(\.user.string) + (found.hasMore ? ["…"] : [])
    }

    @Test func `is listed for owners in pages, and survives a restart`() throws {
        var log = try makeLog()
        try log.send(.init())
        for user in ["d", "b", "ä"] { _ = try ban(user, with: BanSettings(scope: .all, reason: "spam"), log).get() }
        for _ in 0..<2 {
            #expect(try list(limit: 2, log) == ["b", "d", "…"])
            #expect(try list(after: "d", limit: 2, log) == ["ä"])
            #expect(throws: Problem.notAnOwner) { try log.ask({ .bans(.all(after: nil, limit: 1, $0)) }, for: "carol") }
            #expect(try refusals("b", log) == Self.nothing)
            log = try log.reopened { $0.clock = { [clock] in clock.now } }
        }
        try expectSound(log.path)
    }

    @Test func `applies to later submissions in the same commit, not to earlier ones`() throws {
        let log = try makeLog()
        try log.send(.init())
        let results = try log.submitAll(
            log.submissions([.init(sender: "bob")])
                + [log.submission(.room(.setBan(try UserID("bob"), BanSettings())), by: "alice")]
                + log.submissions([.init(sender: "bob")])
                + [log.submission(.room(.removeBan(try UserID("bob"))), by: "alice")]
                + log.submissions([.init(sender: "bob")]))
        #expect(results.map { code($0) } == [nil, nil, "banned", nil, nil])
        #expect(log.log.bans[BanTable.Key(room: try RoomID("lobby"), user: try UserID("bob"))] == nil)
    }

    @Test func `above the maximum for a room is refused, unless it replaces another`() throws {
        let log = try makeLog()
        try log.send(.init())
        log.close()
        try log.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Limits.roomBans))
            INSERT INTO bans SELECT 1, 'user' || i, 0, NULL, NULL, 'alice', 0 FROM n
            """)
        let full = try log.reopened()
        #expect(try code(ban("bob", full)) == "too_many_bans")
        #expect(try code(ban("user7", full)) == nil)
        // One that has ended does not count.
        full.close()
        try log.execute("UPDATE bans SET until = 1 WHERE \"user\" = 'user8'")
        #expect(try code(ban("bob", full.reopened())) == nil)
    }
}
