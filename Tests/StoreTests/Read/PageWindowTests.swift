import Testing

@testable import Store

@Suite("A page's window")
struct PageWindowTests {
    /// Computes a page message by message. `inside` is true for messages on the requested side.
    private func model(head: Int64, limit: Int, last: Bool, inside: (Int64) -> Bool) -> [Int64] {
        let candidates = (0..<head).map { $0 + 1 }.filter(inside)
        return Array(last ? candidates.suffix(limit) : candidates.prefix(limit))
    }

    private func check(_ bounds: PageBounds, is expected: [Int64], head: Int64) {
        let window = bounds.window(head: head)
        #expect(Array(window.start..<window.end) == expected)
        #expect(window.count == expected.count)
        guard let first = expected.first, let last = expected.last else { return }
        #expect(window.hasBefore == (first > 1))
        #expect(window.hasAfter(head: head) == (last < head))
    }

    @Test(arguments: 0...7 as ClosedRange<Int64>)
    func `is right for every gap of small rooms`(_ head: Int64) {
        for limit in 1...9 {
            check(
                .newest(limit: limit), is: model(head: head, limit: limit, last: true) { _ in true },
                head: head)
            for gap in -2...head + 4 {
                check(
                    .before(gap: gap, limit: limit),
                    is: model(head: head, limit: limit, last: true) { $0 < gap }, head: head)
                check(
                    .after(gap: gap, limit: limit),
                    is: model(head: head, limit: limit, last: false) { $0 >= gap }, head: head)
            }
        }
    }

    @Test func `of an empty page flags what lies on either side`() {
        for head in 0...3 as ClosedRange<Int64> {
            let start = PageBounds.before(gap: 1, limit: 5).window(head: head)
            #expect(start.count == 0)
            #expect(!start.hasBefore)
            #expect(start.hasAfter(head: head) == (head > 0))
            let end = PageBounds.after(gap: head + 1, limit: 5).window(head: head)
            #expect(end.count == 0)
            #expect(end.hasBefore == (head > 0))
            #expect(!end.hasAfter(head: head))
        }
    }

    @Test func `around a message has it in the middle, with at most half the limit before it`() {
        #expect(PageBounds.around(50, limit: 10).window(head: 100) == PageWindow(start: 45, end: 55))
        #expect(PageBounds.around(50, limit: 11).window(head: 100) == PageWindow(start: 45, end: 56))
        #expect(PageBounds.around(50, limit: 1).window(head: 100) == PageWindow(start: 50, end: 51))
        #expect(PageBounds.around(50, limit: 2).window(head: 100) == PageWindow(start: 49, end: 51))
    }

    @Test func `around a message is filled up from the other side at an end of the room`() {
        #expect(PageBounds.around(2, limit: 10).window(head: 100) == PageWindow(start: 1, end: 11))
        #expect(PageBounds.around(99, limit: 10).window(head: 100) == PageWindow(start: 91, end: 101))
        #expect(PageBounds.around(2, limit: 10).window(head: 3) == PageWindow(start: 1, end: 4))
        #expect(PageBounds.around(0, limit: 10).window(head: 100) == PageWindow(start: 1, end: 11))
        #expect(PageBounds.around(.max, limit: 10).window(head: 100) == PageWindow(start: 91, end: 101))
        #expect(PageBounds.around(1, limit: 10).window(head: 0) == PageWindow(start: 1, end: 1))
    }

    @Test func `around any message contains it, and as many as exist up to the limit`() {
        for head in 1...9 as ClosedRange<Int64> {
            for seq in 1...head {
                for limit in 1...11 {
                    let window = PageBounds.around(seq, limit: limit).window(head: head)
                    #expect(window.start <= seq && seq < window.end)
                    #expect(window.count == min(limit, Int(head)))
                    #expect(window.start >= 1 && window.end <= head + 1)
                }
            }
        }
    }

    @Test func `handles the largest numbers`() {
        #expect(PageBounds.before(gap: .max, limit: 2).window(head: 5) == PageWindow(start: 4, end: 6))
        #expect(PageBounds.after(gap: .max, limit: 2).window(head: 5) == PageWindow(start: 6, end: 6))
        #expect(PageBounds.after(gap: .min, limit: 2).window(head: 5) == PageWindow(start: 1, end: 3))
    }
}
