import BackscrollClientStore
import BackscrollTimeline
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import BackscrollClient

@Suite("A client with a store", .timeLimit(.minutes(30)))
struct OfflineTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path(of: "client.db")
    }

    /// Returns a client on the suite's file, as after a new start of the app.
    private func client(
        of server: ChatServer, _ name: String = "alice", _ configure: (inout ClientOptions) -> Void = { _ in }
    ) -> BackscrollClient {
        server.client(.name(name), store: .file(path), configure)
    }

    @Test func `shows the stored messages at once while the server is away`() async throws {
        let server = try ChatServer()
        try await server.fill(5)
        let first = client(of: server)
        try await first.room("lobby").open(at: .newest).isLive()
        await first.close()
        server.stop()

        let second = client(of: server)
        let room = try await second.room("lobby").open(at: .read)
        let view = await room.view
        #expect(view.texts == ["1", "2", "3", "4", "5"] && view.before == .end && view.connection == .offline)
        try server.start()
        try await server.post("6")
        try await room.shows { $0.connection == .live && $0.texts.last == "6" }
        await second.close()
    }

    @Test func `brings edits, deletions and messages that came while the app was away, without a page`() async throws {
        let server = try ChatServer()
        try await server.fill(12)
        let first = client(of: server) { $0.pageLimit = 5 }
        try await first.room("lobby").open(at: .newest).isLive()
        await first.close()
        _ = try await server.client("bob").message("DELETE", "/v1/rooms/lobby/messages/9")
        try await server.post("13", "14")
        let bob = try await server.client("bob").room("lobby")
        try await bob.edit(10, text: "ten")
        try await bob.edit(13, text: "thirteen")
        await bob.close()

        // A page would begin with the tenth message.
        let second = client(of: server) { $0.pageLimit = 5 }
        let room = try await second.room("lobby").open(at: .newest)
        let view = try await room.isLive()
        #expect(view.texts == ["8", "", "ten", "11", "12", "thirteen", "14"] && view.messages[1].isDeleted)
        await second.close()
    }

    @Test func `shows the list of rooms at once while the server is away, and then the server's`() async throws {
        let server = try ChatServer()
        let bob = server.client("bob")
        for id in ["a", "b", "c", "empty"] {
            try await bob.rooms.make(id, title: id.uppercased())
            try await bob.rooms.add("alice", to: id)
            if id != "empty" { try await bob.post("hello \(id)", to: id) }
        }
        let first = client(of: server)
        let inbox = try await first.rooms.open()
        let known = try await inbox.shows { $0.isLive && $0.rooms.count == 4 }.rooms
        #expect(known.map(\.id) == ["empty", "c", "b", "a"])
        // The change reaches the file although the client is closed at once.
        try await inbox.markRead("c", upTo: 1)
        await first.close()
        try await bob.rooms.remove("alice", from: "b")
        server.stop()

        let second = client(of: server)
        let again = try await second.rooms.open()
        let view = await again.view
        #expect(view.isListed && !view.isLive && view.rooms.map(\.id) == ["empty", "c", "b", "a"])
        #expect(view.rooms.map(\.unread) == [0, 0, 1, 1] && view.rooms[3] == known[3])
        try server.start()
        try await server.client("bob").post("again", to: "a")
        try await again.shows { $0.isLive && $0.rooms.map(\.id) == ["a", "empty", "c"] && $0.rooms[0].unread == 2 }
        await second.close()
        // What the server has removed is gone from the file.
        server.stop()
        let third = client(of: server)
        #expect(try await third.rooms.open().view.rooms.map(\.id) == ["a", "empty", "c"])
        await third.close()
        // Another user has another list.
        let carol = client(of: server, "carol") { $0.openingFailures = 1 }
        await #expect(throws: BackscrollClientError.self) { try await carol.rooms.open() }
        await carol.close()
    }

    @Test func `keeps a gap until the server fills it`() async throws {
        let server = try ChatServer()
        try await server.fill(60)
        let first = client(of: server) { $0.pageLimit = 10 }
        let early = try await first.room("lobby").open(at: .seq(10))
        try await early.jump(to: .newest)
        try await early.isLive()
        await first.close()
        server.stop()

        let second = client(of: server) {
            $0.pageLimit = 10
            $0.openingFailures = 1
        }
        let room = try await second.room("lobby").open(at: .newest)
        #expect(await room.view.messages.map(\.seq) == Array(51...60))
        await #expect(throws: BackscrollClientError.self) { try await room.load(.before) }
        #expect(await room.view.messages.map(\.seq) == Array(51...60))
        // The earlier run can be shown by itself, and what was never loaded cannot.
        try await room.open(at: .seq(9))
        let seqs = await room.view.messages.map(\.seq)
        #expect(seqs.contains(9) && seqs.count == 10 && seqs.last! < 51)
        #expect(await room.view.after == .idle)
        await #expect(throws: BackscrollClientError.self) { try await room.open(at: .seq(30)) }
        await room.close()

        try server.start()
        let again = try await second.room("lobby").open(at: .newest)
        try await again.isLive()
        while await again.view.before != .end { try await again.load(.before) }
        #expect(await again.view.messages.map(\.seq) == Array(1...60))
        await second.close()
        server.stop()
        let third = client(of: server)
        #expect(try await third.room("lobby").open(at: .newest).view.messages.map(\.seq) == Array(1...60))
        await third.close()
    }

    @Test func `loads messages again from the server that the store has evicted while the room is open`() async throws {
        let server = try ChatServer()
        try await server.fill(200)
        let database = try DatabaseQueue()
        let transport = FaultyTransport()
        let client = server.client(.name("alice"), store: .database(database, maximumBytes: 10_000)) {
            $0.transport = transport
            $0.pageLimit = 20
            $0.windowLimit = 40
            $0.storeDelay = .zero
        }
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        let all = (1...200).map { "\($0)" }
        func isPart(_ texts: [String]) -> Bool {
            texts.first.map { Int($0)! }.map { all[($0 - 1)...].starts(with: texts) } ?? false
        }
        await room.setViewport(atBottom: false, lastVisible: 190)
        while await room.view.before != .end {
            try await room.load(.before)
            let texts = await room.view.texts
            #expect(isPart(texts))
        }
        #expect(await room.view.texts.first == "1")
        await room.flush()
        let stored = try await database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM backscroll_message")! }
        #expect(stored < 100)
        // The newest messages have left the window, and the oldest the store.
        let requests = transport.times(of: "GET", "/v1/rooms/lobby/messages").count
        while await room.view.after != .end {
            let last = try #require(await room.view.messages.last?.seq)
            await room.setViewport(atBottom: false, lastVisible: last - 5)
            try await room.load(.after)
            let texts = await room.view.texts
            #expect(isPart(texts))
        }
        #expect(await room.view.texts.last == "200")
        try await room.jump(to: .seq(1))
        let first = await room.view.texts
        #expect(isPart(first) && first.first == "1")
        #expect(transport.times(of: "GET", "/v1/rooms/lobby/messages").count > requests)
        await client.close()
    }

    @Test func `pages through the stored messages without the server`() async throws {
        let server = try ChatServer()
        try await server.fill(70)
        let first = client(of: server) { $0.pageLimit = 50 }
        let whole = try await first.room("lobby").open(at: .newest)
        try await whole.load(.before)
        try await whole.isLive()
        await first.close()
        server.stop()

        let second = client(of: server) {
            $0.pageLimit = 20
            $0.restoredMessages = 20
        }
        let room = try await second.room("lobby").open(at: .newest)
        #expect(await room.view.messages.map(\.seq) == Array(51...70))
        while await room.view.before != .end { try await room.load(.before) }
        #expect(await room.view.messages.map(\.seq) == Array(1...70))
        await second.close()
    }

    @Test func `loads messages again that have changed since they were stored`() async throws {
        let server = try ChatServer()
        try await server.fill(30)
        let client = client(of: server) { $0.pageLimit = 10 }
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        try await room.load(.before)
        await room.flush()
        await client.enterBackground()
        try await room.shows { $0.connection == .offline }
        _ = try await server.client("bob").message("DELETE", "/v1/rooms/lobby/messages/15")
        // The socket continues at the revision of this page, so it does not bring the deletion.
        try await room.open(at: .newest)
        #expect(await room.view.messages.map(\.seq) == Array(21...30))
        await client.enterForeground()
        try await room.isLive()
        try await room.load(.before)
        let messages = await room.view.messages
        #expect(messages.map(\.seq) == Array(11...30) && messages.filter(\.isDeleted).map(\.seq) == [15])
        await client.close()
    }

    @Test func `opens at a place far from the newest message, without the server`() async throws {
        let server = try ChatServer()
        try await server.fill(70)
        let first = client(of: server) { $0.pageLimit = 50 }
        let whole = try await first.room("lobby").open(at: .newest)
        try await whole.isLive()
        try await whole.load(.before)
        await whole.setViewport(atBottom: false, lastVisible: 30)
        try await whole.shows { $0.read == 30 }
        await first.close()
        server.stop()

        for (place, seq) in [(Room.Place.read, 31), (.seq(12), 12)] as [(Room.Place, Int64)] {
            let second = client(of: server) {
                $0.pageLimit = 10
                $0.restoredMessages = 10
            }
            let room = try await second.room("lobby").open(at: place)
            let seqs = await room.view.messages.map(\.seq)
            try #require(seqs.contains(seq) && seqs.count == 10)
            #expect(await room.view.rows.contains { $0.id == .unreadLine } == (seq == 31))
            while await room.view.after != .end { try await room.load(.after) }
            #expect(await room.view.messages.map(\.seq) == Array(seqs[0]...70))
            await second.close()
        }
    }

    @Test func `sends unsent messages once and in order after the app was killed`() async throws {
        let server = try ChatServer()
        let first = client(of: server)
        let killed = try await first.room("lobby").open(at: .newest)
        try await killed.isLive()
        server.stop()
        for number in 1...5 { try await killed.enqueue(ChatDraft("\(number)", clientMessageID: "id-\(number)")) }

        // The first client is not closed, as after kill -9. It may even send, too.
        let second = client(of: server)
        let room = try await second.room("lobby").open(at: .newest)
        #expect(await room.view.texts == ["1", "2", "3", "4", "5"])
        #expect(try await second.roomsWithUnsentMessages() == ["lobby"])
        try server.start()
        #expect(try await room.stored("id-5").text == "5")
        try await room.shows { $0.messages.count == 5 }
        #expect(try await server.client("reader").history(of: "lobby").map(\.text) == ["1", "2", "3", "4", "5"])
        await second.close()
        await first.close()

        let third = client(of: server)
        #expect(try await third.roomsWithUnsentMessages() == [])
        let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(permissions == 0o600)
        let again = try await third.room("lobby").open(at: .newest)
        try await again.isLive()
        #expect(await again.view.texts == ["1", "2", "3", "4", "5"])
        await third.close()
    }

    @Test func `stores a send once whose answer was lost with the app`() async throws {
        let server = try ChatServer()
        // The server has stored the message, and the store still has the send.
        let draft = ChatDraft("hello", clientMessageID: "a")
        let before = server.client()
        _ = try await before.message("POST", "/v1/rooms/lobby/messages", body: draft.body)
        let key = StoredRoomKey(account: try #require(await before.account(of: "alice")), room: "lobby")
        let store: GRDBClientStore = .file(path)
        try await store.write([.send(StoredSend(draft: draft, at: 1))], to: key)

        let second = client(of: server)
        let room = try await second.room("lobby").open(at: .newest)
        #expect(try await room.stored("a").seq == 1)
        try await room.isLive()
        #expect(await room.view.texts == ["hello"])
        #expect(try await server.client("bob").history(of: "lobby").count == 1)
        await second.close()
        #expect(try await store.roomsWithSends(of: key.account) == [])
    }

    @Test func `sends a message later whose post failed because the client was being closed`() async throws {
        let server = try ChatServer()
        let first = client(of: server)
        let room = try await first.room("lobby").open(at: .newest)
        try await room.isLive()
        server.stop()
        let draft = ChatDraft("mine", clientMessageID: "a")
        try await room.enqueue(draft)
        // A closed client fails its requests, and then ends its rooms one after another.
        await room.receiveAnswer(.failure(.isClosed), to: draft)
        await first.close()
        try server.start()

        let second = client(of: server)
        let again = try await second.room("lobby").open(at: .newest)
        #expect(try await again.stored("a").text == "mine")
        await second.close()
    }

    @Test func `keeps a refused send as failed until the user retries or discards it`() async throws {
        let server = try ChatServer()
        let first = client(of: server)
        let room = try await first.room("lobby").open(at: .newest)
        for id in ["a", "b"] {
            let draft = ChatDraft(String(repeating: id, count: 20_000), clientMessageID: id)
            await #expect(throws: BackscrollClientError.self) { try await room.send(draft) }
        }
        await first.close()

        let second = client(of: server)
        let again = try await second.room("lobby").open(at: .newest)
        try await again.shows { view in
            view.rows.filter { if case .send(_, .failed("too_long")) = $0.content { true } else { false } }.count == 2
        }
        let error = await #expect(throws: BackscrollClientError.self) { try await again.retry("a") }
        #expect(error?.code == "too_long" && error?.limit == 16_384)
        await again.discard("a")
        await second.close()

        let third = client(of: server)
        let last = try await third.room("lobby").open(at: .newest)
        try await last.shows { $0.rows.contains { $0.id == .mine(clientMessageID: "b") } }
        #expect(await last.view.rows.allSatisfy { $0.id != .mine(clientMessageID: "a") })
        await third.close()
    }

    @Test func `keeps a refused send that the user retries as unsent`() async throws {
        let server = try ChatServer()
        let transport = FaultyTransport()
        let first = client(of: server) { $0.transport = transport }
        let room = try await first.room("lobby").open(at: .newest)
        try await room.isLive()
        transport.refuse(status: 422, code: "too_long") { $0.method == "POST" }
        let draft = ChatDraft("mine", clientMessageID: "a")
        await #expect(throws: BackscrollClientError.self) { try await room.send(draft) }
        server.stop()
        let retrying = Task { try await room.retry("a") }
        try await room.shows { view in
            !view.rows.contains { if case .send(_, .failed) = $0.content { true } else { false } }
        }
        await room.flush()

        // The first client is not closed, as after kill -9.
        let second = client(of: server)
        #expect(try await second.roomsWithUnsentMessages() == ["lobby"])
        await second.close()
        await first.close()
        _ = await retrying.result
    }

    @Test func `drops the messages of another history, and sends its unsent messages`() async throws {
        let server = try ChatServer()
        try await server.fill(5)
        let first = client(of: server)
        let room = try await first.room("lobby").open(at: .newest)
        try await room.isLive()
        server.stop()
        try await room.enqueue(ChatDraft("mine"))
        await first.close()
        server.forgetDatabase()
        try server.start()
        try await server.post("new")

        let second = client(of: server)
        let again = try await second.room("lobby").open(at: .newest)
        try await again.shows { $0.connection == .live && $0.messages.map(\.text) == ["new", "mine"] }
        await second.close()
        server.stop()
        let third = client(of: server)
        #expect(try await third.room("lobby").open(at: .newest).view.texts == ["new", "mine"])
        await third.close()
    }

    @Test func `loads a room again whose stored position the server does not know`() async throws {
        let server = try ChatServer()
        try await server.fill(5)
        let first = client(of: server)
        try await first.room("lobby").open(at: .newest).isLive()
        await first.close()
        try await database { try $0.execute(sql: "UPDATE backscroll_run SET rev = 4000") }

        let second = client(of: server)
        let room = try await second.room("lobby").open(at: .newest)
        try await room.shows { $0.connection == .live && $0.rev == 5 && $0.texts.count == 5 }
        await second.close()
        let revs = try await database { try Int64.fetchAll($0, sql: "SELECT rev FROM backscroll_run") }
        #expect(revs == [5])
    }

    @Test func `keeps rooms, users and servers apart`() async throws {
        let server = try ChatServer()
        let other = try ChatServer()
        try await server.post("here", to: "lobby")
        try await server.post("kitchen", to: "kitchen")
        try await other.post("there", to: "lobby")
        for (server, name, room, text) in [
            (server, "alice", "lobby", "here"), (server, "alice", "kitchen", "kitchen"),
            (other, "alice", "lobby", "there"),
        ] {
            let client = client(of: server, name)
            let room = try await client.room(room).open(at: .newest)
            try await room.isLive()
            #expect(await room.view.texts == [text])
            await client.close()
        }
        server.stop()
        other.stop()
        let here = client(of: server)
        let there = client(of: other)
        let bob = client(of: server, "bob") { $0.openingFailures = 1 }
        #expect(try await here.room("lobby").open(at: .newest).view.texts == ["here"])
        #expect(try await here.room("kitchen").open(at: .newest).view.texts == ["kitchen"])
        #expect(try await there.room("lobby").open(at: .newest).view.texts == ["there"])
        await #expect(throws: BackscrollClientError.self) { try await bob.room("lobby").open(at: .newest) }
        for client in [here, there, bob] { await client.close() }
    }

    @Test func `serves calls and clients at the same time`() async throws {
        let server = try ChatServer()
        try await server.fill(8)
        let clients = [client(of: server), client(of: server), client(of: server)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in clients {
                for _ in 0..<4 {
                    group.addTask {
                        let room = try await client.room("lobby")
                        try await room.open(at: .newest)
                        try await room.isLive()
                    }
                }
            }
            try await group.waitForAll()
        }
        var rooms: [Room] = []
        for client in clients { rooms.append(try await client.room("lobby").open(at: .newest)) }
        for (number, room) in rooms.enumerated() { try await room.send("from \(number)") }
        for room in rooms { try await room.shows { $0.messages.count == 11 } }
        for client in clients { await client.close() }
        server.stop()
        let last = client(of: server)
        #expect(try await last.room("lobby").open(at: .newest).view.messages.map(\.seq) == Array(1...11))
        await last.close()
    }

    @Test func `moves the server's read mark after it was moved offline`() async throws {
        let server = try ChatServer()
        try await server.fill(5)
        let first = client(of: server)
        let room = try await first.room("lobby").open(at: .newest)
        try await room.isLive()
        server.stop()
        try await room.shows { $0.connection == .offline }
        await room.setViewport(atBottom: false, lastVisible: 4)
        await first.close()

        let second = client(of: server)
        let again = try await second.room("lobby").open(at: .read)
        #expect(await again.view.read == 4)
        try server.start()
        try await again.isLive()
        while try await second.page(of: "lobby", .init(anchor: .aroundUnread, limit: 5)).read != 4 {
            await Task.yield()
        }
        await second.close()
    }

    @Test(arguments: [true, false])
    func `moves no read mark of another history`(isRestarted: Bool) async throws {
        let server = try ChatServer()
        try await server.fill(5)
        let transport = FaultyTransport()
        let store = isRestarted ? GRDBClientStore.file(path) : nil
        func client() -> BackscrollClient {
            server.client(.name("alice"), store: store) { $0.transport = transport }
        }
        var user = client()
        var room = try await user.room("lobby").open(at: .newest)
        try await room.isLive()
        server.stop()
        try await room.shows { $0.connection == .offline }
        await room.setViewport(atBottom: false, lastVisible: 4)
        if isRestarted {
            await user.close()
            user = client()
            room = try await user.room("lobby").open(at: .newest)
            #expect(await room.view.read == 4)
        }
        server.forgetDatabase()
        try server.start()
        try await server.post("one", "two", "three", "four", "five")
        try await room.shows { $0.connection == .live && $0.texts.last == "five" }
        // The next mark that the server gets is of its own history.
        await room.setViewport(atBottom: false, lastVisible: 2)
        var read: Int64 = 0
        while read == 0 { read = try await user.page(of: "lobby", .init(anchor: .aroundUnread, limit: 5)).read ?? 0 }
        #expect(read == 2 && transport.times(of: "PUT", "/v1/rooms/lobby/read").count == 1)
        await user.close()
    }

    @Test func `forgets a room that the user may no longer read`() async throws {
        let server = try ChatServer()
        try await server.fill(3)
        let first = client(of: server)
        let room = try await first.room("lobby").open(at: .newest)
        try await room.isLive()
        await room.end(BackscrollClientError(code: "not_a_member", message: "Removed.", status: 403))
        await first.close()
        let seqs = try await database { try Int64.fetchAll($0, sql: "SELECT seq FROM backscroll_message") }
        #expect(seqs == [])
    }

    @Test(arguments: ["damaged", "newer", "directory"])
    func `opens rooms without an unusable store, and reports that to the app`(kind: String) async throws {
        let server = try ChatServer()
        try await server.fill(2)
        var path = path
        switch kind {
        case "damaged":
            try directory.write(String(repeating: "This is no database. ", count: 500), to: "client.db")
        case "newer":
            let first = client(of: server)
            try await first.room("lobby").open(at: .newest)
            await first.close()
            try await database { try $0.execute(sql: "UPDATE backscroll_version SET version = 99") }
        default:
            path = directory.path(of: "none/client.db")
        }
        let told = Told()
        let client = server.client(.name("alice"), store: .file(path)) { $0.onStoreFailure = { told.add($0) } }
        let room = try await client.room("lobby").open(at: .newest)
        #expect(try await room.send("3").seq == 3)
        #expect(await room.view.texts == ["1", "2", "3"])
        let codes = ["damaged": "store_damaged", "newer": "store_newer", "directory": "store_unavailable"]
        #expect(told.errors.map(\.code) == [codes[kind]])
        await client.close()
    }

    /// Opens the suite's file by itself.
    private func database<Value: Sendable>(
        _ body: @Sendable @escaping (Database) throws -> Value
    ) async throws -> Value {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try await queue.write(body)
    }
}

/// The failures that an app was told.
private final class Told: Sendable {
    private let state = Mutex<[BackscrollClientError]>([])

    var errors: [BackscrollClientError] { state.withLock { $0 } }

    func add(_ error: BackscrollClientError) { state.withLock { $0.append(error) } }
}
