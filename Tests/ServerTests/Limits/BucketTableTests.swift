import Synchronization
import Testing
import Transport

@testable import Server

@Suite("A table of buckets")
struct BucketTableTests {
    private let most = BucketTableBounds.shards * BucketTableBounds.bucketsPerShard

    @Test func `keeps one bucket for each key, full for a new key`() throws {
        let table = BucketTable<Number>(try #require(RateLimit("1/s:2")))
        for key in 1...3 {
            #expect(table.take(Number(key), at: 0) == nil)
            #expect(table.take(Number(key), at: 0) == nil)
            #expect(table.take(Number(key), at: 0) == 1_000_000_000)
        }
        table.putBack(Number(2))
        #expect(table.take(Number(2), at: 0) == nil)
        #expect(table.take(Number(1), at: 0) != nil)
        #expect(table.count == 3)
    }

    @Test func `gives out no more than its tokens to any number of threads`() throws {
        let table = BucketTable<Number>(try #require(RateLimit("1/h:1000")))
        let given = Mutex(0)
        let taking: @Sendable () -> Void = {
            var mine = 0
            for turn in 0..<2000 where table.take(Number(turn % 2), at: 0) == nil { mine += 1 }
            given.withLock { $0 += mine }
        }
        try concurrently(Array(repeating: taking, count: 4))
        #expect(given.withLock { $0 } == 2000)
    }

    @Test func `is bounded: it drops the fullest buckets, and keeps those at their limit`() throws {
        let table = BucketTable<Number>(try #require(RateLimit("1/h:2")))
        let limited = Array(-100..<0)
        for key in limited + limited { #expect(table.take(Number(key), at: 0) == nil) }
        // Each new key is let in, however many there are.
        for key in 0..<3 * most { #expect(table.take(Number(key), at: 0) == nil) }
        #expect(table.count <= most)
        for key in limited { #expect(table.take(Number(key), at: 0) != nil) }
    }

    @Test func `drops all full buckets when there are too many`() throws {
        let table = BucketTable<Number>(try #require(RateLimit("1/s")))
        for key in 0..<2 * most { _ = table.take(Number(key), at: 0) }
        // A second later all of them are full again.
        for key in 2 * most..<2 * most + most / 2 { #expect(table.take(Number(key), at: 1_000_000_000) == nil) }
        #expect(table.count <= most / 2)
    }

    @Test func `counts new IPv6 addresses by their /48 while it is crowded, and others as usual`() throws {
        let table = BucketTable<AddressBlock>(try #require(RateLimit("1/h:10")))
        func address(_ text: String) throws -> AddressBlock { AddressBlock(try #require(IPAddress(text))) }
        let known = try address("2001:db8:1:ffff::1")
        #expect(table.take(known, at: 0) == nil)
        var refused = 0
        for network in 0..<65_000 {
            let block = try address("2001:db8:1:" + String(network, radix: 16) + "::1")
            if table.take(block, at: 0) != nil { refused += 1 }
        }
        #expect(refused > 20_000)
        #expect(table.count < most)
        // Other sites and IPv4 addresses are let in, each by its own bucket.
        for site in 2..<200 {
            let block = try address("2001:db8:" + String(site, radix: 16) + "::1")
            #expect(table.take(block, at: 0) == nil)
            #expect(table.take(try address("192.0.2.\(site)"), at: 0) == nil)
        }
        for _ in 1..<10 { #expect(table.take(known, at: 0) == nil) }
        #expect(table.take(known, at: 0) != nil)
    }

    @Test func `returns the tokens of a site`() throws {
        let table = BucketTable<AddressBlock>(try #require(RateLimit("1/h")))
        func address(_ text: String) throws -> AddressBlock { AddressBlock(try #require(IPAddress(text))) }
        for network in 0..<most {
            _ = table.take(try address("2001:db8:" + String(network / 8 + 1, radix: 16) + ":\(network % 8)::1"), at: 0)
        }
        let (one, two) = (try address("2001:db9:1:1::1"), try address("2001:db9:1:2::1"))
        #expect(table.take(one, at: 0) == nil)
        #expect(table.take(two, at: 0) != nil)
        table.putBack(one)
        #expect(table.take(two, at: 0) == nil)
    }
}

/// A key without a wider one.
private struct Number: LimitKey {
    let value: Int
    var wider: Number? { nil }

    init(_ value: Int) { self.value = value }
}
