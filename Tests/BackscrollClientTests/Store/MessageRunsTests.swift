import Testing

@testable import BackscrollClient

@Suite("Message runs")
struct MessageRunsTests {
    private func run(_ first: Int64, _ last: Int64, rev: Int64, hasAfter: Bool = false) -> MessageRun {
        MessageRun(first: first, last: last, rev: rev, hasAfter: hasAfter)
    }

    @Test func `join pages that touch, and keep a gap between others`() {
        var runs = MessageRuns()
        runs.insert(run(1, 10, rev: 50, hasAfter: true))
        runs.insert(run(31, 40, rev: 50))
        #expect(runs.runs == [run(1, 10, rev: 50, hasAfter: true), run(31, 40, rev: 50)])
        #expect(runs.run(containing: 10) != nil && runs.run(containing: 11) == nil && runs.run(containing: 30) == nil)
        runs.insert(run(11, 20, rev: 50, hasAfter: true))
        #expect(runs.runs == [run(1, 20, rev: 50, hasAfter: true), run(31, 40, rev: 50)])
        runs.insert(run(19, 32, rev: 50, hasAfter: true))
        #expect(runs.runs == [run(1, 40, rev: 50)])
    }

    @Test func `do not join runs of different revisions`() {
        var runs = MessageRuns([run(1, 20, rev: 50)])
        runs.insert(run(11, 30, rev: 90))
        #expect(runs.runs == [run(1, 10, rev: 50, hasAfter: true), run(11, 30, rev: 90)])
        runs.insert(run(15, 16, rev: 95, hasAfter: true))
        #expect(runs.runs.map(\.first) == [1, 11, 15, 17])
    }

    @Test func `take frames only into runs that have all changes before them`() {
        var runs = MessageRuns([run(1, 10, rev: 50, hasAfter: true), run(20, 30, rev: 90)])
        #expect(runs.advance(from: 90, to: 99, messages: [5, 11, 15, 19, 31]) == [5, 19, 31])
        #expect(runs.runs == [run(1, 10, rev: 50, hasAfter: true), run(19, 31, rev: 99)])
    }

    @Test func `keep a message beyond a gap by itself until the gap is filled`() {
        var runs = MessageRuns([run(1, 10, rev: 10)])
        #expect(runs.advance(from: 10, to: 12, messages: [12]) == [12])
        #expect(runs.newest == run(12, 12, rev: 12) && runs.run(containing: 11) == nil)
        #expect(runs.advance(from: 12, to: 13, messages: [11]) == [11])
        #expect(runs.runs == [run(1, 12, rev: 13)])
    }

    @Test func `do not treat a change far from the newest run as the end of the room`() {
        var runs = MessageRuns([run(1, 10, rev: 100, hasAfter: true)])
        #expect(runs.advance(from: 100, to: 101, messages: [500]) == [])
        #expect(runs.runs == [run(1, 10, rev: 101, hasAfter: true)])
        // The message was there already, so there may be more after it.
        #expect(runs.advance(from: 101, to: 102, messages: [11]) == [11])
        #expect(runs.newest?.hasAfter == true)
    }

    @Test func `begin with an empty room`() {
        var runs = MessageRuns()
        runs.insert(run(1, 0, rev: 0))
        #expect(runs.advance(from: 0, to: 2, messages: [1, 2]) == [1, 2])
        #expect(runs.runs == [run(1, 2, rev: 2)])
    }

    @Test func `append an answer only at the end, and only if it is newer`() {
        var runs = MessageRuns([run(1, 10, rev: 20)])
        #expect(runs.append(11, rev: 20) == false && runs.append(12, rev: 30) == false)
        #expect(runs.append(11, rev: 21) && runs.append(3, rev: 22))
        #expect(runs.newest == run(1, 11, rev: 20))
    }

    @Test func `drop the oldest messages first, and have a bound on their number`() {
        var runs = MessageRuns([run(1, 10, rev: 1, hasAfter: true), run(21, 40, rev: 2)])
        #expect(runs.dropOldest(4) == 1...4 && runs.dropOldest(100) == 5...10 && runs.dropOldest(5) == 21...25)
        #expect(runs.runs == [run(26, 40, rev: 2)])
        #expect(runs.dropOldest(100) == 26...40 && runs.dropOldest(1) == nil)
        for number in 0...Int64(MessageRuns.maximumCount) {
            runs.insert(run(1 + 10 * number, 5 + 10 * number, rev: 1, hasAfter: true))
        }
        #expect(runs.dropExcess() == [run(1, 5, rev: 1, hasAfter: true)])
        #expect(runs.runs.count == MessageRuns.maximumCount)
    }

    @Test(arguments: [
        (StoreQuery(.before(31), limit: 5), 26...30), (StoreQuery(.before(21), limit: 5), nil),
        (StoreQuery(.after(38), limit: 5), 39...40), (StoreQuery(.after(40), limit: 5), nil),
        (StoreQuery(.after(15), limit: 5), nil), (StoreQuery(.around(30), limit: 4), 28...31),
        (StoreQuery(.around(15), limit: 4), nil), (StoreQuery(.around(1), limit: 4), 1...4),
        (StoreQuery(.newest, limit: 3), 38...40), (StoreQuery(.newest, limit: 3, minimumRev: 9), nil),
        (StoreQuery(.aroundUnread, limit: 4), 4...7), (StoreQuery(.newest, limit: 100), 21...40),
    ])
    func `find neighboring messages of one run`(query: StoreQuery, seqs: ClosedRange<Int64>?) {
        let runs = MessageRuns([run(1, 10, rev: 8, hasAfter: true), run(21, 40, rev: 8)])
        #expect(query.find(in: runs, read: 5).map { ClosedRange($0.seqs) } == seqs)
    }
}
