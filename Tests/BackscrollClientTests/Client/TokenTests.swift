import Server
import Synchronization
import TestSupport
import Testing
import Tokens
import Wire

@testable import BackscrollClient

/// The user of a client, by the tokens that the app returns.
@Suite("A client's token", .timeLimit(.minutes(30)))
struct TokenTests {
    /// The tokens that an app has at a time.
    private final class App: Sendable {
        private let state: Mutex<@Sendable () throws -> String>
        private let calls = Mutex(0)
        /// The number of calls, at each call.
        private let (counts, source) = AsyncStream.makeStream(of: Int.self)

        init(_ make: @escaping @Sendable () throws -> String) { state = Mutex(make) }

        /// Waits until the client has asked for a token this many times more.
        func isAsked(_ times: Int) async {
            let enough = calls.withLock { $0 } + times
            for await count in counts where count >= enough { return }
        }

        func returns(_ make: @escaping @Sendable () throws -> String) {
            state.withLock { $0 = make }
        }

        func token() throws -> String {
            calls.withLock { calls in
                calls += 1
                source.yield(calls)
            }
            return try state.withLock { $0 }()
        }

        static func token(of user: String, ended: Bool = false) throws -> String {
            let now = Wire.Timestamp.now().milliseconds / 1000
            return try TestKeys.token(payload: #"{"sub":"\#(user)","exp":\#(ended ? now - 600 : now + 600)}"#)
        }
    }

    private func server() throws -> ChatServer {
        try ChatServer { configuration in
            var sources = KeySources()
            sources.secret = TestKeys.secret
            configuration.tokens = (try? sources.load()).map { TokenRules(keys: $0) }
        }
    }

    @Test(arguments: ["expired", "garbage", "none"])
    func `holds the outbox until it works again, and sends all in order`(kind: String) async throws {
        let server = try server()
        let app = App { try App.token(of: "alice") }
        let transport = FaultyTransport()
        let client = server.client(.token { try app.token() }) { $0.transport = transport }
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        app.returns {
            switch kind {
            case "expired": try App.token(of: "alice", ended: true)
            case "garbage": "garbage"
            default: throw CancellationError()
            }
        }
        // The token that the client has is over, too.
        transport.refuse(1, status: 401, code: "token_expired") { $0.method == "POST" }
        let texts = (1...20).map { "\($0)" }
        for text in texts { try await room.enqueue(ChatDraft(text)) }
        await app.isAsked(4)
        let states = await room.view.rows.compactMap { row in
            if case .send(_, let state) = row.content { state } else { nil }
        }
        #expect(states.count == 20 && states.allSatisfy { $0 == .queued || $0 == .sending })
        app.returns { try App.token(of: "alice") }
        try await room.shows { $0.messages.map(\.text) == texts }
        #expect(try await client.history(of: "lobby").map(\.text) == texts)
        await client.close()
    }

    @Test func `of another user is refused, and nothing is posted with it`() async throws {
        let server = try server()
        let app = App { try App.token(of: "alice") }
        let transport = FaultyTransport()
        let client = server.client(.token { try app.token() }) { $0.transport = transport }
        let room = try await client.room("lobby").open(at: .newest)
        app.returns { try App.token(of: "bob") }
        transport.refuse(2, status: 401, code: "token_expired") { $0.method == "POST" || $0.method == "PATCH" }
        try await room.enqueue(ChatDraft("alice's"))
        await app.isAsked(2)
        let error = await #expect(throws: BackscrollClientError.self) { try await room.edit(1, text: "edited") }
        #expect(error?.code == BackscrollClientError.otherUser && error?.message.contains("bob") == true)
        #expect(try await client.userID() == "alice")
        app.returns { try App.token(of: "alice") }
        try await room.shows { $0.messages.map(\.senderID) == ["alice"] }
        await client.close()
    }

    @Test func `is waited for until the task is cancelled, or the time of a request is over`() async throws {
        let server = try server()
        let started = Counter()
        let client = server.client(
            .token {
                _ = await started.next()
                try await Task.sleep(for: .seconds(3600))
                return ""
            })
        let opening = Task { try await client.room("lobby").open() }
        while await started.value == 0 { await Task.yield() }
        opening.cancel()
        let error = await #expect(throws: BackscrollClientError.self) { _ = try await opening.value }
        #expect(error?.code == BackscrollClientError.cancelled)
        await client.close()
        let hurried = server.client(
            .token {
                try await Task.sleep(for: .seconds(3600))
                return ""
            }
        ) { $0.requestTimeout = .milliseconds(20) }
        let late = await #expect(throws: BackscrollClientError.self) { try await hurried.room("lobby") }
        #expect(late?.code == BackscrollClientError.tokenUnavailable && late?.isTemporary == true)
        await hurried.close()
    }
}
