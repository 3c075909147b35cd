import Testing

@testable import Store

@Suite("A queue of elements")
struct FIFOTests {
    @Test func `returns its elements in order, however appends and takes are mixed`() {
        var queue = FIFO<Int>()
        var (appended, taken) = (0, 0)
        // Grows to a hundred elements, keeps that number for a while, and is emptied; twice.
        for step in 0..<1000 {
            if step % 500 < 300 {
                queue.append(appended)
                appended += 1
            }
            if step % 500 >= 100 {
                let next = taken < appended ? taken : nil
                #expect(queue.popFirst() == next)
                if next != nil { taken += 1 }
            }
            #expect(queue.count == appended - taken && queue.isEmpty == (appended == taken))
        }
        #expect(taken == 600)
    }

    @Test func `removes one element that meets a condition, wherever it is`() {
        var queue = FIFO<Int>()
        for number in 0..<6 { queue.append(number) }
        _ = queue.popFirst()
        for number in [3, 1, 5] { #expect(queue.removeFirst { $0 == number }) }
        // Taken and removed elements are not found again.
        for number in [0, 3] { #expect(!queue.removeFirst { $0 == number }) }
        #expect(queue.all == [2, 4])
        #expect(queue.popFirst() == 2 && queue.popFirst() == 4 && queue.popFirst() == nil)
    }

    @Test func `releases elements when they are taken`() {
        final class Element {}
        var queue = FIFO<Element>()
        var element: Element? = Element()
        weak let released = element
        queue.append(element!)
        queue.append(Element())
        element = nil
        _ = queue.popFirst()
        #expect(released == nil && queue.count == 1)
    }
}
