import BackscrollTimeline
import Foundation
import Server
import TestSupport
import Testing
import Tokens
import Wire

@testable import BackscrollClient

@Suite("A connection", .timeLimit(.minutes(30)))
struct ConnectionTests {
    @Test(
        arguments: [
            "cut-live=3", "cut-replay=2", "drop-frame=4", "double-frame=2", "torn-frame=3", "fragment-frames=7",
            "cut-live=2, double-push", "status=503/2", "delay=20",
        ])
    func `shows all messages in order, whatever fails`(fault: String) async throws {
        let server = try ChatServer()
        try await server.fill(5)
        let client = server.client(faults: fault)
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        let bob = server.client("bob")
        for number in 6...25 { try await bob.post("\(number)", to: "lobby") }
        try await room.shows { $0.texts == (1...25).map { "\($0)" } }
        await client.close()
    }

    @Test func `resumes after hours away with the missed changes`() async throws {
        let server = try ChatServer()
        try await server.fill(5)
        let client = server.client()
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        await client.enterBackground()
        try await room.shows { $0.connection == .offline }
        try await server.post("6", "7")
        _ = try await server.client("bob").message("DELETE", "/v1/rooms/lobby/messages/2")
        await client.enterForeground()
        let view = try await room.shows { $0.connection == .live && $0.texts.count == 7 }
        #expect(view.messages[1].isDeleted)
        #expect(view.texts.last == "7")
        await client.close()
    }

    @Test(arguments: [true, false])
    func `knows after an absence what another device has read`(isAtTheNewest: Bool) async throws {
        let server = try ChatServer()
        try await server.fill(60)
        let transport = FaultyTransport()
        let client = server.client {
            $0.pageLimit = 10
            $0.transport = transport
        }
        // Far from the newest, the unread messages cannot be counted in the window.
        let room = try await client.room("lobby").open(at: isAtTheNewest ? .newest : .seq(10))
        try await room.isLive()
        await room.setViewport(atBottom: false, lastVisible: isAtTheNewest ? 55 : 10)
        await client.enterBackground()
        try await room.shows { $0.connection == .offline }
        for number in 61...75 { try await server.post("\(number)") }
        // Own messages are not unread.
        for number in 76...80 { try await server.client().post("\(number)", to: "lobby") }
        try await server.client().rooms.markRead("lobby", upTo: 70)
        transport.refuse(2, status: 503, code: "unavailable") {
            $0.method == "GET" && $0.target.hasPrefix("/v1/rooms/lobby?")
        }
        await client.enterForeground()
        let view = try await room.shows { $0.read == 70 && $0.unread == 5 }
        #expect(view.unreadToast?.count == 5)
        try await server.client().rooms.markRead("lobby", upTo: 80)
        #expect(try await room.shows { $0.unread == 0 }.unreadToast == nil)
        await client.close()
    }

    @Test func `takes the mark of another device from the answer to its own`() async throws {
        let server = try ChatServer { $0.readNotices = false }
        try await server.fill(60)
        let client = server.client { $0.pageLimit = 10 }
        let room = try await client.room("lobby").open(at: .seq(10))
        try await room.shows { $0.read == 0 }
        try await server.client().rooms.markRead("lobby", upTo: 40)
        await room.setViewport(atBottom: false, lastVisible: 12)
        try await room.shows { $0.read == 40 && $0.unread == 20 }
        await client.close()
    }

    @Test func `carries many rooms, and leaves each by itself`() async throws {
        let server = try ChatServer()
        let client = server.client()
        var rooms: [Room] = []
        for number in 1...20 { rooms.append(try await client.room("room-\(number)").open(at: .newest)) }
        for room in rooms { try await room.isLive() }
        await rooms[0].close()
        for number in 1...20 { try await server.post("hello \(number)", to: "room-\(number)") }
        for number in 2...20 { try await rooms[number - 1].shows { $0.texts == ["hello \(number)"] } }
        #expect(await rooms[0].ending?.code == BackscrollClientError.closed)
        #expect(await rooms[0].view.texts.isEmpty)
        // A room that was closed can be opened again.
        let again = try await client.room("room-1").open(at: .newest)
        #expect(await again.view.texts == ["hello 1"])
        await client.close()
    }

    @Test func `continues under another history`() async throws {
        let server = try ChatServer()
        try await server.fill(3)
        let client = server.client()
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        let before = await room.view.epoch
        server.stop()
        server.forgetDatabase()
        try server.start()
        try await server.post("new")
        let view = try await room.shows { $0.texts == ["new"] && $0.connection == .live }
        #expect(view.epoch != nil && view.epoch != before)
        await client.close()
    }

    @Test func `throws when the server cannot be reached, and opens the room once it can`() async throws {
        let server = try ChatServer()
        try await server.fill(3)
        let client = server.client()
        let room = try await client.room("lobby")
        server.stop()
        let error = await #expect(throws: BackscrollClientError.self) { try await room.open(at: .newest) }
        #expect(error?.code == BackscrollClientError.unreachable && error?.isTemporary == true)
        try server.start()
        try await room.shows { $0.texts == ["1", "2", "3"] }
        await client.close()
    }

