import Chat
import Foundation
import HTTP
import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Webhooks
import Wire

@testable import Server

/// A receiver without a network. It records what it gets, and answers as a test says.
final class FakeReceiver: Sender {
    struct Delivery: Sendable {
        var url: String
        var headers: [String: String]
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
        var type: String { (try? JSONDecoder().decode(Kind.self, from: Data(body)).type) ?? "" }
        var event: Event? { try? JSONDecoder().decode(Event.self, from: Data(body)) }
        var messages: Messages? { try? JSONDecoder().decode(Messages.self, from: Data(body)) }
    }

    private struct Kind: Decodable { var type: String }

    struct Event: Decodable {
        var type: String
        var room: String?
        var event: Int64
        var rev: Int64?
        var user: String?
        var by: String?
    }

    struct Messages: Decodable {
        struct Message: Decodable {
            var rev: Int64
            var text: String
        }

        var room: String
        var epoch: String
        var since: Int64
        var rev: Int64
        var messages: [Message]
    }

    let deliveries = Recorder<Delivery>()
    private let answer = Mutex<@Sendable (Delivery) -> Result<SenderAnswer, SenderError>>({ _ in
        .success(SenderAnswer(status: 204))
    })

    /// Answers all further deliveries with a status.
    func answers(_ status: Int) { answer.withLock { $0 = { _ in .success(SenderAnswer(status: status)) } } }

    /// Answers all further deliveries.
    func answers(_ new: @escaping @Sendable (Delivery) -> Result<SenderAnswer, SenderError>) {
        answer.withLock { $0 = new }
    }

    func post(
        _ url: String, headers: [(name: String, value: String)], body: [UInt8], timeout: Duration,
        completion: @escaping @Sendable (Result<SenderAnswer, SenderError>) -> Void
    ) {
        let delivery = Delivery(
            url: url, headers: Dictionary(uniqueKeysWithValues: headers.map { ($0.name, $0.value) }), body: body)
        let result = answer.withLock { $0 }(delivery)
        deliveries.record(delivery)
        completion(result)
    }

    /// Returns the texts of a room's messages, each revision once, in the order of the deliveries.
    static func texts(of room: String, in deliveries: [Delivery]) -> [String] {
        var (texts, last) = ([String](), Int64(0))
        for delivery in deliveries {
            for message in delivery.messages?.messages ?? [] where delivery.messages?.room == room {
                if message.rev > last { texts.append(message.text) }
                last = max(last, message.rev)
            }
        }
        return texts
    }

    func texts(of room: String) -> [String] { Self.texts(of: room, in: deliveries.events) }
}

@Suite("A webhook", .timeLimit(.minutes(30)))
struct WebhookTests {
    private struct State: Decodable {
        struct Stopped: Decodable, Equatable {
            var room: String?
            var rev: Int64?
            var event: Int64?
        }

        struct Failure: Decodable {
            var status: Int?
            var detail: String
        }

        var id: String
        var url: String
        var rooms: [String]
        var enabled: Bool
        var secret: String?
        var state: String
        var pausedBecause: String?
        var roomsBehind: Int
        var stoppedRooms: [Stopped]
        var lastError: Failure?
    }

    private let receiver = FakeReceiver()

    private func with(
        configure: @Sendable (inout ServerConfiguration) -> Void = { _ in },
        _ body: (LiveServer, HTTPClient) throws -> Void
    ) async throws {
        try await withTokenServer(configure: {
            $0.webhookSender = receiver
            configure(&$0)
        }) { server in
            try body(server, HTTPClient(port: server.port))
        }
    }

