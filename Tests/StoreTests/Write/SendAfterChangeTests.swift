import Chat
import Testing
import Wire

@testable import Store

@Suite("A send that is repeated after its message was changed")
struct RepeatedSendAfterChangeTests {
    private let send = TestLog.Send(text: "hi", id: "a1", data: #"{"a":1,"b":[2.50]}"#)
    private let same = TestLog.Send(text: "hi", id: "a1", data: #"{"b":[25e-1],"a":1}"#)

    @Test(arguments: TestStore.journals(0, 100))
    func `returns the message as it is now`(journalMessages: Int) throws {
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

    @Test func `is recognized in the commit that changes the message`() throws {
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

    @Test func `relies on a fingerprint, which only messages with an id have`() throws {
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

@Suite("A send whose content the app has changed")
struct ChangedSendTests {
    private let send = TestLog.Send(text: "h*", id: "a1", original: "hi")

    @Test(arguments: TestStore.journals(0, 100))
    func `is recognized by what the client has sent`(journalMessages: Int) throws {
        var log = try TestLog { $0.journal.messages = journalMessages }
        let first = try log.send(send).message
        let changes: [(TestLog) throws -> StoredMessage] = [
            { _ in first }, { try $0.react(to: 1, as: "bob") }, { try $0.edit(1, "bye") }, { try $0.delete(1) },
        ]
        for change in changes {
            let changed = try change(log)
            for same in [send, .init(text: "hi", id: "a1"), .init(text: "other", id: "a1", original: "hi")] {
                #expect(try log.send(same) == .message(changed, isNew: false))
            }
            for other in [TestLog.Send(text: "HI", id: "a1"), .init(text: "x", id: "a1", original: "y")] {
                #expect(throws: Problem.clientMessageIDReused) { try log.send(other) }
            }
            log = try log.reopened { $0.journal.messages = journalMessages }
        }
        #expect(try log.count("first_contents") == 1)
    }

    @Test func `is told apart from another send that was stored as it is`() throws {
        let log = try TestLog()
        let first = try log.send(.init(text: "hi", id: "a1")).message
        // The app had answered otherwise to the second one.
        #expect(try log.send(send) == .message(first, isNew: false))
        #expect(throws: Problem.clientMessageIDReused) { try log.send(.init(text: "h*", id: "a1", original: "ho")) }
        try log.send(.init(text: "h*", original: "hi"))
        #expect(try log.count("first_contents") == 0)
    }
}

@Suite("A trial")
struct TrialTests {
    private func trial(_ submission: Submission) -> Submission {
        var trial = submission
        trial.isTrial = true
        return trial
    }

    @Test func `has the message that a send or an edit would store, and stores nothing`() throws {
        let log = try TestLog()
        func send() throws -> Submission { try log.submissions([.init(text: "hi", id: "a1")])[0] }
        guard case .permitted(let message) = try log.outcome(trial(send())).get() else {
            Issue.record("it is not permitted")
            return
        }
        #expect(try Message(decoding: message.body).content.text == "hi")
        #expect(try log.state() == RoomState())
        #expect(try log.count("rooms") == 0)
        let stored = try log.outcome(send()).get()
        #expect(stored.isNew)
        // Decided together, a trial is still not stored.
        let edit = try log.submission(.init(seq: 1, action: .edit(Edit(text: "ho"))))
        let results = try log.submitAll([trial(edit), trial(send()), trial(log.submissions([.init(text: "two")])[0])])
        guard case .permitted(let edited) = try results[0].get() else {
            Issue.record("it is not permitted")
            return
        }
        #expect(try Message(decoding: edited.body).content.text == "ho")
        #expect(try results[1].get() == .message(stored.message, isNew: false))
        #expect(try log.state() == RoomState(head: 1, rev: 1))
        #expect(try log.stored(1)?.body == stored.body)
    }

    @Test func `is refused, or has nothing to do, as the change would be`() throws {
        let log = try TestLog()
        try log.send(.init(text: "hi", id: "a1"))
        func result(_ submission: Submission) throws -> Result<Receipt, Problem> { try log.outcome(trial(submission)) }
        let reused = try log.submissions([.init(text: "ho", id: "a1")])[0]
        #expect(throws: Problem.clientMessageIDReused) { try result(reused).get() }
        let foreign = try log.submission(.init(seq: 1, action: .edit(Edit(text: "ho")), user: "bob"))
        #expect(throws: Problem.notTheSender) { try result(foreign).get() }
        let same = try log.submission(.init(seq: 1, action: .edit(Edit(text: "hi"))))
        #expect(try result(same).get().isNew == false)
        #expect(try log.state().rev == 1)
        _ = try log.change(.setBan(UserID("mallory"), BanSettings(scope: .all)), by: "alice").get()
        let banned = try log.submissions([.init(sender: "mallory")])[0]
        #expect(throws: Problem.self) { try result(banned).get() }
    }
}

@Suite("A fingerprint")
struct FingerprintTests {
    @Test func `is the same for the same content in one database, and differs between databases`() throws {
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

    @Test func `needs the database's secret, without which sends get 503`() throws {
        let log = try TestLog()
        log.close()
        try log.execute("DELETE FROM meta WHERE key = 'fingerprint_secret'")
        let opened = try log.reopened()
        let problem = #expect(throws: Problem.self) { try opened.send(.init()) }
        #expect(problem?.status == 503)
    }
}
