import BackscrollTimeline
import Foundation
import Server
import TestSupport
import Testing

@testable import BackscrollClient

@Suite("The inbox", .timeLimit(.minutes(30)))
struct InboxTests {
    /// Returns the list as the server has it.
    private func serversList(_ client: BackscrollClient) async throws -> [RoomSummary] {
        var rooms: [RoomSummary] = []
        var cursor: String?
        repeat {
            let answer = try await client.listRooms(after: cursor)
            rooms += answer.rooms
            cursor = answer.cursor
        } while cursor != nil
        return rooms
    }

    /// Makes rooms that alice and bob are members of, each with a message of bob.
    private func makeRooms(_ server: ChatServer, _ ids: [String]) async throws {
        let bob = server.client("bob")
        for id in ids {
            try await bob.rooms.make(id, visibility: .private, title: id.uppercased())
            try await bob.rooms.add("alice", to: id)
            try await bob.post("hello \(id)", to: id)
        }
    }

    @Test func `has the latest room first, with its unread count and its newest message`() async throws {
        let server = try ChatServer()
        try await makeRooms(server, ["a", "b", "c"])
        let client = server.client()
        let inbox = try await client.rooms.open()
        #expect(await inbox.view.rooms.map(\.id) == ["c", "b", "a"])
        let listed = try await serversList(client)
        #expect(await inbox.view.rooms == listed)
        #expect(await MainActor.run { inbox.list.rooms.map(\.title) } == ["C", "B", "A"])
        try await inbox.shows { $0.isLive }
        try await server.post("again", to: "a")
        let view = try await inbox.shows { $0.rooms.first?.id == "a" }
        #expect(view.rooms[0].lastMessage?.text == "again" && view.rooms[0].unread == 2 && view.unreadRooms == 3)
        #expect(try await serversList(client) == view.rooms)
        // An own message is not unread.
        try await client.post("mine", to: "b")
        try await inbox.shows { $0.rooms.first?.id == "b" && $0.rooms[0].unread == 1 }
        #expect(await client.rooms === inbox)
        await client.close()
    }

