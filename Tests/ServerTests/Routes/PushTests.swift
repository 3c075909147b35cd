import Foundation
import HTTP
import HTTPTypes
import Store
import TestSupport
import Testing
import Webhooks
import Wire

@testable import Server

/// A part of a push for one user: of `push`, or by `push.clear`, which has neither a `seq` nor what is unread.
private struct Told: Hashable {
    var user: String
    var room: String
    var badge: Int
    var seq: Int?
    var unread: Int?
    var first: Int?
    var mentions: Int?
    var reason: String?
}

private struct Push: Decodable {
    struct Message: Decodable {
        var room: String
        var seq: Int
        var text: String?
    }

    struct Recipient: Decodable {
        var user: String
        var room: String?
        var badge: Int
        var unread: Int?
        var firstUnread: Int?
        var unreadMentions: Int?
        var reason: String?
    }

    var type: String
    var room: String?
    var message: Message?
    var recipients: [Recipient]
    var collapseID: String?
    var threadID: String?

    private enum CodingKeys: String, CodingKey {
        case type, room, message, recipients
        case collapseID = "collapseId"
        case threadID = "threadId"
    }

    var told: [Told] {
        recipients.map {
            Told(
                user: $0.user, room: $0.room ?? room ?? "", badge: $0.badge, seq: message?.seq, unread: $0.unread,
                first: $0.firstUnread, mentions: $0.unreadMentions, reason: $0.reason)
        }
    }
}

extension FakeReceiver.Delivery {
    fileprivate var push: Push? {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return (try? decoder.decode(Push.self, from: Data(body))).flatMap { $0.type.hasPrefix("push") ? $0 : nil }
    }
}

/// A naive computation of who is told what.
private struct Model {
    struct Message {
        var sender: String
        var mentions: [String] = []
        var isDeleted = false
    }

    struct Key: Hashable {
        var user: String
        var room: String

        init(_ user: String, _ room: String) { (self.user, self.room) = (user, room) }
    }

    var messages: [String: [Message]] = [:]
    var members: [String: Set<String>] = [:]
    var marks: [Key: Int] = [:]
    var levels: [Key: String] = [:]
    var blocks: Set<[String]> = []
    var bans: Set<Key> = []
    var badges: [String: Int] = [:]
    var pushed: [Key: Int] = [:]

    func unread(_ user: String, _ room: String) -> [Int] {
        (messages[room] ?? []).enumerated().compactMap { index, message in
            let isUnread = index + 1 > marks[Key(user, room)] ?? 0 && message.sender != user && !message.isDeleted
            return isUnread ? index + 1 : nil
        }
    }

    func counts(_ user: String, _ room: String) -> Bool {
        members[room]!.contains(user) && !bans.contains(Key(user, room)) && levels[Key(user, room)] != "none"
    }

    func badge(_ user: String) -> Int {
        members.keys.filter { counts(user, $0) }.reduce(0) { $0 + unread(user, $1).count }
    }

    mutating func sent(_ message: Message, in room: String, isSilent: Bool) -> [Told] {
        messages[room, default: []].append(message)
        if isSilent { return [] }
        let seq = messages[room]!.count
        return members[room]!.compactMap { user in
            let level = levels[Key(user, room)] ?? "all"
            let isMentioned = message.mentions.contains(user)
            guard user != message.sender, !bans.contains(Key(user, room)), !blocks.contains([user, message.sender]),
                !blocks.contains([message.sender, user]), level == "all" || (level == "mentions" && isMentioned)
            else { return nil }
            let unread = unread(user, room)
            let mentions = unread.filter {
                let other = messages[room]![$0 - 1]
                return other.mentions.contains(user) && !blocks.contains([user, other.sender])
            }
            badges[user] = badge(user)
            pushed[Key(user, room)] = seq
            return Told(
                user: user, room: room, badge: badges[user]!, seq: seq, unread: unread.count, first: unread.first,
                mentions: mentions.count, reason: isMentioned ? "mention" : room.hasPrefix("@") ? "direct" : "message")
        }
    }

