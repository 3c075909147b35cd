import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("An edit")
struct EditTests {
    private func edit(_ edit: Edit, _ seq: Int64 = 1, as user: String = "alice", revs: [Int64]? = nil) -> TestLog.Change
    {
        TestLog.Change(seq: seq, action: .edit(edit), user: user, revs: revs)
    }

    @Test(arguments: TestStore.journals(0, 100))
    func `changes the content, takes a revision, and leaves everything else unchanged`(journalMessages: Int) throws {
        let clock = TestClock()
        let log = try TestLog {
            $0.clock = { clock.now }
            $0.journal.messages = journalMessages
        }
        try log.fill(1)
        let sent = try log.send(.init(text: "hi", id: "a1", replyTo: 1, data: #"{"a":1}"#))
        clock.step(5)
        let edited = try log.edit(2, "bye")
        #expect(edited.seq == 2 && edited.rev == 3)
        let (before, after) = (try Message(decoding: sent.body), try Message(decoding: edited.body))
        #expect(after.content.text == "bye" && after.content.replyTo == 1)
        #expect(after.content.data == before.content.data)
        #expect(after.clientMessageID == "a1" && after.createdAt == before.createdAt && after.rev == 3)
        #expect(after.editedAt == clock.now)
        #expect(try log.message(2) == edited.body)
        #expect(try log.message("a1", from: "alice") == edited.body)
        #expect(try log.stored(2)?.rev == 3)
        #expect(try log.state() == RoomState(head: 2, rev: 3))
        #expect(try log.send(.init()).rev == 4)
    }

    @Test func `is pushed, and occurs in the changes once, at its revision`() throws {
        let log = try TestLog()
        let sent = try log.fill(3)
        let edited = try log.edit(2, "bye")
        let batch = try #require(log.listener.commits.events.last?.batches.first)
        #expect(batch.since == 3 && batch.head == 3 && batch.messages == [edited.body])
        #expect(try log.changes(since: 0).messages == joined([sent[0], sent[2], edited.body]))
        #expect(try log.changes(since: 3).messages == edited.body)
        #expect(try log.page().messages == joined([sent[0], edited.body, sent[2]]))
    }

    @Test func `changes the given fields; null and empty clear them`() throws {
        let log = try TestLog()
        try log.send(.init(text: "hi", data: #"{"a":1}"#))
        let link = Wire.Attachment(kind: .link, url: "http://x")
        let steps: [(Edit, String, [Wire.Attachment], String)] = [
            (Edit(attachments: [link]), "hi", [link], #"{"a":1}"#), (Edit(text: ""), "", [link], #"{"a":1}"#),
            (Edit(data: []), "", [link], ""),
            (Edit(text: "x", attachments: [], data: Array(#"{"b":2}"#.utf8)), "x", [], #"{"b":2}"#),
        ]
        for (step, text, attachments, data) in steps {
            let content = try Message(decoding: log.change(edit(step)).body).content
            #expect(content.text == text && content.attachments == attachments)
            #expect(String(decoding: content.data, as: UTF8.self) == data)
        }
        #expect(throws: Problem.emptyMessage) { try log.change(edit(Edit(text: ""))) }
        #expect(try log.state().rev == 5)
    }

    @Test func `that changes nothing takes no revision and is not pushed`() throws {
        let log = try TestLog()
        let sent = try log.send(.init(text: "hi", data: #"{"a":1,"b":2}"#))
        for same in [Edit(), Edit(text: "hi"), Edit(attachments: [], data: Array(#"{"b":2.0,"a":1}"#.utf8))] {
            let stored = try log.change(edit(same))
            #expect(stored.body == sent.body && stored.rev == 1)
            #expect(log.listener.commits.events.last?.batches.isEmpty == true)
        }
        #expect(try log.state() == RoomState(head: 1, rev: 1))
    }

    @Test func `is allowed only to the sender, and not after a deletion`() throws {
        let log = try TestLog()
        #expect(throws: Problem.messageNotFound) { try log.edit(1, "x") }
        try log.fill(2)
        for seq in [0, -1, 3, .max] as [Int64] {
            #expect(throws: Problem.messageNotFound) { try log.edit(seq, "x") }
        }
        #expect(throws: Problem.notTheSender) { try log.edit(1, "x", as: "bob") }
        #expect(throws: Problem.messageNotFound) { try log.edit(1, "x", of: "attic") }
        try log.delete(2)
        #expect(throws: Problem.messageDeleted) { try log.edit(2, "x") }
        #expect(throws: Problem.notTheSender) { try log.edit(2, "x", as: "bob") }
        #expect(try log.state() == RoomState(head: 2, rev: 3))
    }

    @Test func `needs one of the revisions in its condition`() throws {
        let log = try TestLog()
        try log.fill(2)
        #expect(try log.change(edit(Edit(text: "a"), revs: [1])).rev == 3)
        #expect(throws: Problem.preconditionFailed(rev: 3)) { try log.change(edit(Edit(text: "b"), revs: [1])) }
        #expect(throws: Problem.preconditionFailed(rev: 3)) { try log.change(edit(Edit(text: "b"), revs: [])) }
        #expect(try log.change(edit(Edit(text: "b"), revs: [1, 3])).rev == 4)
    }

    @Test func `that is repeated with its original revision counts as done, whatever has changed since`() throws {
        let log = try TestLog()
        try log.fill(1)
        let first = try log.change(edit(Edit(text: "a"), revs: [1]))
        #expect(first.rev == 2)
        let again = try log.change(edit(Edit(text: "a"), revs: [1]))
        #expect(again.rev == 2 && again.body == first.body)
        try log.react(to: 1, as: "bob")
        #expect(try log.change(edit(Edit(text: "a"), revs: [1])).rev == 3)
        #expect(try log.state().rev == 3)
        // Other content makes another edit, and so does a later edit of the message.
        #expect(throws: Problem.preconditionFailed(rev: 3)) { try log.change(edit(Edit(text: "b"), revs: [1])) }
        try log.edit(1, "c")
        #expect(throws: Problem.preconditionFailed(rev: 4)) { try log.change(edit(Edit(text: "a"), revs: [1])) }
        // A future revision cannot be the base of an edit.
        #expect(throws: Problem.preconditionFailed(rev: 4)) { try log.change(edit(Edit(text: "c"), revs: [9])) }
    }

    @Test func `has the time of its commit, and never an earlier one than the message or the previous edit`() throws {
        let clock = TestClock()
        let log = try TestLog { $0.clock = { clock.now } }
        let sentAt = try Message(decoding: log.send(.init()).body).createdAt
        clock.step(-10)
        #expect(try Message(decoding: log.edit(1, "a").body).editedAt == sentAt)
        clock.step(30)
        let later = clock.now
        #expect(try Message(decoding: log.edit(1, "b").body).editedAt == later)
        clock.step(-5)
        #expect(try Message(decoding: log.edit(1, "c").body).editedAt == later)
    }

    @Test func `is refused in a room at its last revision`() throws {
        let log = try TestLog { $0.journal.messages = 0 }
        try log.fill(1)
        try log.execute("UPDATE messages SET changed = \(RowKey(room: 1, RowKey.maximumOrdinal).rawValue)")
        try log.setRoom(head: 1, rev: RowKey.maximumOrdinal)
        let again = try log.reopened()
        #expect(throws: Problem.unavailable("The room is full.")) { try again.edit(1, "x") }
    }
}
