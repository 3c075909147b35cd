import Chat
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A send under a client message id")
struct RepeatedSendTests {
    @Test func `that is repeated gets the first message, and nothing is stored or pushed`() throws {
        let log = try TestLog()
        let first = try log.send(.init(text: "hi", id: "a1"))
        let again = try log.send(.init(text: "hi", id: "a1"))
        #expect(!again.isNew)
        #expect(again.seq == first.seq && again.rev == first.rev && again.body == first.body)
        #expect(log.listener.commits.events[1].batches.isEmpty)
        #expect(try log.state() == RoomState(head: 1, rev: 1))
    }

    @Test func `with other content is refused`() throws {
        let log = try TestLog()
        try log.send(.init(text: "hi", id: "a1"))
        for send in [
            TestLog.Send(text: "hj", id: "a1"), .init(text: "hi", id: "a1", replyTo: 1),
            .init(text: "hi", id: "a1", data: #"{"a":1}"#),
        ] {
            let result = try log.sendAll([send])[0]
            #expect(throws: Problem.clientMessageIDReused) { try result.get() }
        }
        #expect(try log.state() == RoomState(head: 1, rev: 1))
    }

    @Test func `is compared by value`() throws {
        let log = try TestLog()
        try log.send(.init(text: "hi", id: "a1", data: #"{"a":1,"b":[2.50]}"#))
        let again = try log.send(.init(text: "hi", id: "a1", data: #"{"b":[25e-1],"a":1}"#))
        #expect(!again.isNew && again.seq == 1)
    }

    @Test func `belongs to the sender and the room; without an id every send is new`() throws {
        let log = try TestLog()
        let results = try log.sendAll([
            .init(id: "a1"), .init(sender: "bob", id: "a1"), .init(room: "other", id: "a1"), .init(), .init(),
            .init(sender: "bob", id: "a1"), .init(room: "other", id: "a1"), .init(id: "A1"), .init(id: "a1 "),
        ]).map { try $0.get() }
        #expect(results.map(\.seq) == [1, 2, 1, 3, 4, 2, 1, 5, 6])
        #expect(results.map(\.isNew) == [true, true, true, true, true, false, false, true, true])
    }

    @Test func `is compared by the id's bytes`() throws {
        let log = try TestLog()
        let results = try log.sendAll(["\u{E9}", "e\u{301}", "\u{E9}"].map { .init(id: $0) }).map { try $0.get() }
        #expect(results.map(\.seq) == [1, 2, 1])
    }

    @Test func `succeeds once in a commit, and repetitions take no seq`() throws {
        let log = try TestLog()
        let results = try log.sendAll([
            .init(text: "x", id: "1"), .init(text: "x", id: "1"), .init(text: "y", id: "1"), .init(text: "y", id: "2"),
            .init(text: "x", id: "1"), .init(text: "z"),
        ])
        #expect(log.listener.commits.events.count == 1)
        #expect(throws: Problem.clientMessageIDReused) { try results[2].get() }
        let stored = try [0, 1, 3, 4, 5].map { try results[$0].get() }
        #expect(stored.map(\.seq) == [1, 1, 2, 1, 3])
        #expect(stored.map(\.isNew) == [true, false, true, false, true])
        #expect(log.listener.commits.events[0].batches[0].messages.count == 3)
    }

    @Test func `is known after a restart`() throws {
        let log = try TestLog()
        let first = try log.send(.init(text: "hi", id: "a1"))
        let again = try log.reopened()
        let repeated = try again.send(.init(text: "hi", id: "a1"))
        #expect(!repeated.isNew && repeated.body == first.body)
        #expect(try again.send(.init(text: "more")).seq == 2)
        #expect(try again.message("a1", from: "alice") == first.body)
    }

    @Test func `from many threads is stored once, and all get it`() throws {
        let log = try TestLog()
        let threads = 6
        let ids = 40
        let results = Mutex<[String: [Receipt]]>([:])
        inParallel(threads) { thread in
            for id in 0..<ids {
                let sent = try log.sendAll([
                    .init(text: "\(id)", id: "id\(id)"), .init(text: "of thread \(thread)", id: "\(thread)/\(id)"),
                ]).map { try $0.get() }
                #expect(sent[1].isNew)
                results.withLock { $0["id\(id)", default: []].append(sent[0]) }
            }
        }
        for (id, all) in results.withLock({ $0 }) {
            #expect(all.count == threads)
            #expect(all.count { $0.isNew } == 1, "\(id)")
            #expect(Set(all.map(\.body)).count == 1)
        }
        let total = Int64(ids * threads + ids)
        #expect(try log.state() == RoomState(head: total, rev: total))
    }

    @Test func `affects only its own sender if the first message's snapshot is damaged`() throws {
        let log = try TestLog { $0.journal.messages = 0 }
        try log.send(.init(text: "hi", id: "a1"))
        try log.execute("UPDATE messages SET body = 'nonsense'")
        let results = try log.sendAll([.init(text: "hi", id: "a1"), .init(text: "new")])
        #expect(throws: Problem.self) { try results[0].get() }
        #expect(try results[1].get().seq == 2)
    }
}
