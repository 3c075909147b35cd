import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Any page")
struct PageModelTests {
    /// Fills a room with this many messages, a few at a time, with a clock that sometimes stands still or goes back.
    private func fill(
        _ log: TestLog, _ clock: TestClock, _ room: String, _ count: Int, using generator: inout SeededGenerator
    ) throws -> (model: PageModel, bodies: [[UInt8]]) {
        var bodies: [[UInt8]] = []
        while bodies.count < count {
            clock.step(Int64.random(in: -3...4, using: &generator))
            bodies += try log.fill(min(count - bodies.count, Int.random(in: 1...5, using: &generator)), room)
        }
        let times = try bodies.map { try Message(decoding: $0).createdAt.milliseconds }
        #expect(times == times.sorted())
        return (PageModel(times: times), bodies)
    }

    private func place(in model: PageModel, using generator: inout SeededGenerator) -> Place {
        let head = Int64(model.times.count)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: return .first
        case 1: return .last
        case 2: return .seq([0, 1, head, head + 1, .max].randomElement(using: &generator)!)
        case 3..<6:
            let first = model.times.first ?? 0
            let last = model.times.last ?? 0
            return .time(Timestamp(milliseconds: Int64.random(in: first - 2...last + 2, using: &generator)))
        default: return .seq(Int64.random(in: 0...head + 3, using: &generator))
        }
    }

    private func anchor(at place: Place, using generator: inout SeededGenerator) -> PageRequest.Anchor {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: .newest
        case 1...3: .before(place)
        case 4...6: .after(place)
        default: .around(place)
        }
    }

    @Test(arguments: TestStore.journals((1, 0), (2, 100_000), (3, 40)))
    func `equals the result of counting, whatever the place, the limit and the size of the room`(
        seed: UInt64, journalMessages: Int
    ) throws {
        var generator = SeededGenerator(seed: seed)
        let clock = TestClock()
        let log = try TestLog {
            $0.clock = { clock.now }
            $0.journal.messages = journalMessages
        }
        for size in [0, 1, 2, 3, 7, 30, 61, 200, 431] {
            let room = "room\(size)"
            let (model, bodies) = try fill(log, clock, room, size, using: &generator)
            for _ in 0..<150 {
                let limit = Int.random(in: 1...(Bool.random(using: &generator) ? 6 : 200), using: &generator)
                let anchor = anchor(at: place(in: model, using: &generator), using: &generator)
                let expected = model.page(anchor, limit: limit)
                let page = try log.page(anchor, limit: limit, of: room)
                let seqs = page.count == 0 ? [] : Array(page.firstSeq...page.lastSeq)
                #expect(
                    PageModel.Page(seqs: seqs, hasBefore: page.hasBefore, hasAfter: page.hasAfter) == expected,
                    "\(anchor), limit \(limit), in a room of \(size)")
                #expect(page.count == seqs.count)
                #expect(page.messages == joined(expected.seqs.map { bodies[Int($0) - 1] }))
                #expect(page.state == RoomState(head: Int64(size), rev: Int64(size)))
            }
        }
    }

    @Test func `before a time and the one after it make up the room without duplicates`() throws {
        var generator = SeededGenerator(seed: 4)
        let clock = TestClock()
        let log = try TestLog { $0.clock = { clock.now } }
        let (model, bodies) = try fill(log, clock, "room", 150, using: &generator)
        for time in model.times.first! - 1...model.times.last! + 1 {
            let place = Place.time(Timestamp(milliseconds: time))
            let pages = try [.before(place), .after(place)].map { try log.page($0, limit: 200, of: "room") }
            #expect(joined(pages.map(\.messages).filter { !$0.isEmpty }) == joined(bodies))
        }
    }

    @Test(arguments: [1, 7, 30, 200])
    func `is part of a walk in either direction that meets every message once`(limit: Int) throws {
        let log = try TestLog()
        let bodies = try log.fill(100)
        var forward: [[UInt8]] = []
        var cursor: Int64 = 0
        while true {
            let page = try log.page(.after(.seq(cursor)), limit: limit)
            forward.append(page.messages)
            cursor = page.lastSeq
            if !page.hasAfter { break }
        }
        #expect(joined(forward) == joined(bodies))
        var backward: [[UInt8]] = []
        cursor = .max
        while true {
            let page = try log.page(.before(.seq(cursor)), limit: limit)
            backward.insert(page.messages, at: 0)
            cursor = page.firstSeq
            if !page.hasBefore { break }
        }
        #expect(joined(backward) == joined(bodies))
    }
}