    @Test func `throws the server's code for a room that the user may not read`() async throws {
        let server = try ChatServer()
        let bob = server.client("bob")
        _ = try await bob.request("PUT", "/v1/rooms/den", body: Array(#"{"visibility":"private"}"#.utf8))
        let client = server.client()
        let error = await #expect(throws: BackscrollClientError.self) { try await client.room("den").open() }
        #expect(error?.code == "room_not_found" && error?.status == 404)
        let invalid = await #expect(throws: BackscrollClientError.self) { try await client.room("no/room") }
        #expect(invalid?.code == "invalid_room")
        await client.close()
    }

    @Test func `ends the room of a member who is removed, and no other`() async throws {
        let server = try ChatServer()
        let bob = server.client("bob")
        _ = try await bob.request("PUT", "/v1/rooms/den", body: Array(#"{"visibility":"private"}"#.utf8))
        _ = try await bob.request("PUT", "/v1/rooms/den/members/alice", body: Array("{}".utf8))
        let client = server.client()
        let room = try await client.room("den").open()
        let lobby = try await client.room("lobby").open()
        try await room.isLive()
        try await lobby.isLive()
        _ = try await bob.request("DELETE", "/v1/rooms/den/members/alice")
        for await _ in room.changes {}
        #expect(await room.ending?.code == "not_a_member")
        #expect(await MainActor.run { room.timeline.ending?.code } == "not_a_member")
        let error = await #expect(throws: BackscrollClientError.self) { try await room.send("hello") }
        #expect(error?.code == "not_a_member")
        try await server.post("hi")
        try await lobby.shows { $0.texts == ["hi"] }
        await client.close()
    }

    @Test func `renews its token on the open socket, and asks again after one was refused`() async throws {
        let server = try ChatServer { configuration in
            var sources = KeySources()
            sources.secret = TestKeys.secret
            configuration.tokens = (try? sources.load()).map { TokenRules(keys: $0) }
        }
        // A machine may be too busy to open the room and renew the token in five seconds.
        for seconds: Int64 in [5, 30, 120] {
            if try await connections(of: server, beyondTokenOf: seconds) == ["live"] { return }
        }
        Issue.record("The connection was lost when the first token ended.")
    }

    /// Returns the states in which a room is until the user's first token, which lasts some seconds, has ended.
    private func connections(of server: ChatServer, beyondTokenOf seconds: Int64) async throws -> Set<String> {
        let asked = Counter()
        let end = Wire.Timestamp.now().milliseconds / 1000 + seconds
        // On the fast clock it is renewed well before its end.
        let client = server.client(
            .token {
                let number = await asked.next()
                return try TestKeys.token(payload: #"{"sub":"alice","exp":\#(number == 1 ? end : end + 600)}"#)
            }
        )
        #expect(try await client.userID() == "alice")
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        let watching = Task {
            var connections: Set<String> = []
            for await change in room.changes { connections.insert(change.view.connection.rawValue) }
            return connections
        }
        while await asked.value < 2 { try await room.send("tick") }
        while Wire.Timestamp.now().milliseconds <= end * 1000 { try await room.send("tick") }
        watching.cancel()
        let connections = await watching.value
        await client.close()
        return connections
    }

    @Test func `fails with the reason for a user without a token`() async throws {
        let server = try ChatServer()
        let client = server.client(.token { throw CancellationError() })
        let error = await #expect(throws: BackscrollClientError.self) { try await client.room("lobby") }
        #expect(error?.code == BackscrollClientError.tokenUnavailable)
        let other = server.client(.token { "no token" })
        let invalid = await #expect(throws: BackscrollClientError.self) { try await other.room("lobby") }
        #expect(invalid?.code == BackscrollClientError.tokenUnavailable && invalid?.status == 401)
        let elsewhere = BackscrollClient(server: URL(string: "ftp://example.com")!, user: .name("alice"))
        let address = await #expect(throws: BackscrollClientError.self) {
            try await elsewhere.room("lobby").open()
        }
        #expect(address?.code == BackscrollClientError.invalidServer)
    }

    @Test func `ends the changes and the calls that wait when the client is closed`() async throws {
        let server = try ChatServer()
        let client = server.client(faults: "status=503")
        let room = try await client.room("lobby")
        let opening = Task { try await room.open() }
        let loop = Task { for await _ in room.changes {} }
        await client.close()
        await loop.value
        let error = await #expect(throws: BackscrollClientError.self) { try await opening.value }
        #expect(error?.code == BackscrollClientError.closed || error?.code == "unavailable")
        let late = await #expect(throws: BackscrollClientError.self) { try await client.room("lobby") }
        #expect(late?.code == BackscrollClientError.closed)
    }

    @Test(arguments: ["cut-replay=1", "torn-frame=4"])
    func `shows each part of a replay that is cut again and again, without longer and longer pauses`(
        fault: String
    ) async throws {
        let server = try ChatServer()
        let transport = FaultyTransport()
        let client = server.client(faults: fault) { $0.transport = transport }
        let room = try await client.room("lobby").open(at: .newest)
        transport.socket?.fallSilent()
        try await server.fill(40)
        await transport.socket?.end(code: 1006)
        try await room.shows { $0.texts == (1...40).map { "\($0)" } }
        // The room would subscribe again after each part, the later the more parts there are.
        #expect(await room.subscriptionNumber.number <= 3)
        await client.close()
    }
}

/// A number that tasks share.
actor Counter {
    private(set) var value = 0

    func next() -> Int {
        value += 1
        return value
    }
}