    private func request(
        _ client: HTTPClient, _ method: HTTPRequest.Method, _ target: String, _ body: String = "",
        by user: String = "root"
    ) throws -> Response {
        let token = try user == "root" ? TestToken.of("root", #""admin":true"#) : TestToken.of(user)
        return try client.request(method, target, fields: [.bearer(token)], body: Array(body.utf8))
    }

    private func state(_ client: HTTPClient, _ id: String = "a") throws -> State {
        try decode(request(client, .get, "/v1/admin/webhooks/\(id)").body, as: State.self)
    }

    /// Asks for the state until it is as wanted.
    private func wait(_ client: HTTPClient, until isWanted: (State) -> Bool) throws -> State {
        var found = try state(client)
        try waitUntil {
            found = try state(client)
            return isWanted(found)
        }
        return found
    }

    private func send(_ client: HTTPClient, _ text: String, to room: String = "lobby") throws {
        let sent = try request(
            client, .post, "/v1/rooms/\(room)/messages", "{\"text\":\"\(text)\"}", by: "alice")
        #expect(sent.status == .created)
    }

    @discardableResult
    private func set(_ client: HTTPClient, _ fields: String = "") throws -> State {
        let answer = try request(
            client, .put, "/v1/admin/webhooks/a", "{\"url\":\"https://example.com/hook\"\(fields)}")
        #expect(answer.status == .created || answer.status == .ok, "\(answer.text)")
        return try decode(answer.body, as: State.self)
    }

    @Test func `a delivery is not signed with a secret whose time is over`() throws {
        let (old, new) = (
            "whsec_" + String(repeating: "A", count: 43) + "=", "whsec_" + String(repeating: "B", count: 42) + "A="
        )
        func signature(_ secrets: [Webhook.Secret]) throws -> String {
            let webhook = Webhook(
                number: 1, id: try WebhookID("a"), version: 1, url: "https://example.com/", rooms: [], events: [],
                isEnabled: true, secrets: secrets, createdAt: .now(), epoch: "e")
            let delivery = Delivery(epoch: "e", to: webhook.id)
            return try #require(
                DeliverySigner(webhook).headers(of: delivery).first { $0.name == "webhook-signature" }
            ).value
        }
        let future = Timestamp(milliseconds: Timestamp.now().milliseconds + 60_000)
        let both = try signature([Webhook.Secret(new), Webhook.Secret(old, until: future)])
        #expect(both.split(separator: " ").count == 2)
        let one = try signature([Webhook.Secret(new), Webhook.Secret(old, until: Timestamp(milliseconds: 1))])
        #expect(one.split(separator: " ").count == 1)
    }

