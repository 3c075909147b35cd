import Chat
import Testing
import Wire

@testable import Store

@Suite("A send that is repeated after its message was changed")
struct RepeatedSendAfterChangeTests {
    private let send = TestLog.Send(text: "hi", id: "a1", data: #"{"a":1,"b":[2.50]}"#)
    private let same = TestLog.Send(text: "hi", id: "a1", data: #"{"b":[25e-1],"a":1}"#)

    @Test("returns the message as it is now", arguments: TestStore.journals(0, 100))
    func present(journalMessages: Int) throws {
        var log = try TestLog { $0.journal.messages = journalMessages }
        try log.send(send)
        let changes: [(TestLog) throws -> StoredMessage] = [
            { try $0.react(to: 1, as: "bob") }, { try $0.edit(1, "bye") }, { try $0.edit(1, "hi") },
            { try $0.edit(1, "once more") }, { try $0.delete(1) },
        ]
        for change in changes {
            let changed = try change(log)
            for _ in 0..<2 {
                let again = try log.send(same)
                #expect(again.body == changed.body && again.rev == changed.rev && !again.isNew)
                for other in ["bye", "once more", "HI", ""] {
                    let reuse = TestLog.Send(text: other, id: "a1", data: send.data)
                    #expect(throws: Problem.clientMessageIDReused) { try log.send(reuse) }
                }
                #expect(throws: Problem.clientMessageIDReused) { try log.send(.init(text: "hi", id: "a1")) }
                log = try log.reopened { $0.journal.messages = journalMessages }
            }
        }
        #expect(try log.state() == RoomState(head: 1, rev: 6))
    }

    @Test("is recognized in the commit that changes the message")
    func withinCommit() throws {
        let log = try TestLog()
        let results = try log.submitAll(
            log.submissions([send]) + [log.submission(.init(seq: 1, action: .edit(Edit(text: "bye"))))]
                + log.submissions([same, .init(text: "bye", id: "a1")])
                + [log.submission(.init(seq: 1, action: .delete))] + log.submissions([same]))
        #expect(try results[2].get().rev == 2)
        #expect(throws: Problem.clientMessageIDReused) { try results[3].get() }
        #expect(try results[5].get().rev == 3)
        #expect(try !results[5].get().isNew)
    }

    @Test("relies on a fingerprint, which only messages with an id have")
    func fingerprints() throws {
        let log = try TestLog()
        try log.sendAll([.init(id: "a1"), .init(), .init(id: "a3"), .init(id: "a4")])
        try log.edit(1, "x")
        try log.edit(1, "y")
        try log.delete(1)
        try log.delete(2)
        try log.react(to: 3)
        try log.delete(4)
        let rows = try log.texts("SELECT message FROM first_contents ORDER BY message").map { try #require($0) }
        #expect(rows.map { RowKey(rawValue: Int64($0) ?? 0).ordinal } == [1, 4])
    }
}

@Suite("A fingerprint")
struct FingerprintTests {
    @Test("is the same for the same content in one database, and differs between databases")
    func perDatabase() throws {
        let contents = ["a", "b"].map { Content(text: $0) }
        let prints = try (0..<3).map { _ in
            let log = try TestLog()
            for (index, content) in contents.enumerated() {
                try log.send(.init(text: content.text, id: "\(index)"))
                try log.edit(Int64(index + 1), "other")
            }
            return try log.texts("SELECT fingerprint FROM first_contents ORDER BY message")
        }
        #expect(Set(prints.flatMap { $0 }).count == 6)
    }

    @Test("needs the database's secret, without which sends get 503")
    func missingSecret() throws {
        let log = try TestLog()
        log.close()
        try log.execute("DELETE FROM meta WHERE key = 'fingerprint_secret'")
        let opened = try log.reopened()
        let problem = #expect(throws: Problem.self) { try opened.send(.init()) }
        #expect(problem?.status == 503)
    }
}
