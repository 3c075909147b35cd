import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The store of webhooks", .timeLimit(.minutes(30)))
struct WebhookStoreTests {
    private let log: TestLog
    private let store: any WebhookStore
    private let time = Timestamp(milliseconds: 1_800_000_000_000)

    init() throws {
        // Several writers would commit an erasure and changes of rooms in any order.
        log = try TestLog { $0.writers = 1 }
        store = try log.log.webhookStore()
    }

    @discardableResult
    private func set(_ id: String, rooms: String = "*", _ change: (inout WebhookSettings) -> Void = { _ in }) throws
        -> Webhook
    {
        var settings = WebhookSettings()
        settings.url = "https://example.com/hook"
        settings.rooms = [try #require(RoomPattern(rooms))]
        change(&settings)
        _ = try store.set(WebhookID(id), settings, secret: "whsec_x", at: time)
        return try webhook(id)
    }

    private func webhook(_ id: String) throws -> Webhook {
        try #require(try store.webhooks().first { $0.id.string == id })
    }

    private func behind(_ webhook: Webhook) throws -> [String: Int64] {
        Dictionary(
            uniqueKeysWithValues: try store.behind(webhook, after: 0, limit: 1000).map { ($0.id.string, $0.rev) })
    }

    private func messages(_ room: String, since: Int64, until: Int64? = nil, _ bounds: DeliveryBounds = .init()) throws
        -> DeliveredMessages
    {
        let content = try store.delivery(of: RoomID(room), since: since, until: until, bounds: bounds)
        guard case .messages(let messages) = content else { throw Problem.roomNotFound }
        return messages
    }

    private func advance(_ webhook: Webhook, _ room: String, from: Int64, to rev: Int64, isOver: Bool = false) throws
        -> CursorAdvance.Result
    {
        let number = try #require(
            try store.behind(webhook, after: 0, limit: 1000).first { $0.id.string == room }?.number)
        return try store.advance([
            CursorAdvance(
                webhook: webhook.number, room: number, id: RoomID(room), from: from, to: rev, since: time,
                isOver: isOver)
        ])[0]
    }

