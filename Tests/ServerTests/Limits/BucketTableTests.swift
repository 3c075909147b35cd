import Synchronization
import Testing

@testable import Server

@Suite("A table of buckets")
struct BucketTableTests {
    private let most = BucketTableBounds.shards * BucketTableBounds.bucketsPerShard

    @Test("keeps one bucket for each key, full for a new key")
    func keys() throws {
        let table = BucketTable<Int>(try #require(RateLimit("1/s:2")))
        for key in 1...3 {
            #expect(table.take(key, at: 0) == nil)
            #expect(table.take(key, at: 0) == nil)
            #expect(table.take(key, at: 0) == 1_000_000_000)
        }
        table.putBack(2)
        #expect(table.take(2, at: 0) == nil)
        #expect(table.take(1, at: 0) != nil)
        #expect(table.count == 3)
    }

    @Test("gives out no more than its tokens to any number of threads")
    func parallel() throws {
        let table = BucketTable<Int>(try #require(RateLimit("1/h:1000")))
        let given = Mutex(0)
        let taking: @Sendable () -> Void = {
            var mine = 0
            for turn in 0..<2000 where table.take(turn % 2, at: 0) == nil { mine += 1 }
            given.withLock { $0 += mine }
        }
        try concurrently(Array(repeating: taking, count: 4))
        #expect(given.withLock { $0 } == 2000)
    }

    @Test("is bounded: it drops full buckets and keeps the others")
    func bound() throws {
        let table = BucketTable<Int>(try #require(RateLimit("1/s")))
        #expect(table.take(-1, at: 0) == nil)
        for key in 0..<2 * most { _ = table.take(key, at: 0) }
        #expect(table.count == most)
        #expect(table.take(-1, at: 0) != nil)
        // New keys share one bucket for each mutex, and these are empty by now.
        for key in 3 * most..<3 * most + 100 { #expect(table.take(key, at: 0) != nil) }
        // A second later all buckets are full again.
        for key in 4 * most..<4 * most + 100 { #expect(table.take(key, at: 1_000_000_000) == nil) }
        #expect(table.count < most)
    }

    @Test("does not search for full buckets too often")
    func sweeps() throws {
        let table = BucketTable<Int>(try #require(RateLimit("1000/s:1")))
        for key in 0..<2 * most { _ = table.take(key, at: 0) }
        // The search at 0 finds none; the next one comes only after the interval, although all are full by then.
        let early = BucketTableBounds.sweepInterval - 1
        for key in 2 * most..<3 * most { _ = table.take(key, at: early) }
        #expect(table.count == most)
        for key in 3 * most..<3 * most + 1000 { _ = table.take(key, at: BucketTableBounds.sweepInterval) }
        #expect(table.count < most)
    }
}
