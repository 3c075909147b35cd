import BackscrollClientStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import BackscrollClient

@Suite("A room whose store fails for a time", .timeLimit(.minutes(30)))
struct StoreFailureTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path(of: "client.db")
    }

    private var store: GRDBClientStore {
        var configuration = Configuration()
        configuration.busyMode = .timeout(0.01)
        return .file(path, configuration: configuration)
    }

    @Test func `says so, and stores what was sent meanwhile once it can`() async throws {
        let server = try ChatServer()
        try await server.fill(3)
        let client = server.client(.name("alice"), store: store)
        let inbox = try await client.rooms.open()
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        server.stop()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let lock = try DatabaseQueue(path: path, configuration: configuration)
        try await lock.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        try await room.enqueue(ChatDraft("unsent"))
        #expect(await room.storeFailure?.code == BackscrollClientError.storeUnavailable)
        #expect(await room.view.texts == ["1", "2", "3", "unsent"])
        try await lock.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        for await change in room.changes where change.storeFailure == nil { break }
        #expect(await room.storeFailure == nil)
        _ = inbox
        await client.close()

        let second = server.client(.name("alice"), store: store)
        #expect(try await second.roomsWithUnsentMessages() == ["lobby"])
        #expect(try await second.room("lobby").open(at: .newest).view.texts == ["1", "2", "3", "unsent"])
        await second.close()
    }

    @Test func `stores what was sent before the file could be opened`() async throws {
        let server = try ChatServer()
        try await server.fill(3)
        let missing = directory.path(of: "later")
        let file = "\(missing)/client.db"
        let client = server.client(.name("alice"), store: .file(file))
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        server.stop()
        try await room.enqueue(ChatDraft("unsent"))
        #expect(await room.storeFailure?.code == BackscrollClientError.storeUnavailable)
        try FileManager.default.createDirectory(atPath: missing, withIntermediateDirectories: true)
        for await change in room.changes where change.storeFailure == nil { break }
        await client.close()
        let second = server.client(.name("alice"), store: .file(file))
        #expect(try await second.roomsWithUnsentMessages() == ["lobby"])
        await second.close()
    }

    @Test func `shows no stored message that has changed before the file could be opened`() async throws {
        let server = try ChatServer()
        try await server.fill(30)
        let (folder, elsewhere) = (directory.path(of: "store"), directory.path(of: "elsewhere"))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let file = "\(folder)/client.db"
        let first = server.client(.name("alice"), store: .file(file))
        let stored = try await first.room("lobby").open(at: .newest)
        try await stored.isLive()
        await stored.close()
        await first.close()
        try FileManager.default.moveItem(atPath: folder, toPath: elsewhere)
        let bob = server.client("bob")
        for seq in [5, 25] { _ = try await bob.message("DELETE", "/v1/rooms/lobby/messages/\(seq)") }

        let second = server.client(.name("alice"), store: .file(file)) { $0.pageLimit = 10 }
        let room = try await second.room("lobby").open(at: .seq(15))
        try await room.isLive()
        #expect(await room.storeFailure?.code == BackscrollClientError.storeUnavailable)
        try FileManager.default.moveItem(atPath: elsewhere, toPath: folder)
        for await change in room.changes where change.storeFailure == nil { break }
        // The file has the messages on both sides as they were.
        try await room.load(.before)
        try await room.load(.after)
        #expect(await room.view.messages.filter(\.isDeleted).map(\.seq) == [5, 25])
        await second.close()
    }

    @Test func `keeps the server's list of rooms when the file can be opened again`() async throws {
        let server = try ChatServer()
        let bob = server.client("bob")
        for id in ["a", "b"] {
            try await bob.rooms.make(id)
            try await bob.rooms.add("alice", to: id)
            try await bob.post("hello", to: id)
        }
        let (folder, elsewhere) = (directory.path(of: "store"), directory.path(of: "elsewhere"))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let file = "\(folder)/client.db"
        let first = server.client(.name("alice"), store: .file(file))
        let stored = try await first.rooms.open()
        try await stored.shows { $0.isLive && $0.rooms.count == 2 }
        await stored.close()
        await first.close()
        try FileManager.default.moveItem(atPath: folder, toPath: elsewhere)
        try await bob.rooms.remove("alice", from: "b")
        try await bob.post("again", to: "a")

        let second = server.client(.name("alice"), store: .file(file))
        let inbox = try await second.rooms.open()
        try await inbox.shows { $0.isLive && $0.rooms.map(\.id) == ["a"] && $0.rooms[0].unread == 2 }
        #expect(await inbox.storeFailure?.code == BackscrollClientError.storeUnavailable)
        try FileManager.default.moveItem(atPath: elsewhere, toPath: folder)
        while await inbox.storeFailure != nil { await Task.yield() }
        let rooms = await inbox.view.rooms
        #expect(rooms.map(\.id) == ["a"] && rooms.first?.unread == 2)
        await second.close()
    }

    @Test func `has the same count of unread messages and the line after a restart, offline and live`() async throws {
        let server = try ChatServer()
        try await server.fill(60)
        func client() -> BackscrollClient { server.client(.name("alice"), store: store) { $0.pageLimit = 10 } }
        let first = client()
        try await first.rooms.join("lobby")
        try await first.rooms.markRead("lobby", upTo: 10)
        let room = try await first.room("lobby").open(at: .read)
        #expect(try await room.isLive().unread == 50)
        await first.close()
        server.stop()

        let second = client()
        let restored = try await second.room("lobby").open(at: .read)
        let view = await restored.view
        #expect(view.read == 10 && view.unread == 50 && view.rows.contains { $0.id == .unreadLine })
        try server.start()
        try await server.post("61")
        try await restored.shows { $0.connection == .live && $0.unread == 51 }
        await second.close()
        // The mark moves on another device.
        try await server.client("alice").rooms.markRead("lobby", upTo: 20)
        let third = client()
        let moved = try await third.room("lobby").open(at: .read)
        try await moved.shows { $0.connection == .live && $0.read == 20 && $0.unread == 41 }
        await third.close()
    }

    @Test func `has no unsent messages once the user may no longer write to it`() async throws {
        let server = try ChatServer()
        let bob = server.client("bob")
        try await bob.rooms.make("team", visibility: .private)
        try await bob.rooms.add("alice", to: "team")
        let first = server.client(.name("alice"), store: store)
        let room = try await first.room("team").open(at: .newest)
        try await room.isLive()
        server.stop()
        try await room.enqueue(ChatDraft("unsent"))
        await first.close()
        try server.start()
        try await server.client("bob").rooms.remove("alice", from: "team")
        let second = server.client(.name("alice"), store: store)
        #expect(try await second.roomsWithUnsentMessages() == ["team"])
        let again = try await second.room("team")
        await #expect(throws: BackscrollClientError.self) {
            try await again.open(at: .newest)
            for await _ in again.changes {}
            throw await again.ending ?? BackscrollClientError(code: "none", message: "")
        }
        #expect(await again.ending?.endsAccess == true)
        #expect(try await second.roomsWithUnsentMessages().isEmpty)
        await second.close()
    }
}
