import Chat
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The work queue")
struct WorkQueueTests {
    @Test func `returns items in order, no more at a time than requested`() {
        let queue = WorkQueue<Int>(limit: 100)
        #expect(queue.append(Array(0..<10)).count == 10)
        #expect(queue.take(4) == [0, 1, 2, 3])
        #expect(queue.append([10, 11]).refusal == nil)
        #expect(queue.count == 8)
        #expect(queue.take(3) == [4, 5, 6])
        #expect(queue.take(100) == [7, 8, 9, 10, 11])
        #expect(queue.count == 0)
    }

    @Test func `loses, repeats and admits nothing extra in any mixture of calls`() {
        var generator = SeededGenerator(seed: 1)
        let queue = WorkQueue<Int>(limit: 50)
        var waiting: [Int] = []
        var next = 0
        for _ in 0..<3000 {
            if Bool.random(using: &generator) {
                let new = Array(next..<next + Int.random(in: 0...20, using: &generator))
                let admission = queue.append(new)
                #expect(admission.count == min(new.count, 50 - waiting.count))
                #expect(admission.refusal == (admission.count < new.count ? .overloaded : nil))
                waiting += new[..<admission.count]
                next += new.count
            } else {
                let most = Int.random(in: 1...30, using: &generator)
                let taken = queue.take(most, within: 0)
                #expect(taken == Array(waiting.prefix(most)))
                waiting.removeFirst(min(most, waiting.count))
            }
            #expect(queue.count == waiting.count)
        }
    }

    @Test func `returns items together that fit, and one that does not fit alone`() {
        let queue = WorkQueue<Int>(limit: 10)
        _ = queue.append([3, 3, 5, 20, 1, 20, 20, 9, 1])
        func take() -> [Int]? {
            queue.take(10) { items in
                var sum = 0
                for index in items.indices {
                    sum += items[index]
                    if sum > 10 { return index }
                }
                return items.count
            }
        }
        for expected in [[3, 3], [5], [20], [1], [20], [20], [9, 1]] { #expect(take() == expected) }
        // Returns no more than requested, whatever fits, and at least one.
        _ = queue.append([1, 2, 3, 4])
        #expect(queue.take(2) { _ in 100 } == [1, 2])
        #expect(queue.take(2) { _ in -1 } == [3])
        #expect(queue.take(2) { $0.count } == [4])
    }

    @Test func `returns nothing after a time-out, and can be waited on again`() {
        let queue = WorkQueue<Int>(limit: 5)
        #expect(queue.take(1, within: 0) == [])
        #expect(queue.take(1, within: 1) == [])
        _ = queue.append([1])
        #expect(queue.take(1, within: 60_000) == [1])
    }

    @Test func `returns its remaining items after closing, and admits no more`() {
        let queue = WorkQueue<Int>(limit: 5)
        _ = queue.append([1, 2, 3])
        queue.close()
        let admission = queue.append([4])
        #expect(admission.count == 0 && admission.refusal == .unavailable("The server is shutting down."))
        #expect(queue.take(2) == [1, 2])
        #expect(queue.take(2) == [3])
        #expect(queue.take(2) == nil)
        #expect(queue.take(2, within: 60_000) == nil)
    }

    @Test func `waits for a group of items, until its time is up or the queue is closed`() {
        let far = ContinuousClock.now + .seconds(600)
        let queue = WorkQueue<Int>(limit: 10)
        // The time is up, so one item is enough.
        _ = queue.append([1])
        #expect(queue.take(10, waitingFor: ExpectedGroup(count: 3, deadline: .now)) == [1])
        _ = queue.append([2])
        #expect(queue.take(10, waitingFor: ExpectedGroup(count: 3, deadline: .now + .milliseconds(1))) == [2])
        // Without an item, the group does not lengthen the wait.
        #expect(queue.take(10, within: 1, waitingFor: ExpectedGroup(count: 3, deadline: far)) == [])
        inParallel(2) { thread in
            if thread == 0 {
                for item in 3...5 { _ = queue.append([item]) }
            } else {
                #expect(queue.take(10, waitingFor: ExpectedGroup(count: 3, deadline: far)) == [3, 4, 5])
            }
        }
        inParallel(2) { thread in
            if thread == 0 {
                _ = queue.append([6])
                queue.close()
            } else {
                #expect(queue.take(10, waitingFor: ExpectedGroup(count: 3, deadline: far)) == [6])
            }
        }
        #expect(queue.take(10) == nil)
    }

    @Test func `shares work among threads, and wakes all at the end`() {
        let queue = WorkQueue<Int>(limit: 10_000)
        let taken = Mutex<[Int]>([])
        inParallel(4) { thread in
            if thread == 0 {
                for item in 0..<2000 { #expect(queue.append([item]).count == 1) }
                queue.close()
            } else {
                while let items = queue.take(3) { taken.withLock { $0 += items } }
            }
        }
        #expect(taken.withLock { $0 }.sorted() == Array(0..<2000))
    }
}