    private func refusal(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return (error as? Problem)?.code.string ?? "\(error)"
        }
    }

    @Test func `creates, changes and deletes webhooks`() throws {
        #expect(try store.webhooks() == [])
        let first = try set("a")
        #expect(first.version == 1)
        #expect(first.secrets == [Webhook.Secret("whsec_x")])
        #expect(first.epoch == log.log.epoch)
        #expect(first.createdAt == time)
        let health = Webhook.Health()
        var failing = health
        failing.pause = .failing
        failing.failingSince = time
        failing.failure = Webhook.Failure(at: time, status: 503, detail: "unavailable")
        failing.nextAttempt = time
        try store.save(failing, epoch: "another", of: first.number)
        #expect(try webhook("a").health == failing)
        #expect(try webhook("a").epoch == "another")
        // Absent fields keep their values, and `enabled` ends a pause.
        var settings = WebhookSettings()
        settings.isEnabled = true
        #expect(try !store.set(WebhookID("a"), settings, secret: "whsec_y", at: time))
        let second = try webhook("a")
        #expect(second.version == 2)
        #expect(second.url == first.url)
        #expect(second.secrets == first.secrets)
        #expect(second.health.pause == nil)
        #expect(second.health.failure == failing.failure)
        let secrets = [Webhook.Secret("whsec_new"), Webhook.Secret("whsec_x", until: time)]
        try store.setSecrets(secrets, of: WebhookID("a"))
        #expect(try webhook("a").secrets == secrets)
        try store.remove(WebhookID("a"))
        #expect(try store.webhooks() == [])
        #expect(refusal { try store.remove(WebhookID("a")) } == "webhook_not_found")
    }

    @Test func `has at most 16 webhooks, and a new one needs a URL`() throws {
        for number in 1...Limits.webhooks { try set("hook-\(number)") }
        #expect(refusal { try set("hook-17") } == "too_many_webhooks")
        #expect(refusal { try set("hook-1") } == nil)
        try store.remove(WebhookID("hook-3"))
        #expect(refusal { try set("hook-17") { $0.url = nil } } == "invalid_field")
        #expect(refusal { try set("hook-17") } == nil)
    }

    @Test func `lists the rooms that change, by the patterns, with the revision before`() throws {
        try log.fill(3, "a_b")
        try log.fill(3, "quiet")
        let webhook = try set("a", rooms: "a_*")
        #expect(try behind(webhook) == [:])
        try log.send(.init(room: "a_b"))
        try log.edit(1, "changed", of: "a_b")
        try log.send(.init(room: "axb"))
        try log.send(.init(room: "a_new"))
        #expect(try behind(webhook) == ["a_b": 3, "a_new": 0])
        let changes = try messages("a_b", since: 3)
        #expect(changes.rev == 5)
        #expect(changes.count == 2)
        #expect(!changes.hasMore)
        #expect(changes.last == nil)
        #expect(changes.messages == (try log.changes(since: 3, of: "a_b")).messages)
        // Other patterns, from now on.
        let all = try set("a", rooms: "*")
        try log.send(.init(room: "axb"))
        #expect(try behind(all) == ["a_b": 3, "a_new": 0, "axb": 1])
        #expect(try store.backlog(of: all.number).rooms == 3)
        // Without webhooks nothing is listed.
        try store.remove(WebhookID("a"))
        try log.send(.init(room: "a_b"))
        #expect(try behind(set("b")) == [:])
    }

    @Test func `moves a cursor, and forgets the room once the receiver has everything`() throws {
        let webhook = try set("a")
        try log.fill(5)
        #expect(try advance(webhook, "lobby", from: 0, to: 2) == .stored)
        #expect(try behind(webhook) == ["lobby": 2])
        #expect(try advance(webhook, "lobby", from: 0, to: 3) == .moved)
        #expect(try advance(webhook, "lobby", from: 2, to: 5) == .caughtUp)
        #expect(try behind(webhook) == [:])
        try log.send(.init())
        #expect(try behind(webhook) == ["lobby": 5])
        // It has changed meanwhile.
        try log.send(.init())
        #expect(try advance(webhook, "lobby", from: 5, to: 6) == .stored)
        #expect(try behind(webhook) == ["lobby": 6])
        #expect(try advance(webhook, "lobby", from: 6, to: 6, isOver: true) == .caughtUp)
        #expect(try behind(webhook) == [:])
    }

    @Test func `bounds a delivery, and repeats it up to the same revision`() throws {
        try log.fill(10)
        var bounds = DeliveryBounds()
        bounds.messages = 4
        let first = try messages("lobby", since: 0, bounds)
        #expect((first.rev, first.count, first.hasMore) == (4, 4, true))
        #expect(first.last != nil)
        // The second message has changed since.
        try log.edit(2, "changed")
        let again = try messages("lobby", since: 0, until: 4)
        #expect((again.rev, again.count, again.hasMore) == (4, 3, true))
        let rest = try messages("lobby", since: 4)
        #expect((rest.rev, rest.count, rest.hasMore) == (11, 7, false))
        // All messages of it have changed.
        #expect(try messages("lobby", since: 1, until: 2).rev == 2)
        bounds.bytes = 1
        #expect(try messages("lobby", since: 0, bounds).count == 1)
        let nothing = try messages("lobby", since: 11)
        #expect((nothing.rev, nothing.count, nothing.hasMore) == (11, 0, false))
    }

    @Test func `is done with a room whose last changes have expired`() throws {
        try log.fill(3)
        try log.setRoom(rev: 5)
        let content = try messages("lobby", since: 0)
        #expect(try content.rev == log.state().rev)
        #expect(content.count == 3 && !content.hasMore)
        let nothing = try messages("lobby", since: 3)
        #expect(try nothing.rev == log.state().rev)
        #expect(nothing.count == 0 && !nothing.hasMore)
    }

    @Test(arguments: [false, true])
    func `tells that a room was deleted`(isQuiet: Bool) throws {
        try log.fill(2)
        let webhook = try set("a")
        if !isQuiet { try log.send(.init()) }
        _ = try log.change(.delete, by: "alice").get()
        let row = try #require(try store.behind(webhook, after: 0, limit: 10).first)
        #expect(row.isDeleted)
        #expect(try store.delivery(of: row.id, since: row.rev, until: nil, bounds: .init()) == .deleted)
        #expect(try advance(webhook, "lobby", from: row.rev, to: row.rev, isOver: true) == .caughtUp)
        #expect(try behind(webhook) == [:])
    }

    @Test func `begins with the first message of each room, however many there are`() throws {
        let rooms = (0..<1203).map { "room-\($0)" }
        try log.sendAll(rooms.map { .init(room: $0) })
        var webhook = try set("a", rooms: "room-*") { $0.start = .start }
        // A change while the rooms are searched is not delivered before the older ones.
        try log.send(.init(room: rooms[1200]))
        #expect(try behind(webhook) == [:])
        var parts = 0
        while webhook.scan != nil {
            try store.scan(webhook, at: time)
            webhook = try self.webhook("a")
            parts += 1
        }
        #expect(parts == 3)
        #expect(try store.behind(webhook, after: 0, limit: 5000).count == 1203)
        #expect(try behind(webhook).values.allSatisfy { $0 == 0 })
    }

    @Test func `moves cursors back to a revision or a time, and forward beyond a refused delivery`() throws {
        let clock = TestClock()
        let log = try TestLog { $0.clock = { clock.now } }
        let store = try log.log.webhookStore()
        var settings = WebhookSettings()
        settings.url = "https://example.com/"
        _ = try store.set(WebhookID("a"), settings, secret: "whsec_x", at: time)
        func webhook() throws -> Webhook { try store.webhooks()[0] }
        func behind() throws -> [String: Int64] {
            Dictionary(
                uniqueKeysWithValues: try store.behind(webhook(), after: 0, limit: 9).map { ($0.id.string, $0.rev) })
        }
        func catchUp() throws {
            for row in try store.behind(webhook(), after: 0, limit: 9) {
                _ = try store.advance([
                    CursorAdvance(
                        webhook: webhook().number, room: row.number, id: row.id, from: row.rev, to: row.rev,
                        since: time, isOver: true)
                ])
            }
        }
        try log.fill(3)
        try log.fill(2, "other")
        clock.step(10_000)
        let later = clock.now
        try log.fill(2)
        try catchUp()
        let (id, lobby) = (try WebhookID("a"), try RoomID("lobby"))
        try store.moveCursor(of: id, in: lobby, to: 2, skips: false, at: time)
        #expect(try behind() == ["lobby": 2])
        try store.moveCursor(of: id, in: lobby, to: 4, skips: false, at: time)
        #expect(try behind() == ["lobby": 2])
        let row = try store.behind(webhook(), after: 0, limit: 9)[0]
        try store.stop(row.number, of: webhook().number, at: .rev(3))
        #expect(try behind() == [:])
        #expect(try store.backlog(of: webhook().number).stopped == [.init(room: lobby, at: .rev(3))])
        try store.moveCursor(of: id, in: lobby, to: 3, skips: true, at: time)
        #expect(try behind() == ["lobby": 3])
        #expect(refusal { try store.moveCursor(of: id, in: lobby, to: 6, skips: true, at: time) } == "invalid_field")
        let unknown = try RoomID("unknown")
        #expect(
            refusal { try store.moveCursor(of: id, in: unknown, to: 1, skips: true, at: time) } == "room_not_found")
        try catchUp()
        try store.replay(id, in: lobby, since: later, at: time)
        #expect(try behind() == ["lobby": 3])
        try catchUp()
        try store.replay(id, in: nil, since: later, at: time)
        while try webhook().scan != nil { try store.scan(webhook(), at: time) }
        #expect(try behind() == ["lobby": 3])
        try store.replay(id, in: nil, since: Timestamp(milliseconds: 1), at: time)
        while try webhook().scan != nil { try store.scan(webhook(), at: time) }
        #expect(try behind() == ["lobby": 0, "other": 0])
    }

    @Test func `lists stopped messages and pushes of a room, and skips only those that are stopped there`() throws {
        let webhook = try set("a") { $0.events = [.message, .push] }
        var pushes = webhook
        (pushes.number, pushes.events) = (webhook.pushNumber, [.message])
        try log.fill(10)
        let number = try #require(try store.behind(webhook, after: 0, limit: 1).first).number
        let lobby = try RoomID("lobby")
        func stopped() throws -> [WebhookSkip.Place] { try store.backlog(of: webhook.number).stopped.map(\.place) }
        func skip(_ rev: Int64) throws {
            try store.moveCursor(of: webhook.id, in: lobby, to: rev, skips: true, at: time)
        }
        // Nothing is stopped there.
        try skip(2)
        #expect(try behind(webhook) == ["lobby": 0] && behind(pushes) == ["lobby": 0])
        try store.stop(number, of: webhook.number, at: .rev(3))
        try store.stop(number, of: webhook.pushNumber, at: .rev(9))
        #expect(try stopped() == [.rev(3), .rev(9)])
        try skip(9)
        #expect(try stopped() == [.rev(3)])
        #expect(try behind(webhook) == [:] && behind(pushes) == ["lobby": 9])
        // A later revision skips more, and an earlier one nothing.
        try skip(2)
        #expect(try stopped() == [.rev(3)])
        for _ in 0..<2 {
            try skip(5)
            #expect(try behind(webhook) == ["lobby": 5] && behind(pushes) == ["lobby": 9])
        }
        try skip(9)
        #expect(try behind(webhook) == ["lobby": 5] && behind(pushes) == ["lobby": 9])
        for cursor in [webhook.number, webhook.pushNumber] { try store.stop(number, of: cursor, at: .rev(10)) }
        #expect(try stopped() == [.rev(10)])
        try skip(10)
        #expect(try behind(webhook) == ["lobby": 10] && behind(pushes) == ["lobby": 10])
        // A stopped event is skipped by its number.
        try store.stop(number, of: webhook.number, at: .event(7))
        try skip(10)
        #expect(try stopped() == [.event(7)])
        // A skip of events leaves stopped messages.
        try store.skipEvents(of: webhook.id, in: lobby, upTo: 7)
        #expect(try stopped() == [])
        try store.stop(number, of: webhook.number, at: .rev(10))
        try store.skipEvents(of: webhook.id, in: lobby, upTo: 7)
        #expect(try stopped() == [.rev(10)])
    }

    @Test func `skips what is stopped in a deleted room, and nothing else`() throws {
        let webhook = try set("a")
        try log.fill(3)
        let number = try #require(try store.behind(webhook, after: 0, limit: 1).first).number
        let lobby = try RoomID("lobby")
        try store.stop(number, of: webhook.number, at: .rev(2))
        _ = try log.change(.delete, by: "alice").get()
        func move(to rev: Int64, skips: Bool) -> String? {
            refusal { try store.moveCursor(of: webhook.id, in: lobby, to: rev, skips: skips, at: time) }
        }
        #expect(move(to: 1, skips: true) == "room_deleted")
        #expect(move(to: 0, skips: false) == "room_deleted")
        #expect(refusal { try store.replay(webhook.id, in: lobby, since: time, at: time) } == "room_deleted")
        #expect(try behind(webhook) == [:])
        #expect(move(to: 2, skips: true) == nil)
        #expect(try behind(webhook) == ["lobby": 2])
        #expect(move(to: 2, skips: true) == "room_deleted")
        // The deletion is refused, too.
        try store.stop(number, of: webhook.number, at: .rev(2))
        #expect(move(to: 2, skips: true) == nil)
        #expect(try log.count("webhook_rooms") == 0)
        #expect(refusal { try store.skipEvents(of: webhook.id, in: lobby, upTo: 1) } == "room_deleted")
    }

    /// Returns the events of a room that a receiver lacks.
    private func events(_ webhook: Webhook, _ room: RoomID, after: Int64 = 0) throws -> [PendingEvent] {
        guard let row = try store.behind(webhook, after: 0, limit: 1000).first(where: { $0.id == room }) else {
            return []
        }
        var events: [PendingEvent] = []
        while let next = try store.event(of: webhook.number, in: row.number, after: events.last?.number ?? after) {
            events.append(next)
        }
        #expect(events.last.map(\.number) ?? 0 >= row.event)
        return events
    }

    private func texts(_ events: [PendingEvent]) -> [String] {
        events.map { pending in
            let event = pending.event
            return "\(pending.rev) \(event.type) \(event.user?.string ?? "-") \(event.by?.string ?? "-")"
                + String(decoding: event.details, as: UTF8.self)
        }
    }

    @Test func `stores the events of rooms, members and reports in their order`() throws {
        let messages = try set("messages")
        let webhook = try set("events", rooms: "lob*") { $0.events = [.room, .member, .report] }
        let (bob, mallory) = (try UserID("bob"), try UserID("mallory"))
        try log.send(.init())
        _ = try log.change(.setMember(bob, nil), by: "alice").get()
        _ = try log.change(.setMember(bob, .owner), by: "alice").get()
        _ = try log.change(.setMember(bob, .owner), by: "alice").get()
        try log.send(.init())
        _ = try log.change(.removeMember(bob), by: "alice").get()
        _ = try log.change(.setMember(bob, nil), by: "bob").get()
        _ = try log.change(.removeMember(bob), by: "bob").get()
        _ = try log.change(.setBan(mallory, BanSettings(scope: .all, reason: "spam")), by: "alice").get()
        _ = try log.change(.removeBan(mallory), by: "alice").get()
        _ = try log.change(.set(RoomSettings(visibility: .private, title: "The room")), by: "alice").get()
        _ = try log.change(.set(RoomSettings(visibility: .open)), by: "alice").get()
        _ = try log.change(.report(seq: 2, ReportDraft(reason: .spam, note: "why?")), by: "bob").get()
        _ = try log.change(.closeReport(seq: 2, .none), by: "root", isAdmin: true).get()
        // Not covered, refused, and no change.
        _ = try log.change(.set(RoomSettings(title: "x")), in: "other", by: "alice").get()
        _ = try? log.change(.setMember(mallory, nil), by: "bob").get()
        _ = try log.change(.closeReport(seq: 2, .none), by: "root", isAdmin: true).get()
        let lobby = try RoomID("lobby")
        let stored = try events(webhook, lobby)
        #expect(
            texts(stored) == [
                "0 room.created - alice", #"0 member.added alice alice,"role":"owner""#,
                #"1 member.added bob alice,"role":"member""#, #"1 member.changed bob alice,"role":"owner""#,
                "2 member.removed bob alice", #"2 member.added bob bob,"role":"member""#, "2 member.left bob bob",
                #"2 member.banned mallory alice,"scope":"all","reason":"spam""#, "2 member.unbanned mallory alice",
                #"2 room.changed - alice,"settings":{"visibility":"private","title":"The room"}"#,
                #"2 room.changed - alice,"settings":{"visibility":"open"}"#,
                #"2 report.made alice bob,"seq":2,"reason":"spam","note":"why?""#,
                #"2 report.closed - root,"seq":2,"action":"none""#,
            ])
        // A webhook of messages costs no rows of events, and one of events is not behind because of messages.
        #expect(try log.count("webhook_events") == stored.count)
        #expect(try behind(messages) == ["lobby": 0])
        #expect(try behind(webhook) == ["lobby": 1])
        // The room stays listed until all of its events are received, whatever its revision.
        let row = try store.behind(webhook, after: 0, limit: 1)[0]
        func advance(_ number: Int64) throws -> CursorAdvance.Result {
            var advance = CursorAdvance(
                webhook: webhook.number, room: row.number, id: lobby, from: row.rev, to: row.rev, since: time)
            (advance.isOfMessages, advance.isOfEvents, advance.event) = (false, true, number)
            return try store.advance([advance])[0]
        }
        #expect(try advance(stored[4].number) == .stored)
        #expect(try texts(events(webhook, lobby)) == texts(Array(stored[5...])))
        #expect(try advance(stored.last!.number) == .caughtUp)
        #expect(try behind(webhook) == [:])
        try log.send(.init())
        #expect(try behind(webhook) == [:])
        // Numbers are not used again.
        _ = try log.change(.setMember(bob, nil), by: "bob").get()
        #expect(try events(webhook, lobby)[0].number > stored.last!.number)
        // Events of a kind that an admin takes away are dropped, and all with the webhook.
        try set("events", rooms: "lob*") { $0.events = [.room] }
        #expect(try log.count("webhook_events") == 0)
        _ = try log.change(.set(RoomSettings(title: "x")), by: "alice").get()
        #expect(try log.count("webhook_events") == 1)
        try store.remove(WebhookID("events"))
        #expect(try log.count("webhook_events") == 0)
        #expect(try behind(messages) == ["lobby": 0])
    }

    @Test func `stores events of the whole server for webhooks of all rooms`() throws {
        let some = try set("some", rooms: "lob*") { $0.events = [.member] }
        let all = try set("all") { $0.events = [.member] }
        // The second time, there is nothing to lift.
        for change in [UserChange.ban(BanSettings(scope: .send)), .liftBan, .liftBan] {
            var submission = try log.submission(.user(UserID("mallory"), change), by: "root", isAdmin: true)
            submission.room = nil
            _ = try log.outcome(submission).get()
        }
        #expect(try behind(some) == [:])
        let stored = try events(all, .server)
        #expect(
            texts(stored) == [#"0 member.banned mallory root,"scope":"send""#, "0 member.unbanned mallory root"])
        let row = try store.behind(all, after: 0, limit: 1)[0]
        try store.stop(row.number, of: all.number, at: .event(stored[0].number))
        #expect(try behind(all) == [:])
        #expect(try store.backlog(of: all.number).stopped == [.init(room: nil, at: .event(stored[0].number))])
        try store.skipEvents(of: WebhookID("all"), in: nil, upTo: stored[0].number)
        #expect(try texts(events(all, .server)) == ["0 member.unbanned mallory root"])
        var advance = CursorAdvance(
            webhook: all.number, room: row.number, id: .server, from: row.rev, to: row.rev, since: time)
        (advance.isOfMessages, advance.isOfEvents, advance.event) = (false, true, stored[1].number)
        #expect(try store.advance([advance]) == [.caughtUp])
        #expect(try behind(all) == [:])
    }

    @Test func `tells of the memberships of an erased user, and forgets the user in what waits`() throws {
        let webhook = try set("a") { $0.events = [.member, .report] }
        let (bob, lobby) = (try UserID("bob"), try RoomID("lobby"))
        try log.send(.init())
        try log.join("lobby", as: "bob")
        _ = try log.change(.setMember(UserID("carol"), nil), by: "alice").get()
        _ = try log.change(.report(seq: 1, ReportDraft(reason: .spam)), by: "bob").get()
        var submission = try log.submission(.user(bob, .erase), by: "root", isAdmin: true)
        submission.room = nil
        _ = try log.outcome(submission).get()
        var stored: [String] = []
        repeat { stored = try texts(events(webhook, lobby)) } while !stored.contains { $0.contains("removed") }
        #expect(
            stored == [
                #"0 member.added alice alice,"role":"owner""#, #"1 member.added carol alice,"role":"member""#,
                #"1 report.made alice -,"seq":1,"reason":"spam""#, "1 member.removed bob -",
            ])
    }

    @Test func `tells of a membership that an erasure ends alike, whether the job ends it or a new user of the name`()
        throws
    {
        let webhook = try set("a") { $0.events = [.room, .member] }
        let bob = try UserID("bob")
        try log.send(.init())
        _ = try log.change(.set(RoomSettings(title: "alice and bob")), by: "alice").get()
        try log.join("lobby", as: "bob")
        var erase = try log.submission(.user(bob, .erase), by: "root", isAdmin: true)
        erase.room = nil
        // In one commit, so that the job has not begun when the new user joins.
        for result in try log.submitAll([erase, log.submission(.room(.setMember(bob, nil)), by: "bob")]) {
            _ = try result.get()
        }
        let title = "alice and \(UserID.deleted)"
        #expect(
            try texts(events(webhook, RoomID("lobby"))).suffix(3) == [
                "1 member.removed bob -", #"1 room.changed - -,"settings":{"title":"\#(title)"}"#,
                #"1 member.added bob bob,"role":"member""#,
            ])
    }

    @Test(arguments: [false, true])
    func `tells that a room was deleted to webhooks of rooms and messages only`(isOfRooms: Bool) throws {
        try log.fill(2)
        let webhook = try set("a") { $0.events = isOfRooms ? [.room] : [.member] }
        _ = try log.change(.delete, by: "alice").get()
        #expect(try behind(webhook) == (isOfRooms ? ["lobby": 2] : [:]))
        #expect(try log.count("webhook_events") == 0)
    }

    @Test func `visits the rooms that change, however many there are`() throws {
        try log.execute(
            """
            INSERT INTO rooms (name) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                SELECT 'quiet-' || i FROM n
            """)
        let webhook = try set("a") { $0.events = [.message, .member] }
        let active = (0..<10).map { "room-\($0)" }
        try log.sendAll(active.map { .init(room: $0) })
        #expect(try log.count("webhook_rooms") == active.count)
        let rows = try store.behind(webhook, after: 0, limit: 1000)
        #expect(Set(rows.map(\.id.string)) == Set(active))
        // The list is read by itself, and the rooms in it by their numbers.
        var query =
            TestStore.isPostgres
            ? PostgresWebhookStore.behindQuery(ofEvents: true) : SQLiteWebhookStore.behindQuery(ofEvents: true)
        for (name, value) in [("$1", "1"), ("$2", "0"), ("$3", "1000000"), ("$4", "512")] {
            query = query.split(separator: name, omittingEmptySubsequences: false).joined(separator: value)
        }
        #expect(try log.scans(query) == [])
        let results = try store.advance(
            rows.map { row in
                CursorAdvance(
                    webhook: webhook.number, room: row.number, id: row.id, from: row.rev, to: row.rev + 1, since: time)
            })
        #expect(results.allSatisfy { $0 == .caughtUp })
        #expect(try log.count("webhook_rooms") == 0)
    }

    @Test(arguments: 0..<4)
    func `skips nothing and orders each room while many send and change`(seed: Int) async throws {
        let webhook = try set("a")
        let rooms = (0..<6).map { "room-\($0)" }
        let log = log
        let sending = Task.detached {
            var generator = SeededGenerator(seed: UInt64(seed))
            for _ in 0..<60 {
                let sends = (0..<Int.random(in: 1...5, using: &generator)).map { _ in
                    TestLog.Send(room: rooms.randomElement(using: &generator)!)
                }
                try log.sendAll(sends)
                try log.edit(1, "changed \(UInt8.random(in: 0...255, using: &generator))", of: sends[0].room)
            }
        }
        var received: [String: Int64] = [:]
        var generator = SeededGenerator(seed: UInt64(seed) + 100)
        func deliver() throws {
            var advances: [CursorAdvance] = []
            for row in try store.behind(webhook, after: 0, limit: 100) {
                // What was delivered last may have been lost, so the cursor is at most there.
                #expect(row.rev <= received[row.id.string, default: 0])
                var bounds = DeliveryBounds()
                bounds.messages = Int.random(in: 1...5, using: &generator)
                let content = try messages(row.id.string, since: row.rev, bounds)
                received[row.id.string] = max(received[row.id.string, default: 0], content.rev)
                if Bool.random(using: &generator) {
                    advances.append(
                        CursorAdvance(
                            webhook: webhook.number, room: row.number, id: row.id, from: row.rev, to: content.rev,
                            since: time))
                }
            }
            for result in try store.advance(advances) { #expect(result != .moved) }
        }
        for _ in 0..<40 { try deliver() }
        try await sending.value
        while try !behind(webhook).isEmpty { try deliver() }
        for room in rooms where try log.state(of: room).rev > 0 {
            #expect(try received[room] == log.state(of: room).rev)
        }
    }

    @Test func `keeps webhooks and cursors when the log is opened again`() throws {
        try set("a")
        try log.fill(2)
        store.close()
        let log = try log.reopened()
        let store = try log.log.webhookStore()
        let webhook = try #require(try store.webhooks().first)
        #expect(try store.behind(webhook, after: 0, limit: 9).map(\.rev) == [0])
        try log.fill(1, "other")
        #expect(try store.behind(webhook, after: 0, limit: 9).map(\.id.string) == ["lobby", "other"])
    }
}