    @Test func `reports each change as a difference`() async throws {
        let server = try ChatServer()
        try await makeRooms(server, ["a", "b", "c"])
        let client = server.client()
        let inbox = try await client.rooms.open()
        let called = Task { () -> [RoomSummary] in
            var rooms: [RoomSummary] = []
            for await change in inbox.changes {
                rooms = change.difference.applied(to: rooms)
                #expect(rooms == change.view.rooms)
                if rooms.first?.lastMessage?.text == "last" { break }
            }
            return rooms
        }
        let last = Signal()
        let calls = inbox.onChange { change in
            if change.view.rooms.first?.lastMessage?.text == "last" { last.raise() }
        }
        var changes = inbox.changes.makeAsyncIterator()
        let first = try #require(await changes.next())
        #expect(first.difference.inserted.map(\.room.id) == ["c", "b", "a"])
        try await inbox.shows { $0.isLive }
        try await server.post("again", to: "a")
        var next = try #require(await changes.next())
        while next.difference.isEmpty { next = try #require(await changes.next()) }
        #expect(next.difference.moved.map(\.id) == ["a"])
        #expect(next.difference.moved.map { [$0.from, $0.to] } == [[2, 0]])
        #expect(next.difference.updated.map(\.room.id) == ["a"])
        #expect(next.difference.inserted.isEmpty && next.difference.removed.isEmpty)
        let bob = server.client("bob")
        try await bob.rooms.remove("alice", from: "b")
        try await server.post("last", to: "c")
        #expect(await called.value.map(\.id) == ["c", "a"])
        await last.wait()
        await client.close()
        await calls.value
    }

    @Test func `follows read marks, edits, deletions and reactions`() async throws {
        let server = try ChatServer()
        try await makeRooms(server, ["a", "b"])
        let bob = server.client("bob")
        for text in ["2", "3", "4"] { try await bob.post(text, to: "a") }
        let client = server.client()
        let inbox = try await client.rooms.open()
        try await inbox.shows { $0.isLive && $0.rooms.first?.unread == 4 }
        // Another device of the user reads.
        try await server.client().rooms.markRead("a", upTo: 2)
        try await inbox.shows { $0.rooms.first?.unread == 2 && $0.rooms.first?.firstUnread == 3 }
        _ = try await bob.message("DELETE", "/v1/rooms/a/messages/3")
        try await inbox.shows { $0.rooms.first?.unread == 1 && $0.rooms.first?.firstUnread == 4 }
        _ = try await bob.message("PATCH", "/v1/rooms/a/messages/4", body: Array(#"{"text":"four"}"#.utf8))
        try await inbox.shows { $0.rooms.first?.lastMessage?.text == "four" && $0.rooms.first?.unread == 1 }
        _ = try await bob.message("PUT", "/v1/rooms/a/messages/1/reactions/+1")
        // When the call returns, the list has it.
        let read = try await inbox.markRead("a", upTo: 4)
        #expect(read.unread == 0)
        #expect(await inbox.view.rooms.first { $0.id == "a" }?.unread == 0)
        #expect(await MainActor.run { inbox.list.rooms.first { $0.id == "a" }?.unread } == 0)
        try await inbox.equals { try await serversList(client) }
        await client.close()
    }

    @Test(arguments: [true, false])
    func `counts unread mentions as the server does`(followsBlocks: Bool) async throws {
        let server = try ChatServer()
        try await makeRooms(server, ["a"])
        let bob = server.client("bob")
        try await bob.rooms.add("carol", to: "a")
        let client = server.client()
        try await client.block("carol")
        if followsBlocks { try await client.followBlocks() }
        let inbox = try await client.rooms.open()
        try await inbox.shows { $0.isLive && $0.rooms[0].unreadMentions == 0 }
        func mention(_ body: String, as user: BackscrollClient) async throws {
            _ = try await user.message("POST", "/v1/rooms/a/messages", body: Array(body.utf8))
        }
        try await mention(#"{"text":"look","mentions":["alice"]}"#, as: bob)
        try await inbox.shows { $0.rooms[0].unreadMentions == 1 && $0.rooms[0].firstUnreadMention == 2 }
        try await mention(#"{"text":"all","mentions_room":true}"#, as: bob)
        try await mention(#"{"text":"others","mentions":["carol"]}"#, as: bob)
        try await mention(#"{"text":"blocked","mentions":["alice"]}"#, as: server.client("carol"))
        try await inbox.shows { $0.rooms[0].unreadMentions == 2 && $0.rooms[0].unread == 5 }
        try await inbox.equals { try await serversList(client) }
        // An edit makes a mention, and ends it.
        _ = try await bob.message("PATCH", "/v1/rooms/a/messages/1", body: Array(#"{"mentions":["alice"]}"#.utf8))
        try await inbox.shows { $0.rooms[0].unreadMentions == 3 && $0.rooms[0].firstUnreadMention == 1 }
        _ = try await bob.message("PATCH", "/v1/rooms/a/messages/1", body: Array(#"{"mentions":[]}"#.utf8))
        try await inbox.shows { $0.rooms[0].unreadMentions == 2 && $0.rooms[0].firstUnreadMention == 2 }
        _ = try await bob.message("DELETE", "/v1/rooms/a/messages/2")
        try await inbox.shows { $0.rooms[0].unreadMentions == 1 && $0.rooms[0].firstUnreadMention == 3 }
        if followsBlocks {
            try await server.client().unblock("carol")
            try await inbox.shows { $0.rooms[0].unreadMentions == 2 }
        }
        try await inbox.markRead("a", upTo: 5)
        let read = await inbox.view.rooms[0]
        #expect(read.unreadMentions == 0 && read.firstUnreadMention == nil)
        try await inbox.equals { try await serversList(client) }
        await client.close()
    }

    @Test func `has what may disturb in each room, set on any device`() async throws {
        let server = try ChatServer()
        try await makeRooms(server, ["a", "b"])
        let (phone, desk) = (server.client(), server.client())
        let (inbox, other) = (try await phone.rooms.open(), try await desk.rooms.open())
        for inbox in [inbox, other] { try await inbox.shows { $0.isLive } }
        let until = Timestamp(rfc3339: "2099-01-01T08:00:00Z")!
        let settings = NotifySettings(level: .mentions, until: until, roomMentions: false)
        #expect(try await inbox.setNotify(settings, in: "a") == settings)
        let room = try #require(await inbox.view.rooms.last)
        #expect(try room.notify == settings && RoomSummary(json: room.json) == room)
        let before = Timestamp(milliseconds: until.milliseconds - 1)
        #expect(room.notifyLevel(at: before) == .mentions && room.loudUnread(at: before) == 0)
        #expect(room.notifyLevel(at: until) == .all && room.loudUnread(at: until) == 1)
        let view = try await other.shows { $0.rooms.last?.notify == settings }
        #expect(view.loudUnread(at: before) == 1 && view.unread == 2)
        try await other.setNotify(NotifySettings(level: .none), in: "b")
        try await inbox.shows { $0.rooms.first?.notify?.level == NotifySettings.Level.none }
        try await other.setNotify(NotifySettings(), in: "a")
        try await inbox.shows { $0.rooms.last?.notify == nil }
        try await inbox.equals { try await serversList(phone) }
        let past = NotifySettings(level: .none, until: Timestamp(milliseconds: 0))
        let error = await #expect(throws: BackscrollClientError.self) { try await inbox.setNotify(past, in: "a") }
        #expect(error?.code == BackscrollClientError.invalidField && error?.field == "until")
        for client in [phone, desk] { await client.close() }
    }

    @Test func `shows rooms that the user creates, joins or leaves when the call returns`() async throws {
        let server = try ChatServer()
        try await server.post("hello", to: "lobby")
        let client = server.client()
        let inbox = try await client.rooms.open()
        let empty = await inbox.view
        #expect(empty.rooms.isEmpty && empty.isListed)
        let made = try await inbox.make("plans", visibility: .private, title: "Plans \"for\" today")
        #expect(made.role == .owner && made.visibility == .private)
        #expect(await inbox.view.rooms.map(\.id) == ["plans"])
        let seen = try await inbox.summary(of: "lobby")
        #expect(seen.role == nil && seen.lastMessage?.text == "hello")
        #expect(await inbox.view.rooms.map(\.id) == ["plans"])
        let joined = try await inbox.join("lobby")
        #expect(joined.role == .member && joined.lastMessage?.text == "hello")
        #expect(await Set(inbox.view.rooms.map(\.id)) == ["plans", "lobby"])
        try await inbox.equals { try await serversList(client) }
        let settings = RoomSettings(posting: .owners, slowSeconds: 5, data: Array(#"{"a":1}"#.utf8))
        let manners = RoomManners(posting: .owners, slowSeconds: 5, data: Array(#"{"a":1}"#.utf8))
        let set = try await inbox.change("plans", settings)
        #expect(try set.manners == manners && RoomSummary(json: set.json) == set)
        let changed = try await inbox.change("plans", title: "Later")
        #expect(changed.manners == manners)
        #expect(changed.title == "Later" && changed.visibility == .private)
        #expect(await inbox.view.rooms.first { $0.id == "plans" }?.title == "Later")
        try await inbox.leave("lobby")
        #expect(await inbox.view.rooms.map(\.id) == ["plans"])
        try await inbox.delete("plans")
        #expect(await inbox.view.rooms.isEmpty)
        let gone = await #expect(throws: BackscrollClientError.self) { try await inbox.make("plans") }
        #expect(gone?.code == "room_deleted" && gone?.status == 410)
        await client.close()
    }

    @Test func `shows a new title when the room is opened`() async throws {
        let server = try ChatServer()
        try await makeRooms(server, ["a", "b"])
        let client = server.client()
        let inbox = try await client.rooms.open()
        try await inbox.shows { $0.isLive }
        try await server.client("bob").rooms.change("a", title: "Another")
        #expect(await inbox.view.rooms.map(\.title) == ["B", "A"])
        let room = try await client.room("a").open()
        let view = try await inbox.shows { $0.rooms.last?.title == "Another" }
        #expect(view.rooms.map(\.id) == ["b", "a"] && view.rooms[1].lastMessage?.text == "hello a")
        try await room.isLive()
        try await inbox.equals { try await serversList(client) }
        await client.close()
    }

    @Test func `lists, adds and removes members, without an open inbox`() async throws {
        let server = try ChatServer()
        let rooms = await server.client("bob").rooms
        try await rooms.make("den", visibility: .private)
        #expect(try await rooms.add("alice", to: "den").role == .member)
        try await rooms.add("carol", to: "den", as: .owner)
        #expect(try await rooms.members(of: "den").members.map(\.id) == ["alice", "bob", "carol"])
        let page = try await rooms.members(of: "den", after: "alice", limit: 1)
        #expect(page.members.map(\.id) == ["bob"] && page.hasMore)
        try await rooms.remove("alice", from: "den")
        #expect(try await rooms.members(of: "den").members.map(\.id) == ["bob", "carol"])
        try await rooms.leave("den")
        let hidden = await #expect(throws: BackscrollClientError.self) { try await rooms.join("den") }
        #expect(hidden?.code == "room_not_found" && hidden?.status == 404)
        let last = await #expect(throws: BackscrollClientError.self) {
            try await server.client("carol").rooms.leave("den")
        }
        #expect(last?.code == "last_owner" && last?.isTemporary == false)
        let invalid = await #expect(throws: BackscrollClientError.self) { try await rooms.join("no/room") }
        #expect(invalid?.code == "invalid_room")
        let tooLong = await #expect(throws: BackscrollClientError.self) {
            try await rooms.make("x", title: String(repeating: "x", count: 257))
        }
        #expect(tooLong?.code == "too_long" && tooLong?.limit == 256)
    }

    @Test func `shares the socket and a subscription with a room's screen, before, during and after`() async throws {
        let server = try ChatServer()
        try await makeRooms(server, ["a", "b"])
        let transport = CountingTransport()
        let client = server.client { $0.transport = transport }
        let inbox = try await client.rooms.open()
        try await inbox.shows { $0.isLive }
        let room = try await client.room("a").open(at: .newest)
        try await room.isLive()
        try await server.post("during", to: "a")
        try await room.shows { $0.texts == ["hello a", "during"] }
        try await inbox.shows { $0.rooms.first?.lastMessage?.text == "during" }
        await room.close()
        try await server.post("after", to: "a")
        try await inbox.shows { $0.rooms.first?.lastMessage?.text == "after" }
        // Again, and at once.
        for number in 1...5 {
            let again = try await client.room("a").open(at: .newest)
            try await server.post("\(number)", to: "a")
            try await again.shows { $0.texts.last == "\(number)" && $0.connection == .live }
            await again.close()
        }
        // Closing the inbox leaves a room that is open as it is.
        let open = try await client.room("b").open(at: .newest)
        try await open.isLive()
        await inbox.close()
        #expect(await inbox.ending?.code == BackscrollClientError.closed)
        try await server.post("still here", to: "b")
        try await open.shows { $0.texts.last == "still here" && $0.connection == .live }
        #expect(await transport.sockets == 1)
        // The inbox can be opened again.
        let second = try await client.rooms.open()
        #expect(second !== inbox)
        try await second.shows { $0.isLive && $0.rooms.map(\.id) == ["b", "a"] }
        #expect(await transport.sockets == 1)
        await client.close()
    }

    @Test
    func
        `keeps an open room that the user has joined elsewhere, and drops a visited one`()
        async throws
    {
        let server = try ChatServer()
        try await server.post("hello", to: "lobby")
        try await server.post("hello", to: "hall")
        let client = server.client()
        let inbox = try await client.rooms.open()
        let lobby = try await client.room("lobby").open()
        let hall = try await client.room("hall").open()
        try await lobby.isLive()
        try await hall.isLive()
        #expect(await inbox.view.rooms.isEmpty)
        try await server.client().rooms.join("lobby")
        await lobby.close()
        await hall.close()
        try await inbox.shows { $0.rooms.map(\.id) == ["lobby"] }
        try await server.post("more", to: "lobby")
        try await inbox.shows { $0.rooms.first?.lastMessage?.text == "more" }
        #expect(await inbox.view.rooms.map(\.id) == ["lobby"])
        await client.close()
    }

    @Test func `loses a room that the user is removed from, and gets it back`() async throws {
        let server = try ChatServer()
        try await makeRooms(server, ["a", "b"])
        let client = server.client()
        let inbox = try await client.rooms.open()
        let room = try await client.room("a").open()
        try await room.isLive()
        let bob = await server.client("bob").rooms
        try await bob.remove("alice", from: "a")
        try await inbox.shows { $0.rooms.map(\.id) == ["b"] }
        for await _ in room.changes {}
        #expect(await room.ending?.code == "not_a_member")
        try await bob.add("alice", to: "a")
        try await inbox.shows { $0.rooms.map(\.id) == ["b", "a"] }
        try await server.post("welcome back", to: "a")
        try await inbox.shows { $0.rooms.first?.lastMessage?.text == "welcome back" }
        try await bob.delete("b")
        try await inbox.shows { $0.rooms.map(\.id) == ["a"] }
        await client.close()
    }

    @Test func `keeps a room that could not be looked up because the client was closed`() async throws {
        let server = try ChatServer()
        try await makeRooms(server, ["a", "b"])
        let client = server.client()
        let inbox = try await client.rooms.open()
        try await inbox.shows { $0.isLive }
        await client.close()
        let error = await inbox.lookUp("a")
        #expect(error?.code == BackscrollClientError.closed)
        #expect(await inbox.view.rooms.map(\.id) == ["b", "a"])
    }

    @Test func `keeps a member's room that becomes private, and drops a visitor's`() async throws {
        let server = try ChatServer()
        let bob = await server.client("bob").rooms
        try await bob.make("member")
        try await bob.make("visitor")
        let client = server.client()
        let inbox = try await client.rooms.open()
        try await inbox.join("member")
        let visited = try await client.room("visitor").open()
        try await visited.isLive()
        try await bob.change("member", visibility: .private)
        try await bob.change("visitor", visibility: .private)
        for await _ in visited.changes {}
        #expect(await visited.ending?.code == "not_a_member")
        try await server.post("hello", to: "member")
        try await inbox.shows { $0.rooms.first?.lastMessage?.text == "hello" }
        #expect(await inbox.view.rooms.map(\.id) == ["member"])
        await client.close()
    }

    @Test(
        arguments: ["cut-live=3", "drop-frame=4", "double-frame=2", "torn-frame=3", "status=503/2", "delay=20"])
    func `ends as the server has it, whatever fails`(fault: String) async throws {
        let server = try ChatServer()
        try await makeRooms(server, ["a", "b", "c"])
        let client = server.client(faults: fault)
        let inbox = try await client.rooms.open()
        let bob = server.client("bob")
        for number in 1...8 { try await bob.post("\(number)", to: ["a", "b", "c"][number % 3]) }
        _ = try await bob.message("DELETE", "/v1/rooms/a/messages/2")
        let plain = server.client()
        if fault.hasPrefix("drop-frame") {
            // Nothing tells of a dropped frame but the next one, or the next socket.
            await client.networkPathChanged()
            for id in ["a", "b", "c"] { try await bob.post("last", to: id) }
            for id in ["a", "b", "c"] { try await bob.post("very last", to: id) }
        }
        try await inbox.equals { try await serversList(plain) }
        await client.close()
    }

    @Test func `catches up after the connection was lost`() async throws {
        let server = try ChatServer()
        try await makeRooms(server, ["a", "b"])
        let client = server.client()
        let inbox = try await client.rooms.open()
        try await inbox.shows { $0.isLive }
        await client.enterBackground()
        try await inbox.shows { !$0.isLive }
        try await server.post("while away", to: "a")
        let bob = await server.client("bob").rooms
        try await bob.remove("alice", from: "b")
        try await makeRooms(server, ["c"])
        await client.enterForeground()
        let view = try await inbox.shows { $0.isLive }
        #expect(view.rooms.map(\.id) == ["c", "a"] && view.rooms.last?.unread == 2)
        // The server restarts.
        server.stop()
        try await inbox.shows { !$0.isLive }
        try server.start()
        try await inbox.shows { $0.isLive }
        try await server.post("back", to: "a")
        try await inbox.shows { $0.rooms.first?.lastMessage?.text == "back" }
        await client.close()
    }

    @Test func `continues under another history`() async throws {
        let server = try ChatServer()
        try await makeRooms(server, ["a", "b"])
        let client = server.client()
        let inbox = try await client.rooms.open()
        try await inbox.shows { $0.isLive }
        server.stop()
        server.forgetDatabase()
        try server.start()
        try await makeRooms(server, ["b", "c"])
        let view = try await inbox.shows { $0.isLive && $0.rooms.map(\.id) == ["c", "b"] }
        #expect(view.rooms[1].unread == 1)
        await client.close()
    }

    @Test func `has a thousand rooms, a page at a time, and follows each`() async throws {
        let server = try ChatServer()
        let client = server.client()
        let rooms = await client.rooms
        for number in 1...1000 { try await rooms.make("room-\(number)") }
        let inbox = try await client.rooms.open()
        let view = try await inbox.shows { $0.isLive }
        #expect(view.rooms.count == 1000 && !view.hasMore)
        #expect(try await serversList(client).map(\.id) == view.rooms.map(\.id))
        for number in [1, 500, 1000] {
            try await server.post("hello", to: "room-\(number)")
            try await inbox.shows { $0.rooms.first?.id == "room-\(number)" && $0.rooms.first?.unread == 1 }
        }
        // The socket has no more space, so a room that is opened takes that of the oldest.
        try await server.post("hi", to: "further")
        let further = try await client.room("further").open()
        try await further.isLive()
        try await server.post("there", to: "further")
        try await further.shows { $0.texts == ["hi", "there"] }
        await client.close()
    }

    @Test func `has no more rooms than its bound, and reports that there are more`() async throws {
        let server = try ChatServer()
        try await makeRooms(server, ["a", "b", "c"])
        let client = server.client { $0.inboxRooms = 2 }
        let inbox = try await client.rooms.open()
        let view = try await inbox.shows { $0.isLive }
        #expect(view.rooms.map(\.id) == ["c", "b"] && view.hasMore)
        await client.close()
    }

    @Test func `throws when the server cannot be reached, and loads the list once it can`() async throws {
        let server = try ChatServer()
        try await makeRooms(server, ["a"])
        server.stop()
        let client = server.client()
        let inbox = await client.rooms
        let error = await #expect(throws: BackscrollClientError.self) { try await inbox.open() }
        #expect(error?.code == BackscrollClientError.unreachable && error?.isTemporary == true)
        try server.start()
        try await inbox.shows { $0.isLive && $0.rooms.map(\.id) == ["a"] }
        await client.close()
        let late = await #expect(throws: BackscrollClientError.self) { try await inbox.open() }
        #expect(late?.code == BackscrollClientError.closed)
    }

    @Test func `costs nothing before it is opened`() async throws {
        let server = try ChatServer()
        try await makeRooms(server, ["a"])
        let transport = CountingTransport()
        let client = server.client { $0.transport = transport }
        let inbox = await client.rooms
        let room = try await client.room("a").open(at: .newest)
        try await room.isLive()
        // Only the room asks the server: for its page, and for the user's mark.
        let paths = await transport.targets.compactMap { $0.split(separator: "?").first }
        #expect(Set(paths).isSubset(of: ["/v1/rooms/a/messages", "/v1/rooms/a"]))
        #expect(await client.following == nil)
        #expect(await inbox.view.rooms.isEmpty)
        await client.close()
    }

    @Test func `shows a flood of messages at the pace of a screen, and counts the unread ones of all rooms`()
        async throws
    {
        let server = try ChatServer()
        try await makeRooms(server, ["lobby", "other"])
        let client = server.client()
        let inbox = try await client.rooms.open()
        let rev = try #require(
            try await inbox.shows { $0.isLive && $0.rooms.count == 2 }.rooms.first { $0.id == "lobby" }
        ).rev
        let counting = Task {
            var count = 0
            for await change in inbox.changes {
                count += 1
                if change.view.rooms.contains(where: { $0.head == 1500 }) { break }
            }
            return count
        }
        let start = ContinuousClock.now
        for seq in 2...1500 as ClosedRange<Int64> {
            await inbox.receive(.message(.model(seq: seq, rev: rev + seq - 1)), since: nil)
        }
        let count = await counting.value
        #expect(Double(count) <= (ContinuousClock.now - start) / Room.showInterval + 3)
        let view = await inbox.view
        #expect(view.rooms.map(\.unread).sorted() == [1, 1000] && view.unread == 1001 && view.hasMoreUnread)
        await client.close()
    }
}

/// The platform's transport, which notes what is asked of it.
actor CountingTransport: ClientTransport {
    private let transport = SocketTransport()
    private(set) var sockets = 0
    private(set) var targets: [String] = []

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        targets.append(request.target)
        return try await transport.send(request)
    }

    func connect(_ request: TransportRequest) async throws(TransportFailure) -> any ClientSocket {
        sockets += 1
        return try await transport.connect(request)
    }
}

/// An event that a task waits for.
final class Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func raise() { continuation.finish() }

    func wait() async { for await _ in stream {} }
}

extension Inbox {
    /// Waits until the list meets a condition.
    @discardableResult
    nonisolated func shows(_ condition: (InboxView) -> Bool) async throws -> InboxView {
        for await change in changes where condition(change.view) { return change.view }
        throw NothingMore(ending: await ending)
    }

    /// Waits until the list equals that of the server.
    nonisolated func equals(_ list: () async throws -> [RoomSummary]) async throws {
        let rooms = try await list()
        for await change in changes where change.view.rooms == rooms { return }
        throw NothingMore(ending: await ending)
    }
}
