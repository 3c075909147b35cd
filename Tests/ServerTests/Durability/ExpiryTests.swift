import Chat
import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("With --keep-days")
struct ExpiryTests {
    private struct Nobody: LogObserver {
        func committed(_ outcomes: [Outcome], _ batches: [Batch]) {}
        func membershipsChanged(_ changes: [MembershipChange]) {}
        func accessEnded(_ ends: [AccessEnd]) {}
        func fetched(_ replies: [any PendingReply]) {}
    }

    /// Stores messages that are two days old.
    private func storeOldMessages(_ texts: [String], in database: String) throws {
        var configuration = StoreConfiguration()
        configuration.clock = { Timestamp(milliseconds: Timestamp.now().milliseconds - 2 * 86_400_000) }
        configuration.usesDatabaseClock = false
        configuration.allowsUnsafeDatabase = true
        let log: any OpenLog =
            TestPostgres.isTestedStore
            ? try PostgresLog(url: database, observer: Nobody(), configuration: configuration)
            : try SQLiteLog(path: database, observer: Nobody(), configuration: configuration)
        log.submit(
            try texts.enumerated().map { number, text in
                Submission(
                    ticket: Ticket(loop: 0, number: UInt64(number)), room: try RoomID("lobby"),
                    sender: try UserID("alice"),
                    change: .send(Draft(clientMessageID: "id\(number)", content: Content(text: text))))
            })
        log.close()
        // In PostgreSQL the wish of this node, to keep all messages, would count for a while.
        if TestPostgres.isTestedStore { try PostgresSession(database).execute("DELETE FROM retention") }
    }

    @Test func `older messages become tombstones, which subscribers see and metrics count`() throws {
        try withServer { server in
            server.stop()
            try storeOldMessages(["a", "b"], in: server.configuration.database)
            try server.start { $0.keepDays = 1 }
            let live = try LiveFormat.webSocket.subscribe(port: server.port, query: "since=2")
            // They expire before or after the subscription: replayed, or pushed after live.
            let messages = try live.frames(4).compactMap(\.message)
            #expect(messages.map(\.seq) == [1, 2] && messages.map(\.rev) == [3, 4])
            #expect(messages.allSatisfy { $0.deleted == true && $0.text == nil && $0.clientMessageId != nil })
            let client = try HTTPClient(port: server.port)
            let page = try client.read("/v1/rooms/lobby/messages", as: ReceivedPage.self)
            #expect(page.seqs == [1, 2] && page.messages.allSatisfy { $0.deleted == true })
            #expect(try client.get("/metrics").text.contains("backscroll_messages_expired_total 2"))
            #expect(try client.send("new").seq == 3)
            #expect(try client.read("/v1/rooms/lobby?user=bob", as: ReceivedRoom.self).unread == 1)
            #expect(try client.post(HTTPClient.draft("a", id: "id0")).status == .ok)
        }
    }

    @Test func `newer messages stay; without the option, all messages stay`() throws {
        try withServer { server in
            server.stop()
            try storeOldMessages(["a", "b"], in: server.configuration.database)
            for days in [3, nil] as [Int?] {
                try server.start { $0.keepDays = days }
                let client = try HTTPClient(port: server.port)
                try client.send("new", to: "attic")
                #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).rev == 2)
                server.stop()
            }
        }
    }
}
