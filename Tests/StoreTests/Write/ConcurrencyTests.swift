import Chat
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Many threads")
struct ConcurrencyTests {
    @Test func `get places and revisions without gaps, with each thread's messages in order`() throws {
        let log = try TestLog { $0.commit.submissions = 7 }
        let threads = 5
        let rounds = 30
        let rooms = ["a", "b", "c"]
        inParallel(threads) { thread in
            var generator = SeededGenerator(seed: UInt64(thread))
            for round in 0..<rounds {
                // Most rounds do not wait for their outcomes, so that commits contain several.
                let sends = (0..<Int.random(in: 1...9, using: &generator)).map { index in
                    TestLog.Send(
                        text: "\(round).\(index)", room: rooms.randomElement(using: &generator)!, sender: "u\(thread)")
                }
                if round % 10 == 9 {
                    try log.sendAll(sends)
                } else {
                    log.log.submit(try log.submissions(sends))
                }
            }
        }
        log.close()

        let commits = log.listener.commits.events
        #expect(commits.allSatisfy { $0.outcomes.count <= 7 })
        for room in rooms {
            let messages = try commits.flatMap(\.batches).filter { $0.room.string == room }
                .flatMap { batch in
                    let messages = try batch.messages.map { try Message(decoding: $0) }
                    #expect(batch.since + 1 == messages.first?.rev && batch.head == messages.last?.seq)
                    return messages
                }
            #expect(messages.map(\.seq) == Array(1...Int64(messages.count)))
            #expect(messages.map(\.rev) == messages.map(\.seq))
            #expect(zip(messages, messages.dropFirst()).allSatisfy { $0.createdAt <= $1.createdAt })
            for thread in 0..<threads {
                let sent = messages.filter { $0.sender.string == "u\(thread)" }.map(\.content.text)
                let keys = sent.map { text in text.split(separator: ".").map { Int($0)! } }
                #expect(keys == keys.sorted { $0.lexicographicallyPrecedes($1) })
            }
        }
        #expect(commits.flatMap(\.outcomes).allSatisfy { (try? $0.result.get().isNew) == true })
    }

    @Test(arguments: TestStore.journals(0, 20, 100_000))
    func `see every commit that was reported before their query`(journalMessages: Int) throws {
        let log = try TestLog { $0.journal.messages = journalMessages }
        inParallel(4) { thread in
            for round in 1...40 as ClosedRange<Int64> {
                let stored = try log.send(.init(room: "room\(thread)"))
                #expect(stored.seq == round)
                #expect(try log.message(round, of: "room\(thread)") == stored.body)
                #expect(try log.page(.newest, limit: 1, of: "room\(thread)").messages == stored.body)
            }
        }
    }

    @Test func `read pages of one moment, whatever is sent meanwhile`() throws {
        let log = try TestLog()
        try log.fill(5)
        inParallel(3) { thread in
            for _ in 0..<60 {
                if thread == 0 {
                    try log.fill(3)
                } else {
                    let page = try log.page(.newest, limit: 4)
                    #expect(page.lastSeq == page.state.head && page.state.rev == page.state.head)
                    #expect(page.count == 4 && page.firstSeq == page.lastSeq - 3)
                    #expect(page.hasBefore && !page.hasAfter)
                }
            }
        }
    }
}
