import Testing

@testable import Store

@Suite("A page's window")
struct PageWindowTests {
    /// Computes a page message by message. `inside` is true for messages on the requested side.
    private func model(head: Int64, limit: Int, last: Bool, inside: (Int64) -> Bool) -> [Int64] {
        let candidates = (0..<head).map { $0 + 1 }.filter(inside)
        return Array(last ? candidates.suffix(limit) : candidates.prefix(limit))
    }

    private func check(_ window: PageWindow, is expected: [Int64], head: Int64) {
        #expect(Array(window.start..<window.end) == expected)
        #expect(window.count == expected.count)
        guard let first = expected.first, let last = expected.last else { return }
        #expect(window.hasBefore == (first > 1))
        #expect(window.hasAfter(head: head) == (last < head))
    }

    @Test("is right for every gap of small rooms", arguments: 0...7 as ClosedRange<Int64>)
    func exhaustive(_ head: Int64) {
        for limit in 1...9 {
            check(
                .newest(head: head, limit: limit), is: model(head: head, limit: limit, last: true) { _ in true },
                head: head)
            for gap in -2...head + 4 {
                check(
                    .before(gap: gap, head: head, limit: limit),
                    is: model(head: head, limit: limit, last: true) { $0 < gap }, head: head)
                check(
                    .after(gap: gap, head: head, limit: limit),
                    is: model(head: head, limit: limit, last: false) { $0 >= gap }, head: head)
            }
        }
    }

    @Test("of an empty page flags what lies on either side")
    func emptyPages() {
        for head in 0...3 as ClosedRange<Int64> {
            let start = PageWindow.before(gap: 1, head: head, limit: 5)
            #expect(start.count == 0)
            #expect(!start.hasBefore)
            #expect(start.hasAfter(head: head) == (head > 0))
            let end = PageWindow.after(gap: head + 1, head: head, limit: 5)
            #expect(end.count == 0)
            #expect(end.hasBefore == (head > 0))
            #expect(!end.hasAfter(head: head))
        }
    }

    @Test("around a message has it in the middle, with at most half the limit before it")
    func around() {
        #expect(PageWindow.around(50, head: 100, limit: 10) == PageWindow(start: 45, end: 55))
        #expect(PageWindow.around(50, head: 100, limit: 11) == PageWindow(start: 45, end: 56))
        #expect(PageWindow.around(50, head: 100, limit: 1) == PageWindow(start: 50, end: 51))
        #expect(PageWindow.around(50, head: 100, limit: 2) == PageWindow(start: 49, end: 51))
    }

    @Test("around a message is filled up from the other side at an end of the room")
    func aroundEnds() {
        #expect(PageWindow.around(2, head: 100, limit: 10) == PageWindow(start: 1, end: 11))
        #expect(PageWindow.around(99, head: 100, limit: 10) == PageWindow(start: 91, end: 101))
        #expect(PageWindow.around(2, head: 3, limit: 10) == PageWindow(start: 1, end: 4))
        #expect(PageWindow.around(0, head: 100, limit: 10) == PageWindow(start: 1, end: 11))
        #expect(PageWindow.around(.max, head: 100, limit: 10) == PageWindow(start: 91, end: 101))
        #expect(PageWindow.around(1, head: 0, limit: 10) == PageWindow(start: 1, end: 1))
    }

    @Test("around any message contains it, and as many as exist up to the limit")
    func aroundExhaustive() {
        for head in 1...9 as ClosedRange<Int64> {
            for seq in 1...head {
                for limit in 1...11 {
                    let window = PageWindow.around(seq, head: head, limit: limit)
                    #expect(window.start <= seq && seq < window.end)
                    #expect(window.count == min(limit, Int(head)))
                    #expect(window.start >= 1 && window.end <= head + 1)
                }
            }
        }
    }

    @Test("handles the largest numbers")
    func largest() {
        #expect(PageWindow.before(gap: .max, head: 5, limit: 2) == PageWindow(start: 4, end: 6))
        #expect(PageWindow.after(gap: .max, head: 5, limit: 2) == PageWindow(start: 6, end: 6))
        #expect(PageWindow.after(gap: .min, head: 5, limit: 2) == PageWindow(start: 1, end: 3))
    }
}