    @Test func `gets the messages of its rooms, signed with the secret that its creation has told`() async throws {
        try await with { _, client in
            try send(client, "before")
            let created = try set(client, #","rooms":["lob*"]"#)
            let secret = try #require(created.secret.flatMap { WebhookSecret($0) })
            #expect(try state(client).secret == nil)
            #expect(try set(client, #","rooms":["lob*"]"#).secret == nil)
            try send(client, "one")
            try send(client, "elsewhere", to: "other")
            let first = try #require(try receiver.deliveries.wait { !$0.isEmpty }.first)
            #expect(first.url == "https://example.com/hook")
            #expect(first.text.hasPrefix(#"{"type":"messages","room":"lobby","since":1,"messages":[{"#))
            let (id, time) = (
                try #require(first.headers["webhook-id"]), try #require(first.headers["webhook-timestamp"])
            )
            #expect(
                first.headers["webhook-signature"]
                    == secret.signature(of: first.body, id: id, timestamp: try #require(Int64(time))))
            let behind = try wait(client) { $0.roomsBehind == 0 }
            #expect(behind.state == "ok" && behind.roomsBehind == 0)
            try send(client, "two")
            _ = try receiver.deliveries.wait { FakeReceiver.texts(of: "lobby", in: $0) == ["one", "two"] }
            #expect(receiver.texts(of: "other") == [])
        }
    }

    @Test func `begins with the first message if it is told to, and misses nothing over a restart`() async throws {
        try await with { server, client in
            for number in 1...150 { try send(client, "\(number)") }
            receiver.answers(503)
            try set(client, #","from":"start""#)
            _ = try receiver.deliveries.wait { !$0.isEmpty }
            server.stop()
            receiver.answers(200)
            try server.start()
            _ = try receiver.deliveries.wait { FakeReceiver.texts(of: "lobby", in: $0).count == 150 }
            #expect(receiver.texts(of: "lobby") == (1...150).map(String.init))
        }
    }

    @Test(arguments: ["message", "push"])
    func `reaches all rooms while as many of them fail as are read at once`(events: String) async throws {
        try await with(configure: { $0.webhookRoomsOfPoll = 2 }) { _, client in
            func room(of delivery: FakeReceiver.Delivery) -> String? {
                delivery.text.firstMatch(of: /"room":"([^"]*)"/).map { String($0.1) }
            }
            receiver.answers { delivery in
                let isFailing = ["room-0", "room-1"].contains { delivery.text.contains(#""room":"\#($0)""#) }
                return .success(SenderAnswer(status: isFailing ? 503 : 204))
            }
            try set(client, #","events":["\#(events)"]"#)
            let rooms = (0..<5).map { "room-\($0)" }
            for room in rooms {
                try send(client, "one", to: room)
                let joined = try request(client, .put, "/v1/rooms/\(room)/members/bob", by: "alice")
                #expect(joined.status == .created)
                try send(client, "two", to: room)
            }
            _ = try receiver.deliveries.wait { Set($0.compactMap(room(of:))).isSuperset(of: rooms) }
        }
    }

    @Test func `is told of a new epoch before anything else`() async throws {
        try await with { server, client in
            try set(client)
            try send(client, "one")
            _ = try receiver.deliveries.wait { FakeReceiver.texts(of: "lobby", in: $0) == ["one"] }
            server.stop()
            let count = receiver.deliveries.events.count
            // As in a database that was restored from a backup.
            try Database(of: server.configuration).execute("UPDATE webhooks SET epoch = 'before'")
            try server.start()
            try send(HTTPClient(port: server.port), "two")
            let deliveries = try receiver.deliveries.wait { $0.count >= count + 2 }
            #expect(deliveries.dropFirst(count).prefix(2).map(\.type) == ["epoch", "messages"])
        }
    }

    @Test func `tries again under the same id, while other rooms are on time`() async throws {
        try await with { _, client in
            let failures = Mutex(0)
            receiver.answers { delivery in
                guard delivery.messages?.room == "bad" else { return .success(SenderAnswer(status: 200)) }
                let count = failures.withLock { count in
                    count += 1
                    return count
                }
                return count < 3 ? .failure(SenderError("no connection")) : .success(SenderAnswer(status: 200))
            }
            try set(client)
            try send(client, "x", to: "bad")
            _ = try receiver.deliveries.wait { !$0.isEmpty }
            try send(client, "y", to: "bad")
            try send(client, "z", to: "good")
            _ = try receiver.deliveries.wait { FakeReceiver.texts(of: "bad", in: $0) == ["x", "y"] }
            let ids = receiver.deliveries.events.filter { $0.messages?.room == "bad" }.map { $0.headers["webhook-id"] }
            #expect(Set(ids.prefix(3)).count == 1 && ids[3] != ids[0])
            #expect(receiver.texts(of: "good") == ["z"])
            #expect(try wait(client) { $0.state == "ok" }.lastError?.detail == "no connection")
        }
    }

    @Test func `stops a room whose delivery is refused thrice, until an admin skips it`() async throws {
        try await with { _, client in
            receiver.answers { delivery in
                .success(SenderAnswer(status: delivery.text.contains("poison") ? 422 : 200))
            }
            try set(client)
            try send(client, "poison")
            let stopped = try wait(client) { !$0.stoppedRooms.isEmpty }
            #expect(stopped.stoppedRooms == [State.Stopped(room: "lobby", rev: 1)])
            try send(client, "after")
            try waitUntil {
                try client.get("/metrics").text.contains(#"backscroll_webhook_rooms_stopped{webhook="a"} 1"#)
            }
            let skipped = try request(client, .post, "/v1/admin/webhooks/a/skip", #"{"room":"lobby","rev":1}"#)
            #expect(skipped.status == .ok)
            _ = try receiver.deliveries.wait { $0.last?.text.contains("after") == true }
            #expect(receiver.deliveries.events.filter { $0.text.contains("poison") }.count == 3)
            #expect(try wait(client) { $0.roomsBehind == 0 }.stoppedRooms == [])
        }
    }

    @Test func `shows in the metrics how late it is, and that it is paused`() async throws {
        func configure(_ configuration: inout ServerConfiguration) {
            configuration.webhookSender = receiver
            configuration.metricsAddress = ListenAddress(host: "127.0.0.1", port: 0)
        }
        try await withTokenServer(configure: configure) { server in
            let client = try HTTPClient(port: server.port)
            let watching = try HTTPClient(port: #require(server.server.metricsPort))
            func waitFor(_ sample: String) throws {
                let pattern = try Regex("(?m)^backscroll_webhook_\(sample)$")
                try waitUntil { try watching.get("/metrics").text.contains(pattern) }
            }
            receiver.answers(503)
            try set(client)
            try send(client, "one")
            try waitFor(#"attempts_total\{[^}]*result="5xx"[^}]*\} [1-9][0-9]*"#)
            try waitFor(#"rooms_behind\{webhook="a"\} 1"#)
            try waitFor(#"delay_seconds\{webhook="a"\} [0-9]*[.][0-9]+"#)
            try waitFor(#"paused\{webhook="a"\} 0"#)
            receiver.answers(410)
            try waitFor(#"paused\{webhook="a"\} 1"#)
        }
    }

    @Test func `is paused by 410, and goes on when it is enabled again`() async throws {
        try await with { _, client in
            receiver.answers(410)
            try set(client)
            try send(client, "one")
            #expect(try wait(client) { $0.state == "paused" }.pausedBecause == "gone")
            receiver.answers(200)
            #expect(try set(client, #","enabled":true"#).state == "ok")
            _ = try receiver.deliveries.wait { $0.count == 2 }
            #expect(receiver.texts(of: "lobby") == ["one"])
            // Turned off, it waits.
            #expect(try set(client, #","enabled":false"#).state == "paused")
            try send(client, "two")
            #expect(try set(client, #","enabled":true"#).roomsBehind == 1)
            _ = try receiver.deliveries.wait { FakeReceiver.texts(of: "lobby", in: $0) == ["one", "two"] }
        }
    }

    @Test(arguments: ["message", "push"])
    func `is paused after five days of failures, also if the server restarts meanwhile`(events: String) async throws {
        try await with { server, client in
            try send(client, "one")
            #expect(try request(client, .put, "/v1/rooms/lobby/members/bob", by: "bob").status == .created)
            receiver.answers(503)
            try set(client, #","events":["\#(events)"]"#)
            try send(client, "two")
            _ = try wait(client) { $0.lastError?.status == 503 }
            server.stop()
            let since = Timestamp.now().milliseconds - 6 * 86_400_000
            try Database(of: server.configuration).execute("UPDATE webhooks SET failing_since = \(since)")
            try server.start()
            let paused = try wait(HTTPClient(port: server.port)) { $0.state == "paused" }
            #expect(paused.pausedBecause == "failing")
        }
    }

    @Test func `delivers again from a revision or a time, signs with two secrets after a rotation, and can be tested`()
        async throws
    {
        try await with { _, client in
            let old = try #require(try set(client).secret.flatMap { WebhookSecret($0) })
            try send(client, "one")
            try send(client, "two")
            _ = try receiver.deliveries.wait { FakeReceiver.texts(of: "lobby", in: $0).count == 2 }
            _ = try wait(client) { $0.roomsBehind == 0 }
            for body in [#"{"room":"lobby","since":1}"#, #"{"since_time":"2020-01-01T00:00:00Z"}"#] {
                let count = receiver.deliveries.events.count
                #expect(try request(client, .post, "/v1/admin/webhooks/a/replay", body).status == .ok)
                let again = try receiver.deliveries.wait { $0.count > count }
                #expect(again[count].messages?.since == (body.contains("since_time") ? 0 : 1))
                _ = try wait(client) { $0.roomsBehind == 0 }
            }
            let rotated = try request(client, .post, "/v1/admin/webhooks/a/rotate", #"{"keep_hours":1}"#)
            let new = try #require(try decode(rotated.body, as: State.self).secret.flatMap { WebhookSecret($0) })
            let count = receiver.deliveries.events.count
            let tested = try request(client, .post, "/v1/admin/webhooks/a/test")
            #expect(tested.text.contains(#""received":true"#))
            let test = receiver.deliveries.events[count]
            #expect(test.type == "test")
            let (id, time) = (try #require(test.headers["webhook-id"]), try #require(test.headers["webhook-timestamp"]))
            let seconds = try #require(Int64(time))
            #expect(
                test.headers["webhook-signature"]
                    == [new, old].map { $0.signature(of: test.body, id: id, timestamp: seconds) }.joined(separator: " ")
            )
        }
    }

    @Test func `tells that a room was deleted`() async throws {
        try await with { _, client in
            try set(client)
            try send(client, "one")
            #expect(try request(client, .delete, "/v1/rooms/lobby", by: "alice").status == .noContent)
            _ = try receiver.deliveries.wait { $0.last?.type == "room.deleted" }
            #expect(try wait(client) { $0.roomsBehind == 0 }.roomsBehind == 0)
        }
    }

    @Test func `tells that a stopped room was deleted once it is skipped`() async throws {
        try await with { _, client in
            receiver.answers { .success(SenderAnswer(status: $0.type == "messages" ? 422 : 200)) }
            try set(client)
            try send(client, "poison")
            _ = try wait(client) { $0.stoppedRooms == [State.Stopped(room: "lobby", rev: 1)] }
            #expect(try request(client, .delete, "/v1/rooms/lobby", by: "alice").status == .noContent)
            func ask(_ action: String, _ place: String) throws -> Response {
                try request(client, .post, "/v1/admin/webhooks/a/\(action)", #"{"room":"lobby",\#(place)}"#)
            }
            for place in [#""since":0"#, #""since_time":"2020-01-01T00:00:00Z""#] {
                #expect(try ask("replay", place).problem.code == "room_deleted")
            }
            #expect(try ask("skip", #""rev":2"#).problem.code == "room_deleted")
            #expect(try ask("skip", #""rev":1"#).status == .ok)
            _ = try receiver.deliveries.wait { $0.last?.type == "room.deleted" }
            #expect(try wait(client) { $0.roomsBehind == 0 }.stoppedRooms == [])
            #expect(try ask("skip", #""rev":1"#).problem.code == "room_deleted")
        }
    }

    @Test(arguments: [0, 2])
    func `ends a deleted room whose deletion is refused once it is skipped`(messages: Int) async throws {
        try await with { _, client in
            receiver.answers { .success(SenderAnswer(status: $0.type == "room.deleted" ? 422 : 200)) }
            try set(client)
            let made = try request(client, .put, "/v1/rooms/lobby", #"{"title":"x"}"#, by: "alice")
            #expect(made.status == .created)
            for _ in 0..<messages { try send(client, "x") }
            _ = try wait(client) { $0.roomsBehind == 0 }
            #expect(try request(client, .delete, "/v1/rooms/lobby", by: "alice").status == .noContent)
            let stopped = try wait(client) { !$0.stoppedRooms.isEmpty }
            #expect(stopped.stoppedRooms == [State.Stopped(room: "lobby", rev: Int64(messages))])
            let skip = #"{"room":"lobby","rev":\#(messages)}"#
            let skipped = try request(client, .post, "/v1/admin/webhooks/a/skip", skip)
            let state = try decode(skipped.body, as: State.self)
            #expect(state.stoppedRooms == [] && state.roomsBehind == 0)
            try waitUntil {
                try client.get("/metrics").text.contains(#"backscroll_webhook_rooms_stopped{webhook="a"} 0"#)
            }
            #expect(receiver.deliveries.events.filter { $0.type == "room.deleted" }.count == 3)
        }
    }

    @Test func `gets events of rooms, members and reports in the order of the room's messages`() async throws {
        try await with { server, client in
            receiver.answers(503)
            try set(client, #","rooms":["*"],"events":["message","room","member","report"]"#)
            try send(client, "one")
            #expect(try request(client, .put, "/v1/rooms/lobby/members/bob", by: "alice").status == .created)
            try send(client, "two")
            #expect(try request(client, .put, "/v1/rooms/lobby", #"{"title":"x"}"#, by: "alice").status == .ok)
            let report = #"{"reason":"spam","note":"why?"}"#
            #expect(
                try request(client, .post, "/v1/rooms/lobby/messages/2/reports", report, by: "bob").status == .accepted)
            #expect(try request(client, .put, "/v1/admin/bans/mallory", "{}").status == .created)
            // What waits survives a restart.
            server.stop()
            receiver.answers(200)
            try server.start()
            func seen(_ deliveries: [FakeReceiver.Delivery]) -> [String] {
                var (seen, last, rev) = ([String](), Int64(0), Int64(0))
                for delivery in deliveries {
                    if let event = delivery.event, event.room == "lobby", event.event > last {
                        seen.append("\(event.type) \(event.rev ?? -1) \(event.user ?? "-") \(event.by ?? "-")")
                        last = event.event
                    }
                    for message in delivery.messages?.messages ?? [] where message.rev > rev {
                        seen.append(message.text)
                        rev = message.rev
                    }
                }
                return seen
            }
            // Those before the restart were not received.
            let accepted = try receiver.deliveries.wait { deliveries in
                seen(deliveries.filter { $0.type != "messages" || $0.messages != nil }).count == 7
                    && deliveries.contains { $0.type == "member.banned" }
            }
            #expect(
                seen(accepted) == [
                    "room.created 0 - alice", "member.added 0 alice alice", "one", "member.added 1 bob alice", "two",
                    "room.changed 2 - alice", "report.made 2 alice bob",
                ])
            let banned = try #require(accepted.last { $0.type == "member.banned" }?.event)
            #expect(banned.room == nil && banned.rev == nil && banned.user == "mallory" && banned.by == "root")
            let again = try HTTPClient(port: server.port)
            _ = try wait(again) { $0.roomsBehind == 0 }
            // Refused for ever, an event stops its room until it is skipped.
            receiver.answers { delivery in .success(SenderAnswer(status: delivery.type == "member.left" ? 413 : 200)) }
            #expect(try request(again, .delete, "/v1/rooms/lobby/members/bob", by: "bob").status == .noContent)
            let stopped = try wait(again) { !$0.stoppedRooms.isEmpty }.stoppedRooms
            let number = try #require(stopped.first?.event)
            #expect(stopped == [State.Stopped(room: "lobby", event: number)])
            try send(again, "three")
            let skip = #"{"room":"lobby","event":\#(number)}"#
            #expect(try request(again, .post, "/v1/admin/webhooks/a/skip", skip).status == .ok)
            _ = try receiver.deliveries.wait { FakeReceiver.texts(of: "lobby", in: $0).last == "three" }
            #expect(try request(again, .delete, "/v1/rooms/lobby", by: "alice").status == .noContent)
            _ = try receiver.deliveries.wait { $0.last?.type == "room.deleted" }
            #expect(try wait(again) { $0.roomsBehind == 0 }.stoppedRooms == [])
        }
    }

    @Test func `is for admins, and needs a URL with https`() async throws {
        try await with { _, client in
            for body in [
                "{}", #"{"url":"http://example.com/"}"#, #"{"url":"https://user@example.com/"}"#,
                #"{"url":"https://"}"#, #"{"url":"https://bücher.example/"}"#, #"{"url":"https://localhost/"}"#,
                #"{"url":"ftp://example.com/"}"#, #"{"url":"https://example.com/","events":["everything"]}"#,
                #"{"url":"https://example.com/","rooms":[]}"#, #"{"url":"https://example.com/","from":"then"}"#,
            ] {
                let refused = try request(client, .put, "/v1/admin/webhooks/a", body)
                #expect(try refused.problem.code == "invalid_field", "\(body)")
            }
            #expect(try request(client, .get, "/v1/admin/webhooks", by: "alice").problem.code == "forbidden")
            #expect(try request(client, .get, "/v1/admin/webhooks").text == #"{"webhooks":[]}"#)
            #expect(try request(client, .delete, "/v1/admin/webhooks/a").problem.code == "webhook_not_found")
            try set(client)
            #expect(try request(client, .delete, "/v1/admin/webhooks/a").status == .noContent)
            try send(client, "nobody hears")
            #expect(receiver.deliveries.events.isEmpty)
        }
    }
}
