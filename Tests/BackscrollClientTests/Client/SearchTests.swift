import BackscrollTimeline
import Foundation
import Server
import Testing
import Wire

@testable import BackscrollClient

@Suite("A search", .timeLimit(.minutes(30)))
struct SearchTests {
    /// Returns `ROOM:SEQ` of all hits.
    private func places(of pages: SearchPages) async throws -> [String] {
        var places: [String] = []
        for try await page in pages { places += page.hits.map { "\($0.message.room):\($0.message.seq)" } }
        return places
    }

    @Test func `finds the messages of a room and of all rooms, page by page`() async throws {
        let server = try ChatServer()
        for text in ["정기회의는 3시", "notes", "회의 notes", "other"] {
            for room in ["den", "attic"] { try await server.post(text, to: room, as: "alice") }
        }
        let client = server.client("alice")
        let one = SearchOptions(limit: 1)
        #expect(try await places(of: client.search("회의", in: "den", one)) == ["den:3", "den:1"])
        #expect(try await Set(places(of: client.search("notes -회의", one))) == ["attic:2", "den:2"])
        // A sequence can be read again, from the beginning.
        let pages = client.search("회의", in: "den")
        #expect(try await places(of: pages) == places(of: pages))
        let first = try #require(await client.search("notes", in: "den", one).first { _ in true })
        let rest = SearchOptions(cursor: first.cursor)
        #expect(try await places(of: client.search("notes", in: "den", rest)) == ["den:2"])
        await client.close()
    }

    @Test func `is narrowed by its options`() async throws {
        let server = try ChatServer()
        try await server.post("note 1", "note https://example.com", to: "den", as: "alice")
        try await server.post("note 3", to: "den", as: "bob")
        let client = server.client("alice")
        func found(_ options: SearchOptions) async throws -> [String] {
            try await places(of: client.search("note", in: "den", options))
        }
        #expect(try await found(SearchOptions(sender: "bob")) == ["den:3"])
        #expect(try await found(SearchOptions(before: .seq(3), after: .seq(1))) == ["den:2"])
        #expect(try await found(SearchOptions(has: .link)) == ["den:2"])
        let past = Timestamp(Date(timeIntervalSince1970: 1))
        #expect(try await found(SearchOptions(before: .time(past))).isEmpty)
        #expect(try await found(SearchOptions(after: .time(past))).count == 3)
        await client.close()
    }

    @Test func `tells where the words are`() async throws {
        let server = try ChatServer()
        try await server.post("👍 회의 notes", to: "den", as: "alice")
        let client = server.client("alice")
        let page = try #require(await client.search("note 회의", in: "den").first { _ in true })
        let hit = try #require(page.hits.first)
        #expect(hit.highlights == [3..<5, 6..<10])
        #expect(hit.ranges.map { hit.message.text[$0] } == ["회의", "note"])
        #expect(page.cursor == nil && page.indexedTo == nil)
        await client.close()
    }

    @Test func `throws the server's refusals`() async throws {
        let server = try ChatServer()
        let (client, bob) = (server.client("alice"), server.client("bob"))
        try await bob.rooms.make("den", visibility: .private)
        func error(_ words: String, in room: String? = nil, _ options: SearchOptions = .init()) async throws -> String {
            let error = await #expect(throws: BackscrollClientError.self) {
                try await places(of: client.search(words, in: room, options))
            }
            return "\(try #require(error).code) \(error?.field ?? "")"
        }
        #expect(try await error("\"open") == "query_invalid q")
        #expect(try await error("word", in: "no/room") == "invalid_room room")
        #expect(try await error("word", SearchOptions(before: .seq(1))) == "invalid_cursor before")
        #expect(try await error("word", in: "den") == "room_not_found ")
        for client in [client, bob] { await client.close() }
        #expect(try await error("word") == "closed ")
    }

    @Test func `requests a page again after a temporary error`() async throws {
        let server = try ChatServer()
        try await server.post("note", "note", to: "den", as: "alice")
        let transport = FaultyTransport()
        let client = server.client("alice") { $0.transport = transport }
        var pages = client.search("note", in: "den", SearchOptions(limit: 1)).makeAsyncIterator()
        #expect(try await pages.next()?.hits.map(\.message.seq) == [2])
        transport.refuse(status: 503, code: "index_building", retryAfter: 7) { $0.target.contains("/search") }
        let error = await #expect(throws: BackscrollClientError.self) { try await pages.next() }
        #expect(error?.code == BackscrollClientError.indexBuilding && error?.retryAfter == 7)
        #expect(error?.isTemporary == true)
        #expect(try await pages.next()?.hits.map(\.message.seq) == [1])
        #expect(try await pages.next() == nil)
        #expect(try await pages.next() == nil)
        await client.close()
    }

    @Test func `ends with the task that reads it`() async throws {
        let server = try ChatServer()
        let client = server.client("alice")
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await places(of: client.search("note"))
        }
        task.cancel()
        let error = await #expect(throws: BackscrollClientError.self) { try await task.value }
        #expect(error?.code == BackscrollClientError.cancelled)
        await client.close()
    }
}