    /// Something may have lowered the badges of users.
    mutating func fell(_ users: some Sequence<String>, in room: String) -> [Told] {
        users.compactMap { user in
            guard let told = badges[user] else { return nil }
            let now = badge(user)
            let key = Key(user, room)
            let isRead = pushed[key].map {
                !counts(user, room) || marks[key] ?? 0 >= $0 || unread(user, room).isEmpty
            }
            if isRead == true { pushed[key] = nil }
            guard now < told || isRead == true else { return nil }
            badges[user] = now == 0 ? nil : now
            return Told(user: user, room: room, badge: now)
        }
    }
}

@Suite("Push events", .timeLimit(.minutes(30)))
struct PushTests {
    private let receiver = FakeReceiver()

    private func with(
        delay: Int = 30, configure: @Sendable (inout ServerConfiguration) -> Void = { _ in },
        _ body: (LiveServer, HTTPClient) throws -> Void
    ) async throws {
        try await withTokenServer(configure: {
            $0.webhookSender = receiver
            $0.pushDelay = delay
            configure(&$0)
        }) { server in
            let client = try HTTPClient(port: server.port)
            try ask(
                client, .put, "/v1/admin/webhooks/a", #"{"url":"https://example.com/hook","events":["push"]}"#,
                by: "root")
            try body(server, client)
        }
    }

