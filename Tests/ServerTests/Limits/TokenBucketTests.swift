import Testing

@testable import Server

@Suite("A token bucket")
struct TokenBucketTests {
    private let second: Int64 = 1_000_000_000

    private func limit(_ text: String) throws -> RateLimit {
        try #require(RateLimit(text))
    }

    @Test func `gives its burst at once, then one token each time that the rate allows, to the nanosecond`() throws {
        let limit = try limit("4/s:3")
        var bucket = TokenBucket(full: limit, at: 0)
        for _ in 1...3 { #expect(bucket.take(limit, at: 0) == nil) }
        #expect(bucket.take(limit, at: 0) == second / 4)
        #expect(bucket.take(limit, at: second / 4 - 1) == 1)
        #expect(bucket.take(limit, at: second / 4) == nil)
        #expect(bucket.take(limit, at: second / 4) == second / 4)
    }

    @Test func `loses nothing to rounding if the rate does not divide the period`() throws {
        let limit = try limit("3/s:1")
        var bucket = TokenBucket(full: limit, at: 0)
        #expect(bucket.take(limit, at: 0) == nil)
        #expect(bucket.take(limit, at: 0) == 333_333_334)
        #expect(bucket.take(limit, at: 333_333_333) == 1)
        // The number of tokens after some seconds does not depend on checks in between.
        var given = 0
        var now: Int64 = 333_333_333
        while now < 1000 * second {
            if bucket.take(limit, at: now) == nil { given += 1 }
            now += 1_000_003
        }
        #expect((2970...3000).contains(given))
        #expect(bucket.take(limit, at: 2000 * second) == nil)
    }

    @Test func `is full after any long pause, holds no more than its burst, and can be dropped only then`() throws {
        let limit = try limit("1000000/s:5")
        var bucket = TokenBucket(full: limit, at: 0)
        for _ in 1...5 { #expect(bucket.take(limit, at: 0) == nil) }
        #expect(!bucket.isFull(limit, at: 4999))
        #expect(bucket.isFull(limit, at: 5000))
        #expect(bucket.isFull(limit, at: .max))
        for _ in 1...5 { #expect(bucket.take(limit, at: .max) == nil) }
        #expect(bucket.take(limit, at: .max) == 1000)
    }

    @Test func `handles the largest numbers of a limit`() throws {
        let limit = try limit("1/h:1000000")
        var bucket = TokenBucket(full: limit, at: -5)
        for _ in 1...1_000_000 where bucket.take(limit, at: 0) != nil { Issue.record("empty too early") }
        #expect(bucket.take(limit, at: 0) == 3600 * second)
        #expect(bucket.take(limit, at: 3600 * second) == nil)
        #expect(bucket.take(limit, at: 3600 * second) == 3600 * second)
    }

    @Test func `gains nothing from a clock that goes backwards`() throws {
        let limit = try limit("1/s")
        var bucket = TokenBucket(full: limit, at: 10 * second)
        #expect(bucket.take(limit, at: 10 * second) == nil)
        #expect(bucket.take(limit, at: 5 * second) == second)
        #expect(bucket.take(limit, at: 11 * second - 1) == 1)
        #expect(bucket.take(limit, at: 11 * second) == nil)
    }

    @Test func `takes unused tokens back, up to its burst`() throws {
        let limit = try limit("1/s:2")
        var bucket = TokenBucket(full: limit, at: 0)
        bucket.putBack(limit)
        for _ in 1...2 { #expect(bucket.take(limit, at: 0) == nil) }
        bucket.putBack(limit)
        #expect(bucket.take(limit, at: 0) == nil)
        #expect(bucket.take(limit, at: 0) == second)
    }
}
