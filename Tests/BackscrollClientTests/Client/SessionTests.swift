import BackscrollTimeline
import Foundation
import Server
import Synchronization
import TestSupport
import Testing
import Tokens
import Wire

@testable import BackscrollClient

/// What ends a session, and what a session tries again.
@Suite("A session", .timeLimit(.minutes(30)))
struct SessionTests {
    private func error(_ code: String, retryAfter: Int? = nil) -> String {
        let wait = retryAfter.map { #","retry_after":\#($0)"# } ?? ""
        return #"{"type":"error","code":"\#(code)","message":"By the test."\#(wait)}"#
    }

    @Test(arguments: [(429, "rate_limited"), (503, "unavailable")])
    func `repeats a send after the time that the server asks for, not before`(status: Int, code: String) async throws {
        let server = try ChatServer()
        let transport = FaultyTransport()
        let client = server.client { $0.transport = transport }
        let room = try await client.room("lobby").open(at: .newest)
        transport.refuse(status: status, code: code, retryAfter: 20) { $0.method == "POST" }
        try await room.send("hello")
        let times = transport.times(of: "POST", "/v1/rooms/lobby/messages")
        try #require(times.count == 2)
        // Without that time it would be one second.
        #expect(times[1] - times[0] >= .seconds(20))
        #expect(try await server.client("bob").history(of: "lobby").map(\.text) == ["hello"])
        await client.close()
    }

    @Test func `counts the time that the server asks for from its answer, however late the ticks are`() async throws {
        let server = try ChatServer()
        let transport = FaultyTransport()
        let time = ManualTime()
        let client = server.client {
            $0.transport = transport
            $0.clock.elapsed = { time.elapsed }
            let sleep = $0.clock.sleep
            // Only the test lets the room's time pass.
            $0.clock.sleep = { try await sleep($0 == Room.tick ? .seconds(1_000_000) : $0) }
        }
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        time.elapsed = .seconds(100)
        transport.refuse(status: 429, code: "rate_limited", retryAfter: 20) { $0.method == "POST" }
        try await room.enqueue(ChatDraft("hello", clientMessageID: "a"))
        func state() async -> RoomMachine.SendState? {
            guard case .send(_, let state)? = await room.row(ofSend: "a")?.content else { return nil }
            return state
        }
        while await state() != .queued { await Task.yield() }
        time.elapsed = .seconds(119)
        await room.advanceTime()
        #expect(await state() == .queued)
        time.elapsed = .seconds(121)
        await room.advanceTime()
        #expect(try await room.stored("a").text == "hello")
        await client.close()
    }

    @Test(arguments: [(429, "rate_limited"), (503, "overloaded")])
    func `loads a page after the time that the server asks for`(status: Int, code: String) async throws {
        let server = try ChatServer()
        let transport = FaultyTransport()
        let client = server.client { $0.transport = transport }
        transport.refuse(status: status, code: code, retryAfter: 20) { $0.method == "GET" }
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        let times = transport.times(of: "GET", "/v1/rooms/lobby/messages")
        #expect(times.count == 2 && times[1] - times[0] >= .seconds(20))
        await client.close()
    }

    @Test(
        arguments: [
            (4408, "", nil), (4429, "rate_limited", 20), (4429, "rate_limited", nil), (4503, "unavailable", 20),
            (1001, "", nil), (1011, "internal_error", nil), (1013, "", nil), (1006, "", nil),
        ] as [(Int, String, Int?)])
    func `comes back after a close code that passes, and not before the time in it`(
        code: Int, reason: String, retryAfter: Int?
    ) async throws {
        let server = try ChatServer()
        let transport = FaultyTransport()
        let client = server.client { $0.transport = transport }
        let room = try await client.room("lobby").open(at: .newest)
        let other = try await client.room("other").open(at: .newest)
        try await room.isLive()
        try await other.isLive()
        let ended = ClientClock.fast
        let start = ended.elapsed()
        await transport.socket?.end(
            code: code, reason: reason, after: reason.isEmpty ? nil : error(reason, retryAfter: retryAfter))
        try await server.post("meanwhile")
        try await room.shows { $0.texts == ["meanwhile"] && $0.connection == .live }
        try await other.isLive()
        #expect(transport.connections.count == 2)
        if let retryAfter { #expect(ended.elapsed() - start >= .seconds(retryAfter)) }
        await client.close()
    }

    @Test func `ends all rooms and the inbox when the user is banned from the server`() async throws {
        let server = try ChatServer { configuration in
            var sources = KeySources()
            sources.secret = TestKeys.secret
            configuration.tokens = (try? sources.load()).map { TokenRules(keys: $0) }
        }
        let end = Wire.Timestamp.now().milliseconds / 1000 + 600
        func client(_ payload: String) -> BackscrollClient {
            server.client(.token { try TestKeys.token(payload: payload) })
        }
        let alice = client(#"{"sub":"alice","exp":\#(end)}"#)
        let inbox = try await alice.rooms.open()
        let room = try await alice.room("lobby").open()
        let other = try await alice.room("other").open()
        try await room.isLive()
        try await other.isLive()
        try await inbox.shows { $0.isLive }
        let admin = client(#"{"sub":"root","admin":true,"exp":\#(end)}"#)
        _ = try await admin.request("PUT", "/v1/admin/bans/alice", body: Array(#"{"scope":"all"}"#.utf8))
        for await _ in room.changes {}
        for await _ in other.changes {}
        for await _ in inbox.changes {}
        for ended in [room, other] { #expect(await ended.ending?.code == "banned") }
        #expect(await inbox.ending?.code == "banned")
        let error = await #expect(throws: BackscrollClientError.self) { try await room.send("hello") }
        #expect(error?.code == "banned" && error?.isTemporary == false)
        // Nothing goes on by itself, and a later ban's end lets the user in again.
        _ = try await admin.request("DELETE", "/v1/admin/bans/alice")
        let again = try await alice.room("lobby").open()
        try await again.isLive()
        await alice.close()
    }

    @Test func `gives up a socket that does not answer a ping, and resumes on another one`() async throws {
        let server = try ChatServer()
        let transport = FaultyTransport()
        // Two seconds of this machine, so that a busy one does not lose other pongs.
        let client = server.client {
            $0.transport = transport
            $0.pongTimeout = .seconds(100)
        }
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        let silent = try #require(transport.socket)
        silent.fallSilent()
        try await server.post("unheard")
        let view = try await room.shows { $0.texts == ["unheard"] && $0.connection == .live }
        #expect(view.messages.count == 1)
        #expect(transport.socket !== silent)
        await client.close()
    }

    @Test func `asks again for a room that the user's own rooms have taken in between`() async throws {
        let server = try ChatServer()
        let transport = FaultyTransport()
        let client = server.client { $0.transport = transport }
        let inbox = try await client.rooms.open()
        try await inbox.make("den")
        let room = try await client.room("den").open(at: .newest)
        try await room.isLive()
        let socket = try #require(transport.socket)
        let hasAsked = Atomic(false)
        socket.onSend { text in
            if text.contains("since") { hasAsked.store(true, ordering: .relaxed) }
            return true
        }
        let message = "By the test."
        socket.inject(#"{"type":"error","code":"already_subscribed","message":"\#(message)","room":"den"}"#)
        for number in 1...3 { try await server.post("\(number)", to: "den") }
        try await room.shows { $0.texts == ["1", "2", "3"] && $0.connection == .live }
        try await inbox.shows { $0.rooms.first?.unread == 3 }
        // The frame of the test was read before those of the messages.
        let isAskedFor = hasAsked.load(ordering: .relaxed)
        #expect(isAskedFor)
        #expect(transport.socket === socket)
        await client.close()
    }

    @Test(arguments: [false, true])
    func `misses no edit of a room that the user's own rooms take while it is being opened`(
        isSocketLost: Bool
    ) async throws {
        let server = try ChatServer()
        let transport = FaultyTransport()
        let bob = server.client("bob")
        try await bob.rooms.make("den")
        try await bob.rooms.add("alice", to: "den")
        try await bob.post("first", to: "den")
        let client = server.client { $0.transport = transport }
        let inbox = try await client.rooms.open()
        try await inbox.shows { $0.isLive && $0.rooms.first?.head == 1 }
        let socket = try #require(transport.socket)
        let marked = Signal()
        let taken = Signal()
        let isMarked = Atomic(false)
        socket.onText { text in
            if text.contains("backscroll.mark.") {
                isMarked.store(true, ordering: .relaxed)
                marked.raise()
            } else if isMarked.load(ordering: .relaxed), text.contains(#""type":"live","room":"den""#) {
                taken.raise()
            }
        }
        let isFirst = Atomic(true)
        socket.onSend { [weak socket] text in
            guard text.contains("since"), isFirst.exchange(false, ordering: .relaxed) else { return true }
            // The room's screen has a page. Before the server reads the request for the changes since, a message is
            // edited, and the user joins again, which adds the room to the user's own ones.
            await marked.wait()
            do {
                _ = try await bob.message("PATCH", "/v1/rooms/den/messages/1", body: Array(#"{"text":"edited"}"#.utf8))
                try await bob.rooms.remove("alice", from: "den")
                try await bob.rooms.add("alice", to: "den")
            } catch {
                Issue.record(error)
            }
            await taken.wait()
            if isSocketLost { await socket?.end(code: 1006) }
            return !isSocketLost
        }
        let room = try await client.room("den").open(at: .newest)
        try await room.shows { $0.texts == ["edited"] && $0.connection == .live }
        try await bob.post("second", to: "den")
        try await room.shows { $0.texts == ["edited", "second"] }
        try await inbox.shows { $0.rooms.first?.head == 2 && $0.rooms.first?.lastMessage?.text == "second" }
        #expect((transport.socket === socket) == !isSocketLost)
        await client.close()
        await bob.close()
    }

    @Test func `throws when the page of a jump is refused, and stays where it is`() async throws {
        let server = try ChatServer()
        try await server.fill(30)
        let transport = FaultyTransport()
        let client = server.client {
            $0.pageLimit = 5
            $0.transport = transport
        }
        let room = try await client.room("lobby").open(at: .newest)
        let before = await room.view.texts
        transport.refuse(status: 403, code: "forbidden") { $0.target.contains("around=3&") }
        let error = await #expect(throws: BackscrollClientError.self) { try await room.jump(to: .seq(3)) }
        #expect(error?.code == "forbidden" && error?.status == 403)
        #expect(await room.view.texts == before)
        try await room.jump(to: .seq(3))
        #expect(await room.view.texts.contains("3"))
        await client.close()
    }

    @Test func `puts a read mark again whose request has failed`() async throws {
        let server = try ChatServer()
        try await server.fill(5)
        let transport = FaultyTransport()
        let client = server.client { $0.transport = transport }
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        transport.refuse(2, status: 503, code: "unavailable") { $0.method == "PUT" }
        await room.setViewport(atBottom: true, lastVisible: 5)
        let reader = server.client()
        let inbox = try await reader.rooms.open()
        try await inbox.join("lobby")
        try await inbox.shows { $0.rooms.first?.read == 5 }
        #expect(transport.times(of: "PUT", "/v1/rooms/lobby/read").count == 3)
        // A refusal that does not pass is not repeated.
        transport.refuse(100, status: 403, code: "forbidden") { $0.method == "PUT" }
        try await server.post("6")
        try await room.shows { $0.texts.last == "6" }
        await room.setViewport(atBottom: true, lastVisible: 6)
        await client.close()
        await reader.close()
    }

    @Test func `repeats an edit, a deletion or a reaction whose answer is lost, and makes it once`() async throws {
        let server = try ChatServer()
        let transport = FaultyTransport()
        let client = server.client { $0.transport = transport }
        let room = try await client.room("lobby").open(at: .newest)
        for text in ["1", "2", "3"] { try await room.send(text) }
        transport.loseAnswers { $0.method == "PATCH" }
        let edited = try await room.edit(1, text: "one", ifRev: 1)
        #expect(edited.text == "one" && edited.rev == 4)
        transport.loseAnswers { $0.method == "PUT" }
        #expect(try await room.react(2, with: "👍").reactions.map(\.count) == [1])
        transport.loseAnswers { $0.method == "DELETE" }
        #expect(try await room.unreact(2, with: "👍").reactions.isEmpty)
        #expect(try await room.pin(2).pinned != nil)
        #expect(try await room.pins().map(\.seq) == [2])
        #expect(try await room.unpin(2).pinned == nil)
        #expect(try await room.pins().isEmpty)
        transport.loseAnswers { $0.method == "DELETE" }
        #expect(try await room.delete(3).isDeleted)
        #expect(try await server.client("bob").history(of: "lobby").map(\.rev) == [4, 8, 9])
        await client.close()
    }

    @Test func `edits a message only if it has the expected revision`() async throws {
        let server = try ChatServer()
        let client = server.client()
        let room = try await client.room("lobby").open(at: .newest)
        let sent = try await room.send("first")
        let edited = try await room.edit(1, text: "second", ifRev: sent.rev)
        let late = await #expect(throws: BackscrollClientError.self) {
            try await room.edit(1, text: "late", ifRev: sent.rev)
        }
        #expect(late?.status == 412 && late?.code == BackscrollClientError.preconditionFailed)
        let mention = await #expect(throws: BackscrollClientError.self) {
            try await room.edit(1, mentions: [], mentionsRoom: true, ifRev: sent.rev)
        }
        #expect(mention?.status == 412)
        let history = try await server.client("bob").history(of: "lobby")
        #expect(history.map(\.text) == ["second"] && history.map(\.rev) == [edited.rev])
        let third = try await room.edit(1, text: "third", mentions: [], ifRev: edited.rev)
        #expect(third.text == "third")
        await client.close()
    }

    @Test func `gives up an edit after some attempts, and waits as long as the server asks`() async throws {
        let server = try ChatServer()
        let transport = FaultyTransport()
        let client = server.client { $0.transport = transport }
        let room = try await client.room("lobby").open(at: .newest)
        try await room.send("1")
        transport.refuse(100, status: 429, code: "rate_limited", retryAfter: 10) { $0.method == "PATCH" }
        let error = await #expect(throws: BackscrollClientError.self) { try await room.edit(1, text: "one") }
        #expect(error?.code == "rate_limited" && error?.retryAfter == 10)
        let times = transport.times(of: "PATCH", "/v1/rooms/lobby/messages/1")
        try #require(times.count == ClientOptions().changeAttempts)
        #expect(times[1] - times[0] >= .seconds(10) && times[2] - times[1] >= .seconds(10))
        transport.refuse(100, status: 403, code: "not_the_sender") { $0.method == "PATCH" }
        let refused = await #expect(throws: BackscrollClientError.self) { try await room.edit(1, text: "one") }
        #expect(refused?.code == "not_the_sender")
        #expect(transport.times(of: "PATCH", "/v1/rooms/lobby/messages/1").count == times.count + 1)
        await client.close()
    }

    @Test func `makes the changes of a message in the order of the calls, also when the first is repeated`()
        async throws
    {
        let server = try ChatServer()
        let transport = FaultyTransport()
        let client = server.client { $0.transport = transport }
        let room = try await client.room("lobby").open(at: .newest)
        try await room.send("1")
        transport.refuse(status: 503, code: "unavailable") { $0.method == "PUT" }
        let first = Task { try await room.react(1, with: "👍") }
        // The first one has been refused, and waits.
        while transport.times(of: "PUT", "/v1/rooms/lobby/messages/1").isEmpty { await Task.yield() }
        let last = try await room.unreact(1, with: "👍")
        #expect(last.reactions.isEmpty)
        #expect(try await first.value.reactions.map(\.key) == ["👍"])
        #expect(try await server.client("bob").history(of: "lobby").first?.reactions.isEmpty == true)
        await client.close()
    }

    @Test func `removes a reaction of the user that the message does not list`() async throws {
        let server = try ChatServer()
        try await server.fill(1)
        for number in 10..<70 {
            _ = try await server.client("a\(number)").message("PUT", "/v1/rooms/lobby/messages/1/reactions/+1")
        }
        let client = server.client("zoe")
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        #expect(try await room.hasReacted(1, with: "+1") == false)
        #expect(try await room.toggleReaction(1, with: "+1").reactions[0].count == 61)
        #expect(await room.view.messages[0].reactions[0].users.allSatisfy { $0.string != "zoe" })
        #expect(try await room.hasReacted(1, with: "+1"))
        #expect(try await room.toggleReaction(1, with: "+1").reactions[0].count == 60)
        #expect(try await room.reactors(1, with: "+1", after: "a67").users == ["a68", "a69"])
        await client.close()
    }
}

/// A time that a test sets.
private final class ManualTime: Sendable {
    private let time = Mutex(Duration.zero)

    var elapsed: Duration {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}