    @discardableResult
    private func ask(
        _ client: HTTPClient, _ method: HTTPRequest.Method, _ target: String, _ body: String = "{}", by user: String,
        refusals: [Int] = []
    ) throws -> Response {
        let token = try user == "root" ? TestToken.of("root", #""admin":true"#) : TestToken.of(user)
        let answer = try client.request(method, target, fields: [.bearer(token)], body: Array(body.utf8))
        #expect(answer.status.code < 300 || refusals.contains(answer.status.code), "\(target) \(answer.text)")
        return answer
    }

    private func send(
        _ client: HTTPClient, _ fields: String = #""text":"x""#, in room: String = "lobby", by user: String
    )
        throws
    {
        try ask(client, .post, "/v1/rooms/\(room)/messages", "{\(fields)}", by: user)
    }

    /// Creates a room with a message that is pushed to nobody, however soon others join.
    private func create(_ client: HTTPClient, _ room: String = "lobby") throws {
        try send(client, #""text":"x","silent":true"#, in: room, by: "alice")
    }

    /// Waits until the server has looked at everything before, so that nothing of it is told together with what follows: a
    /// push to a user of its own, and then its `push.clear`.
    private func lookAtAll(_ client: HTTPClient) throws {
        let count = told.count
        try send(client, in: "fence", by: "faye")
        let seq = try #require(try wait(count + 1).last?.seq)
        try ask(client, .put, "/v1/rooms/fence/read", #"{"seq":\#(seq)}"#, by: "finn")
        // Commits that only may lower badges do not wake the server.
        try send(client, #""text":"x","silent":true"#, in: "fence", by: "faye")
        _ = try wait(count + 2)
    }

    /// Waits until all rooms have nothing more to push, and this is stored.
    private func waitUntilSettled(_ client: HTTPClient) throws {
        try waitUntil {
            try ask(client, .get, "/v1/admin/webhooks/a", "", by: "root").text.contains(#""rooms_behind":0"#)
        }
    }

    private func join(_ client: HTTPClient, _ room: String = "lobby", _ users: String...) throws {
        for user in users { try ask(client, .put, "/v1/rooms/\(room)/members/\(user)", by: user) }
    }

    private var told: [Told] { receiver.deliveries.events.flatMap { $0.push?.told ?? [] } }

    private func wait(_ count: Int) throws -> [Told] {
        try receiver.deliveries.wait { $0.reduce(0) { $0 + ($1.push?.recipients.count ?? 0) } >= count }
            .flatMap { $0.push?.told ?? [] }
    }

    @Test(arguments: [1, 2, 3])
    func `agree with a naive recount, whatever users send, read, mute, block, delete, leave, join and ban`(seed: UInt64)
        async throws
    {
        try await with { _, client in
            var generator = SeededGenerator(seed: seed)
            let users = ["alice", "bob", "carol", "dora"]
            var model = Model()
            for room in ["one", "two"] {
                try create(client, room)
                _ = model.members[room, default: []].insert("alice")
                _ = model.sent(Model.Message(sender: "alice"), in: room, isSilent: true)
                for user in users.dropFirst() {
                    try join(client, room, user)
                    model.members[room]!.insert(user)
                }
            }
            let answer = try ask(client, .put, "/v1/direct/bob", by: "alice")
            let direct = try #require(answer.text.firstMatch(of: /"room":"(@[^"]*)"/)).1
            model.members[String(direct)] = ["alice", "bob"]
            let rooms = ["one", "two", String(direct)]
            try send(client, #""text":"x","silent":true"#, in: "fence", by: "faye")
            try join(client, "fence", "finn")
            var total = 0
            for step in 0..<150 {
                let (room, user) = (
                    rooms.randomElement(using: &generator)!, users.randomElement(using: &generator)!
                )
                let key = Model.Key(user, room)
                let isBanned = model.bans.contains(key)
                let isMember = model.members[room]!.contains(user) && !isBanned
                var expected: [Told] = []
                switch Int.random(in: 0..<20, using: &generator) {
                case 0..<9 where isMember:
                    let mentions = users.filter { _ in Int.random(in: 0..<4, using: &generator) == 0 }
                    let isSilent = Int.random(in: 0..<8, using: &generator) == 0
                    let names = mentions.map { "\"\($0)\"" }.joined(separator: ",")
                    let sent = try ask(
                        client, .post, "/v1/rooms/\(room)/messages",
                        #"{"text":"\#(step)","mentions":[\#(names)],"silent":\#(isSilent)}"#, by: user, refusals: [403])
                    guard sent.status == .created else { continue }
                    expected = model.sent(
                        Model.Message(sender: user, mentions: mentions), in: room, isSilent: isSilent)
                case 9..<12 where isMember:
                    let head = model.messages[room]?.count ?? 0
                    let seq = Int.random(in: 0...head, using: &generator)
                    try ask(client, .put, "/v1/rooms/\(room)/read", #"{"seq":\#(seq)}"#, by: user)
                    guard seq > model.marks[key] ?? 0 else { continue }
                    model.marks[key] = seq
                    expected = model.fell([user], in: room)
                case 12..<14 where isMember:
                    let level = ["all", "mentions", "none"].randomElement(using: &generator)!
                    try ask(client, .put, "/v1/rooms/\(room)/notify", #"{"level":"\#(level)"}"#, by: user)
                    model.levels[key] = level
                    if level != "all" { expected = model.fell([user], in: room) }
                case 14:
                    let other = users.randomElement(using: &generator)!
                    guard other != user else { continue }
                    let blocks = model.blocks.contains([user, other])
                    try ask(client, blocks ? .delete : .put, "/v1/blocks/\(other)", "", by: user)
                    if blocks { model.blocks.remove([user, other]) } else { model.blocks.insert([user, other]) }
                case 15..<18:
                    let own = (model.messages[room] ?? []).indices.filter {
                        model.messages[room]![$0].sender == user && !model.messages[room]![$0].isDeleted
                    }
                    guard let index = own.randomElement(using: &generator), isMember else { continue }
                    try ask(client, .delete, "/v1/rooms/\(room)/messages/\(index + 1)", "", by: user)
                    model.messages[room]![index].isDeleted = true
                    model.messages[room]![index].mentions = []
                    let others = model.members[room]!.filter { model.marks[.init($0, room)] ?? 0 < index + 1 }
                    expected = model.fell(others, in: room)
                case 18 where user != "alice" && !room.hasPrefix("@") && !isBanned:
                    try ask(
                        client, isMember ? .delete : .put, "/v1/rooms/\(room)/members/\(user)", isMember ? "" : "{}",
                        by: user)
                    if isMember {
                        model.members[room]!.remove(user)
                        model.levels[key] = nil
                        expected = model.fell([user], in: room)
                    } else {
                        model.members[room]!.insert(user)
                    }
                case 19 where user != "alice" && !room.hasPrefix("@"):
                    try ask(
                        client, isBanned ? .delete : .put, "/v1/rooms/\(room)/bans/\(user)",
                        isBanned ? "" : #"{"scope":"all"}"#, by: "root")
                    if isBanned {
                        model.bans.remove(key)
                    } else {
                        model.bans.insert(key)
                        expected = model.fell([user], in: room)
                    }
                default: continue
                }
                if expected.isEmpty {
                    try lookAtAll(client)
                    total += 2
                }
                let all = try wait(total + expected.count)
                #expect(Set(all.dropFirst(total)) == Set(expected), "step \(step) by \(user) in \(room)")
                total += expected.count
                guard all.count == total else { break }
            }
            #expect(told.count == total)
        }
    }

    @Test func `have the message, what is unread, and what APNs groups by`() async throws {
        try await with { _, client in
            try create(client)
            try join(client, "lobby", "bob")
            try send(client, #""text":"hello","mentions":["bob"]"#, by: "alice")
            let delivery = try #require(try receiver.deliveries.wait { !$0.isEmpty }.first)
            let push = try #require(delivery.push)
            #expect(
                delivery.text.hasPrefix(#"{"type":"push","room":"lobby","message":{"room":"lobby","seq":2,"rev":2,"#))
            #expect(push.message?.text == "hello" && push.threadID == "lobby" && push.collapseID?.isEmpty == false)
            #expect(
                push.told == [
                    Told(
                        user: "bob", room: "lobby", badge: 2, seq: 2, unread: 2, first: 1, mentions: 1,
                        reason: "mention")
                ])
            try ask(client, .put, "/v1/rooms/lobby/read", #"{"seq":2}"#, by: "bob")
            let clear = try #require(try receiver.deliveries.wait { $0.count == 2 }.last)
            #expect(
                clear.text.hasPrefix(
                    #"{"type":"push.clear","recipients":[{"user":"bob","room":"lobby","badge":0}],"epoch":""#))
            for type in ["push", "push[.]clear"] {
                let sample = try Regex("(?m)^backscroll_push_recipients_total\\{[^}]*\"\(type)\"[^}]*\\} 1$")
                try waitUntil { try client.get("/metrics").text.contains(sample) }
            }
        }
    }

    @Test func `have only the ids of the message if they are told to`() async throws {
        try await with(configure: { $0.pushContent = .none }) { _, client in
            try create(client)
            try join(client, "lobby", "bob")
            try send(client, #""text":"secret""#, by: "alice")
            let text = try #require(try receiver.deliveries.wait { !$0.isEmpty }.first?.text)
            #expect(text.contains(#""message":{"room":"lobby","seq":2},"recipients""#) && !text.contains("secret"))
        }
    }

    @Test func `wait while a user has a live connection, until it ends; reading cancels them`() async throws {
        try await with(delay: 3600) { server, client in
            try create(client)
            try join(client, "lobby", "bob", "carol", "dora")
            func open(_ user: String) throws -> WebSocketClient {
                try WebSocketClient(port: server.port, fields: [.bearer(try TestToken.of(user))])
            }
            let (bob, carol) = (try open("bob"), try open("carol"))
            try send(client, by: "alice")
            // She has no connection.
            #expect(try wait(1).map(\.user) == ["dora"])
            try ask(client, .put, "/v1/rooms/lobby/read", #"{"seq":2}"#, by: "carol")
            bob.http.close()
            carol.http.close()
            #expect(try wait(2).map(\.user) == ["dora", "bob"])
            try send(client, by: "alice")
            let last = try wait(5).dropFirst(2)
            #expect(Set(last.map(\.user)) == ["bob", "carol", "dora"])
            #expect(last.first { $0.user == "carol" }?.unread == 1)
        }
    }

    @Test func `are neither forgotten nor repeated over a restart, and a badge falls for what was read meanwhile`()
        async throws
    {
        try await with { server, client in
            try create(client)
            try join(client, "lobby", "bob", "carol")
            receiver.answers(503)
            try send(client, by: "alice")
            _ = try wait(2)
            server.stop()
            let failed = told.count
            receiver.answers(204)
            try server.start()
            var client = try HTTPClient(port: server.port)
            #expect(Set(try wait(failed + 2).dropFirst(failed).map(\.user)) == ["bob", "carol"])
            try ask(client, .get, "/v1/admin/webhooks/a", "", by: "root")
            server.stop()
            try server.start()
            client = try HTTPClient(port: server.port)
            try ask(client, .put, "/v1/rooms/lobby/read", #"{"seq":2}"#, by: "bob")
            #expect(try wait(failed + 3).last == Told(user: "bob", room: "lobby", badge: 0))
            try send(client, by: "alice")
            #expect(Set(try wait(failed + 5).suffix(2).map(\.seq)) == [3])
        }
    }

    @Test func `clear the badge of a push that the receiver may have passed on although it answered with an error`()
        async throws
    {
        try await with { _, client in
            try create(client)
            try join(client, "lobby", "bob")
            receiver.answers(503)
            try send(client, by: "alice")
            _ = try wait(1)
            try ask(client, .put, "/v1/rooms/lobby/read", #"{"seq":2}"#, by: "bob")
            receiver.answers(204)
            let cleared = Told(user: "bob", room: "lobby", badge: 0)
            let deliveries = try receiver.deliveries.wait { $0.last?.push?.told == [cleared] }
            #expect(deliveries.last?.push?.type == "push.clear")
        }
    }

    @Test func `clear the badges of a deleted room, and push nothing of a user who may not read`() async throws {
        try await with { _, client in
            try create(client)
            try join(client, "lobby", "bob", "carol")
            try ask(client, .put, "/v1/rooms/lobby/bans/carol", #"{"scope":"all"}"#, by: "alice")
            try send(client, by: "alice")
            #expect(try wait(1).map(\.user) == ["bob"])
            try ask(client, .delete, "/v1/rooms/lobby", "", by: "alice")
            #expect(try wait(2).last == Told(user: "bob", room: "lobby", badge: 0))
        }
    }

    @Test func `clear the badge of a user who is banned from the server`() async throws {
        try await with { _, client in
            for room in ["one", "two"] {
                try create(client, room)
                try join(client, room, "bob")
                try send(client, in: room, by: "alice")
            }
            _ = try wait(2)
            try ask(client, .put, "/v1/admin/bans/bob", #"{"scope":"all"}"#, by: "root")
            let last = try wait(4).dropFirst(2)
            #expect(Set(last) == [Told(user: "bob", room: "one", badge: 0), Told(user: "bob", room: "two", badge: 0)])
        }
    }

    @Test func `go to at most 500 recipients a delivery`() async throws {
        try await with { _, client in
            try create(client)
            for number in 1...501 {
                try ask(client, .put, "/v1/rooms/lobby/members/user-\(number)", by: "alice")
            }
            try send(client, by: "alice")
            let pushes = try receiver.deliveries.wait { $0.count == 2 }.compactMap(\.push)
            #expect(pushes.map(\.recipients.count).sorted() == [1, 500])
            #expect(Set(told.map(\.user)).count == 501)
        }
    }

    @Test func `in a large room are those of mentions, of the room to its members page by page, also over a restart`()
        async throws
    {
        let bound: @Sendable (inout ServerConfiguration) -> Void = {
            ($0.largeRooms.bound, $0.largeRooms.page) = (6, 2)
        }
        try await with(delay: 3600, configure: bound) { server, client in
            try create(client)
            try join(client, "lobby", "u1", "u2", "u3", "u4", "u5", "u6")
            let quiet = #"{"level":"all","room_mentions":false}"#
            try ask(client, .put, "/v1/rooms/lobby/notify", quiet, by: "u6")
            try send(client, by: "alice")
            try send(client, #""text":"x","mentions":["u5"]"#, by: "alice")
            #expect(try wait(1).map(\.user) == ["u5"])
            // Until then the next look at the room finds u5 without a page.
            try waitUntilSettled(client)
            // The second page fails.
            receiver.answers { .success(SenderAnswer(status: $0.text.contains(#""user":"u2""#) ? 503 : 204)) }
            let all = #""text":"all","mentions_room":true"#
            try send(client, all, by: "alice")
            #expect(Set(try wait(4).map(\.user)) == ["u1", "u2", "u3", "u5"])
            server.stop()
            receiver.answers(204)
            let failed = told.count
            try server.start()
            let again = try wait(failed + 4).dropFirst(failed)
            #expect(again.map(\.user).sorted() == ["u2", "u3", "u4", "u5"] && Set(again.map(\.seq)) == [4])
            // A user with a connection is told once it ends, and a later mention of the room looks at all members again.
            let next = try HTTPClient(port: server.port)
            let live = try WebSocketClient(port: server.port, fields: [.bearer(try TestToken.of("u3"))])
            for seq in [5, 6] {
                let before = told.count
                try send(next, all, by: "alice")
                let now = try wait(before + 4).dropFirst(before)
                #expect(now.map(\.user).sorted() == ["u1", "u2", "u4", "u5"] && Set(now.map(\.seq)) == [seq])
            }
            let before = told.count
            live.http.close()
            #expect(try wait(before + 1).dropFirst(before).map { "\($0.user) \($0.seq ?? 0)" } == ["u3 6"])
            try send(next, by: "alice")
            try send(next, #""text":"x","mentions":["u1"]"#, by: "alice")
            #expect(try wait(before + 2).last?.user == "u1")
            try waitUntilSettled(next)
        }
    }

    @Test func `go on in a room whose push is refused thrice once it is skipped`() async throws {
        try await with { _, client in
            try create(client)
            try join(client, "lobby", "bob")
            receiver.answers(422)
            try send(client, by: "alice")
            var stopped: Substring?
            try waitUntil {
                let state = try ask(client, .get, "/v1/admin/webhooks/a", "", by: "root").text
                stopped = state.firstMatch(of: /"stopped_rooms":\[(\{"room":"lobby","rev":[0-9]+\})\]/)?.1
                return stopped != nil
            }
            receiver.answers(204)
            try ask(client, .post, "/v1/admin/webhooks/a/skip", String(#require(stopped)), by: "root")
            try send(client, by: "alice")
            let deliveries = try receiver.deliveries.wait { $0.last?.push?.message?.seq == 3 }
            #expect(deliveries.last?.push?.told.map(\.user) == ["bob"])
            #expect(told.filter { $0.seq == 2 }.count == 3)
        }
    }

    @Test func `wait while the webhook is paused, and are not replayed`() async throws {
        try await with { _, client in
            try create(client)
            try join(client, "lobby", "bob")
            try ask(client, .put, "/v1/admin/webhooks/a", #"{"enabled":false}"#, by: "root")
            for _ in 0..<3 { try send(client, by: "alice") }
            try ask(client, .put, "/v1/admin/webhooks/a", #"{"enabled":true}"#, by: "root")
            #expect(try wait(1).map(\.seq) == [4])
            let refused = try ask(
                client, .post, "/v1/admin/webhooks/a/replay", #"{"room":"lobby","since":0}"#, by: "root",
                refusals: [400])
            #expect(try refused.problem.code == "invalid_field")
        }
    }
}
