import BackscrollTimeline
import TestSupport
import Testing

@testable import BackscrollClient

@Suite("Sending", .timeLimit(.minutes(30)))
struct SendingTests {
    @Test(arguments: ["lost-answer/3", "status=503/2", "late-answer=20, double-push", "status=429:2, lost-answer/2"])
    func `keeps the order and stores each message once, whatever fails`(fault: String) async throws {
        let server = try ChatServer()
        let client = server.client(faults: fault)
        let room = try await client.room("lobby").open(at: .newest)
        let texts = (1...12).map { "message \($0)" }
        for text in texts.dropLast() { try await room.enqueue(ChatDraft(text)) }
        try await room.send(texts[11])
        #expect(await room.view.texts == texts)
        #expect(try await server.client("reader").history(of: "lobby").map(\.text) == texts)
        await client.close()
    }

    @Test func `shows a message before it is stored`() async throws {
        let server = try ChatServer()
        let client = server.client(faults: "late-answer=2000")
        let room = try await client.room("lobby").open(at: .newest)
        let draft = ChatDraft("hello")
        try await room.enqueue(draft)
        #expect(await room.view.texts == ["hello"])
        #expect(await MainActor.run { room.timeline.rows.last?.id } == .mine(clientMessageID: draft.clientMessageID))
        await client.close()
    }

    @Test func `continues after the server was away`() async throws {
        let server = try ChatServer()
        let client = server.client()
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        server.stop()
        try await room.shows { $0.connection == .offline }
        let sending = Task { try await room.send("while away") }
        try await room.shows { $0.texts == ["while away"] }
        try server.start()
        #expect(try await sending.value.seq == 1)
        try await room.isLive()
        #expect(await room.view.texts == ["while away"])
        await client.close()
    }

    @Test func `sends a message although the task that waits for it is cancelled`() async throws {
        let server = try ChatServer()
        let client = server.client(faults: "status=503:2")
        let room = try await client.room("lobby").open(at: .newest)
        let sending = Task { try await room.send("hello") }
        try await room.shows { $0.texts == ["hello"] }
        sending.cancel()
        let error = await #expect(throws: BackscrollClientError.self) { try await sending.value }
        if let error { #expect(error.code == BackscrollClientError.cancelled) }
        try await room.shows { $0.messages.map(\.text) == ["hello"] }
        await client.close()
    }

    @Test func `posts a refused message again when the user asks for it`() async throws {
        let server = try ChatServer()
        let client = server.client()
        let room = try await client.room("lobby").open(at: .newest)
        let draft = ChatDraft(String(repeating: "x", count: 20_000))
        let error = await #expect(throws: BackscrollClientError.self) { try await room.send(draft) }
        #expect(error?.code == "too_long" && error?.field == "text" && error?.limit == 16_384)
        let again = await #expect(throws: BackscrollClientError.self) { try await room.retry(draft.clientMessageID) }
        #expect(again?.code == "too_long")
        let unknown = await #expect(throws: BackscrollClientError.self) { try await room.retry("other") }
        #expect(unknown?.code == "not_failed")
        try await room.send("short")
        #expect(await room.view.texts.count == 2)
        await client.close()
    }

    @Test func `tells others that the user types, and counts them`() async throws {
        let server = try ChatServer()
        // On the fast clock the notice would be over before a busy machine shows it.
        let bob = server.client("bob") { $0.clock = ClientClock() }
        let alice = server.client("alice")
        let room = try await bob.room("lobby").open()
        let other = try await alice.room("lobby").open()
        try await room.shows { $0.connection == .live && $0.online == 2 }
        try await other.isLive()
        await other.typing()
        try await room.shows { $0.typing == ["alice"] }
        try await room.shows { $0.typing.isEmpty }
        await alice.close()
        await bob.close()
    }

    @Test func `returns each of many messages that are sent at the same time`() async throws {
        let server = try ChatServer()
        let client = server.client()
        let room = try await client.room("lobby").open(at: .newest)
        let sent = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 0..<400 { group.addTask { try await room.send("\(number)").seq } }
            return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
        }
        #expect(sent == Set(1...400))
        await client.close()
    }
}
