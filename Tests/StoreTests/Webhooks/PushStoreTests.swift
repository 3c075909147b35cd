import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The store of push events", .timeLimit(.minutes(30)))
struct PushStoreTests {
    private let log: TestLog
    private let store: any WebhookStore
    private let time = Timestamp.now()

    init() throws {
        log = try TestLog()
        store = try log.log.webhookStore()
    }

    private func set(_ events: [WebhookEvent], _ id: String = "a") throws -> Webhook {
        var settings = WebhookSettings()
        settings.url = "https://example.com/hook"
        settings.events = events
        _ = try store.set(WebhookID(id), settings, secret: "whsec_x", at: time)
        return try #require(try store.webhooks().first { $0.id.string == id })
    }

    private func rows(_ webhook: Webhook, of number: Int64) throws -> [String] {
        var cursors = webhook
        cursors.number = number
        return try store.behind(cursors, after: 0, limit: 10).map { "\($0.id) \($0.rev)" }
    }

    private func facts(_ webhook: Webhook, since rev: Int64 = 0) throws -> RoomPushes {
        try #require(
            try store.pushFacts(
                of: RoomID("lobby"), webhook, since: rev, after: nil, seen: rev, LargeRoomLook(), at: time))
    }

    @Test func `lists rooms for push events under a number of their own, and only for webhooks that want them`() throws
    {
        let (push, messages, both) = (try set([.push]), try set([.message], "b"), try set([.message, .push], "c"))
        try log.send(.init())
        for webhook in [push, both] { #expect(try rows(webhook, of: webhook.pushNumber) == ["lobby 0"]) }
        for webhook in [messages, both] { #expect(try rows(webhook, of: webhook.number) == ["lobby 0"]) }
        #expect(try rows(push, of: push.number) == [] && rows(messages, of: messages.pushNumber) == [])
        #expect(try store.backlog(of: push.number).rooms == 1)
        // The other kind is forgotten.
        _ = try set([.message], "c")
        #expect(try rows(both, of: both.pushNumber) == [] && rows(both, of: both.number) == ["lobby 0"])
        _ = try set([.push], "b")
        #expect(try rows(messages, of: messages.number) == [])
    }

    @Test func `leaves out who has left a direct room, which counts for no badge either`() throws {
        let webhook = try set([.push])
        let room = try log.makeDirect("alice", with: "bob")
        try log.send(.init(room: room))
        func members() throws -> [String] {
            let facts = try store.pushFacts(
                of: RoomID(room), webhook, since: 0, after: nil, seen: 0, LargeRoomLook(), at: time)
            return try #require(facts).facts.members.map(\.user.string)
        }
        #expect(try members() == ["alice", "bob"])
        _ = try log.change(.removeMember(UserID("bob")), in: room, by: "bob").get()
        #expect(try members() == ["alice"])
    }

    @Test func `looks at members of large rooms if they are mentioned, page by page if the room is`() throws {
        #expect(LargeRoomLook().bound == 10_000 && LargeRoomLook().page == 1000)
        let webhook = try set([.push])
        try log.fill(1)
        for user in ["bob", "carol", "dora", "eve"] { try log.join("lobby", as: user) }
        var look = LargeRoomLook()
        look.page = 2
        func users(bound: Int) throws -> [String] {
            look.bound = bound
            let found = try #require(
                try store.pushFacts(of: RoomID("lobby"), webhook, since: 0, after: nil, seen: 0, look, at: time))
            #expect(found.facts.isLarge == (bound < 5))
            return found.facts.members.map(\.user.string).sorted()
                + (found.page.map { ["to \($0.end)", "\($0.isLast)"] } ?? [])
        }
        try log.send(.init(mentions: ["dora"]))
        #expect(try users(bound: 5) == ["alice", "bob", "carol", "dora", "eve"] && users(bound: 4) == ["dora"])
        try log.send(.init(mentions: ["bob"], mentionsRoom: true))
        #expect(try users(bound: 4) == ["alice", "bob", "dora", "to bob", "false"])
        look.member = try UserID("bob")
        #expect(try users(bound: 4) == ["bob", "carol", "dora", "to dora", "false"])
        look.member = try UserID("dora")
        #expect(try users(bound: 4) == ["bob", "dora", "eve", "to eve", "true"])
        look.member = try UserID("eve")
        #expect(try users(bound: 4) == ["bob", "dora", "to eve", "true"])
        (look.seq, look.users) = (3, [try UserID("carol")])
        #expect(try users(bound: 4) == ["bob", "carol", "dora"])
    }

    @Test func `searches a bounded number of changes for deletions at once, and says how far`() throws {
        let webhook = try set([.push])
        try log.fill(PushBounds.messages + 50)
        try log.delete(2)
        let found = try facts(webhook)
        #expect(found.deleted == 0 && found.seen < found.state.rev)
        let rest = try #require(
            try store.pushFacts(
                of: RoomID("lobby"), webhook, since: 0, after: found.end, seen: found.seen, LargeRoomLook(), at: time))
        #expect(rest.deleted == 2 && rest.seen == rest.state.rev)
    }

    @Test func `has the members who may be due, from the cursor on, and what was deleted`() throws {
        let webhook = try set([.push])
        try log.fill(2)
        try log.join("lobby", as: "bob")
        try log.join("lobby", as: "carol")
        try log.send(.init(text: "three", mentions: ["bob"]))
        _ = try log.change(.setNotify(NotifySettings(level: .mentions)), by: "bob").get()
        try log.read(to: 3, as: "carol")
        try log.block("bob", of: "alice")
        let found = try facts(webhook, since: 2)
        #expect(found.facts.messages.map(\.seq) == [3] && found.end == 3 && found.deleted == 0)
        #expect(found.facts.members.map(\.user.string) == ["alice", "bob"])
        #expect(found.facts.members[1].notify?.level == .mentions && !found.facts.isLarge && !found.facts.isDirect)
        #expect(found.facts.blocks[try UserID("alice")] == [try UserID("bob")])
        try log.edit(1, "new")
        try log.delete(2)
        let later = try facts(webhook, since: 3)
        #expect(later.facts.messages.isEmpty && later.deleted == 2)
        #expect(try store.pushRevision(of: RoomID("lobby"), through: 2) == 2)
        #expect(try store.pushRevision(of: RoomID("lobby"), through: 3) == 5)
    }

    /// The statements select by these conditions themselves, so that a look at a room costs what may be due in it.
    @Test func `selects by bans and muted rooms as the rules do`() throws {
        let webhook = try set([.push])
        try log.fill(3)
        let end = Timestamp(milliseconds: time.milliseconds + 60_000)
        let room = try RoomID("lobby")
        let bans = BanTable()
        var settings: [UserID: NotifySettings] = [:]
        for until in [nil, end] {
            for (index, key) in [(0, room), (1, nil), (2, room), (3, nil)] {
                let user = try UserID("banned\(index)\(until == nil ? "" : "-until")")
                try log.join("lobby", as: user.string)
                let ban = BanSettings(scope: index < 2 ? .all : .send, until: until)
                let change: Submission.Change = key == nil ? .user(user, .ban(ban)) : .room(.setBan(user, ban))
                var submission = try log.submission(change, in: "lobby", by: "root", isAdmin: true)
                if key == nil { submission.room = nil }
                _ = try log.outcome(submission).get()
                let set = Ban(user: user, scope: ban.scope, until: until, by: try UserID("root"), createdAt: time)
                bans.change([BanTable.Key(room: key, user: user): set], at: time)
            }
            for level in [NotifySettings.Level.all, .mentions, .none] {
                let user = try UserID("\(level)\(until == nil ? "" : "-until")")
                try log.join("lobby", as: user.string)
                settings[user] = NotifySettings(level: level, until: until)
                _ = try log.change(.setNotify(settings[user]!), by: user.string).get()
            }
        }
        let users = try log.texts("SELECT \"user\" FROM members").compactMap { try $0.map { try UserID($0) } }
        #expect(users.count == 15)
        for time in [-1, 0, 1].map({ Timestamp(milliseconds: end.milliseconds + $0) }) {
            func mayRead(_ user: UserID) -> Bool {
                bans.refusal(of: user, in: room, isAdmin: false, for: .read, at: time) == nil
            }
            let found = try #require(
                try store.pushFacts(of: room, webhook, since: 0, after: nil, seen: 0, LargeRoomLook(), at: time))
            #expect(Set(found.facts.members.map(\.user)) == Set(users.filter(mayRead)))
            // Alice has sent the messages, so they count for no badge of hers.
            let states = try store.pushStates(of: users.map { PushPair($0, found.number) }, at: time)
            for user in users where user.string != "alice" {
                let isMuted = settings[user].map { $0.level == .none && $0.isInForce(at: time) } ?? false
                let badge = states[PushPair(user, found.number)]?.badge ?? 0
                #expect((badge > 0) == (mayRead(user) && !isMuted), "\(user) at \(time)")
            }
        }
    }

    @Test func `marks whatever may lower a badge that was told, and nothing without push events`() throws {
        try log.fill(3)
        for user in ["bob", "carol"] { try log.join("lobby", as: user) }
        try log.read(to: 1, as: "bob")
        #expect(try log.count("push_changes") == 0)
        let webhook = try set([.push])
        let number = try facts(webhook).number
        let pair = PushPair(try UserID("bob"), number)
        #expect(try store.pushStates(of: [pair], at: time)[pair]?.badge == 2)
        var changes = PushChanges()
        (changes.badgesAhead, changes.pushed) = ([(pair.user, 3), (pair.user, 2)], [(pair, 3)])
        try store.store(changes, of: webhook)
        func marked() throws -> [MarkedPush] {
            while try store.takePushChanges(of: webhook) > 0 {}
            let found = try store.markedPushes(of: webhook, limit: 10)
            var settled = PushChanges()
            settled.settled = found.map { ($0, isOver: false) }
            try store.store(settled, of: webhook)
            return found
        }
        #expect(try marked() == [])
        try log.read(to: 2, as: "bob")
        try log.read(to: 2, as: "carol")
        let first = try marked()
        #expect(
            first.map(\.pair) == [pair] && first[0].badge == 3 && first[0].seq == 3 && first[0].id.string == "lobby")
        #expect(try marked() == [])
        _ = try log.change(.setNotify(NotifySettings(level: .none)), by: "bob").get()
        #expect(try marked().count == 1)
        #expect(try store.pushStates(of: [pair], at: time)[pair] == PushState(read: nil, badge: 0))
        try store.markDeletion(through: 2, in: number, of: webhook)
        #expect(try marked() == [])
        try store.markDeletion(through: 3, in: number, of: webhook)
        #expect(try marked().count == 1)
        _ = try log.change(.removeMember(pair.user), by: "bob").get()
        #expect(try marked().count == 1)
    }

    @Test func `keeps a mark that comes while an earlier one is told`() throws {
        try log.fill(3)
        try log.join("lobby", as: "bob")
        let webhook = try set([.push])
        let pair = PushPair(try UserID("bob"), try facts(webhook).number)
        var changes = PushChanges()
        (changes.badges, changes.pushed) = ([(pair.user, 3)], [(pair, 3)])
        try store.store(changes, of: webhook)
        for isOver in [false, true] {
            try log.read(to: isOver ? 2 : 1, as: "bob")
            while try store.takePushChanges(of: webhook) > 0 {}
            let told = try store.markedPushes(of: webhook, limit: 10)
            #expect(told.count == 1)
            try log.read(to: isOver ? 3 : 2, as: "bob")
            while try store.takePushChanges(of: webhook) > 0 {}
            var settled = PushChanges()
            settled.settled = told.map { ($0, isOver: isOver) }
            try store.store(settled, of: webhook)
            #expect(try store.markedPushes(of: webhook, limit: 10).map(\.pair) == [pair], "\(isOver)")
        }
    }

    @Test func `marks a ban that grows, and a direct room that a user leaves`() throws {
        let webhook = try set([.push])
        let room = try log.makeDirect("alice", with: "bob")
        try log.send(.init(room: room))
        try log.send(.init())
        try log.join("lobby", as: "bob")
        let bob = try UserID("bob")
        var changes = PushChanges()
        changes.badges = [(bob, 2)]
        for name in ["lobby", room] {
            let found = try #require(
                try store.pushFacts(
                    of: RoomID(name), webhook, since: 0, after: nil, seen: 0, LargeRoomLook(), at: time))
            changes.pushed.append((PushPair(bob, found.number), 1))
        }
        try store.store(changes, of: webhook)
        func marked() throws -> [String] {
            while try store.takePushChanges(of: webhook) > 0 {}
            let found = try store.markedPushes(of: webhook, limit: 10)
            var settled = PushChanges()
            settled.settled = found.map { ($0, isOver: false) }
            try store.store(settled, of: webhook)
            return found.map(\.id.string)
        }
        // The membership.
        _ = try marked()
        for scope in [Ban.Scope.send, .all] {
            _ = try log.change(.setBan(bob, BanSettings(scope: scope)), by: "alice").get()
            #expect(try marked() == (scope == .all ? ["lobby"] : []))
        }
        _ = try log.change(.removeMember(bob), in: room, by: "bob").get()
        #expect(try marked() == [room])
    }

    @Test func `forgets what was pushed to an erased user, and nothing else`() throws {
        let webhook = try set([.push])
        try log.fill(3)
        let (bob, carol) = (try UserID("bob"), try UserID("carol"))
        let number = try facts(webhook).number
        var changes = PushChanges()
        for user in [bob, carol] {
            try log.join("lobby", as: user.string)
            changes.badges.append((user, 3))
            changes.pushed.append((PushPair(user, number), 3))
        }
        try store.store(changes, of: webhook)
        for user in [bob, carol] { try log.read(to: 1, as: user.string) }
        var submission = try log.submission(.user(bob, .erase), by: "root", isAdmin: true)
        submission.room = nil
        _ = try log.outcome(submission).get()
        try waitUntil {
            let status: ErasureStatus? = try log.read(for: "root", isAdmin: true) { .server(.erasure(bob, $0)) }
            return status?.state == .erased
        }
        for table in ["pushed", "pushed_badges", "push_changes"] {
            #expect(try log.texts("SELECT DISTINCT \"user\" FROM \(table)") == ["carol"], "\(table)")
        }
    }

    @Test func `forgets what was pushed with the webhook, and with its push events`() throws {
        for events in [[WebhookEvent.message], []] {
            let webhook = try set([.push])
            try log.send(.init())
            let pair = PushPair(try UserID("bob"), try facts(webhook).number)
            var changes = PushChanges()
            (changes.badges, changes.pushed) = ([(pair.user, 3)], [(pair, 3)])
            try store.store(changes, of: webhook)
            if events.isEmpty { try store.remove(webhook.id) } else { _ = try set(events) }
            for table in ["pushed", "pushed_badges"] { #expect(try log.count(table) == 0) }
        }
    }
}
