import Chat
import Testing
import Wire

@testable import Store

@Suite("An answer above its limit of bytes")
struct AnswerBytesTests {
    /// Runs `body` with twenty messages, some filed and some only in the journal. Slightly more than four fit into an
    /// answer.
    private func withLog(journal: Bool, _ body: (TestLog, [[UInt8]]) throws -> Void) throws {
        let log = try TestLog {
            $0.answerBytes = 4 * 1000
            $0.journal.messages = journal ? 12 : 0
            $0.journal.messagesOfRoom = 12
        }
        var bodies: [[UInt8]] = []
        for _ in 1...20 { bodies.append(try log.send(.init(text: String(repeating: "x", count: 800))).body) }
        try body(log, bodies)
    }

    @Test(arguments: TestStore.journals(false, true))
    func `is a shorter page at the same place`(journal: Bool) throws {
        try withLog(journal: journal) { log, bodies in
            for (anchor, place) in [
                (.newest, 20), (.before(.seq(13)), 12), (.after(.seq(12)), 13), (.around(.seq(9)), 9),
                (.around(.last), 20),
                (.around(.first), 1), (.after(.first), 2),
            ] as [(PageRequest.Anchor, Int64)] {
                let page = try log.page(anchor, limit: 20)
                #expect((1...4).contains(page.count))
                #expect((page.firstSeq...page.lastSeq).contains(place))
                #expect(page.lastSeq - page.firstSeq + 1 == page.count)
                #expect(page.messages == joined(bodies[Int(page.firstSeq) - 1..<Int(page.lastSeq)]))
                #expect(page.hasBefore == (page.firstSeq > 1))
                #expect(page.hasAfter == (page.lastSeq < 20))
            }
        }
    }

    @Test(arguments: TestStore.journals(false, true))
    func `continues from its end, in both directions`(journal: Bool) throws {
        try withLog(journal: journal) { log, bodies in
            var down: [UInt8] = []
            var last: Int64 = 0
            repeat {
                let page = try log.page(.after(.seq(last)), limit: 20)
                down += (down.isEmpty ? [] : [UInt8(ascii: ",")]) + page.messages
                last = page.lastSeq
            } while last < 20
            #expect(down == joined(bodies[...]))
            var seqs: [Int64] = []
            var first: Int64 = 21
            while first > 1 {
                let page = try log.page(.before(.seq(first)), limit: 20)
                seqs = Array(page.firstSeq...page.lastSeq) + seqs
                first = page.firstSeq
            }
            #expect(seqs == Array(1...20))
        }
    }

    @Test(arguments: TestStore.journals(false, true))
    func `has at least one message`(journal: Bool) throws {
        let log = try TestLog {
            $0.answerBytes = 100
            $0.journal.messages = journal ? 12 : 0
        }
        var bodies: [[UInt8]] = []
        for _ in 1...3 { bodies.append(try log.send(.init(text: String(repeating: "x", count: 800))).body) }
        for anchor in [.newest, .before(.seq(4)), .after(.seq(2)), .around(.seq(3))] as [PageRequest.Anchor] {
            let page = try log.page(anchor, limit: 30)
            #expect(page.count == 1 && page.lastSeq == 3)
            #expect(page.messages == bodies[2])
        }
        let changes = try log.changes(since: 1)
        #expect(changes.messages == bodies[1] && changes.rev == 2 && changes.hasMore)
    }

    @Test(arguments: TestStore.journals(false, true))
    func `of changes names the next position`(journal: Bool) throws {
        try withLog(journal: journal) { log, bodies in
            var all: [UInt8] = []
            var rev: Int64 = 0
            while true {
                let changes = try log.changes(since: rev, limit: 1000)
                #expect((1...5).contains(changes.rev - rev))
                all += (all.isEmpty ? [] : [UInt8(ascii: ",")]) + changes.messages
                rev = changes.rev
                if !changes.hasMore { break }
            }
            #expect(rev == 20 && all == joined(bodies[...]))
        }
    }

    @Test(arguments: TestStore.journals(false, true))
    func `of a list of rooms ends early and can be continued`(journal: Bool) throws {
        let log = try TestLog {
            $0.answerBytes = 2000
            $0.journal.messages = journal ? 12 : 0
        }
        let rooms = (1...7).map { "room\($0)" }
        for room in rooms { try log.send(.init(text: String(repeating: "x", count: 800), room: room)) }
        var listed: [String] = []
        var next: InboxCursor?
        repeat {
            let slice = try log.inbox(of: "alice", after: next, limit: 100)
            #expect((1...3).contains(slice.rooms.count))
            listed += slice.rooms.map(\.summary.room.string)
            next = slice.next
        } while next != nil
        #expect(listed.sorted() == rooms)
    }
}
