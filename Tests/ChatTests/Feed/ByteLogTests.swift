import TestSupport
import Testing

@testable import Chat

@Suite("A byte log")
struct ByteLogTests {
    /// Appends messages with these revisions. Each consists of its revision's last digit.
    private func append(_ revs: ClosedRange<Int64>, size: Int, to log: inout ByteLog) {
        var frames: [UInt8] = []
        var ends: [Int] = []
        for rev in revs {
            frames += Array(repeating: UInt8(truncatingIfNeeded: rev), count: size)
            ends.append(frames.count)
        }
        log.append(frames, ends: ends, since: revs.lowerBound - 1)
    }

    @Test func `without messages has nothing for any subscriber`() {
        let log = ByteLog()
        #expect(log.rev == nil)
        #expect(log.next(after: 0, limit: 100) == .level)
        #expect(log.next(after: 7, limit: 100) == .level)
    }

    @Test func `gives an up-to-date subscriber a whole batch in one range`() {
        var log = ByteLog()
        append(42...44, size: 10, to: &log)
        #expect(log.rev == 44)
        #expect(log.next(after: 41, limit: 1000) == .frames(0..<30, rev: 44))
        #expect(log.next(after: 43, limit: 1000) == .frames(20..<30, rev: 44))
        #expect(log.next(after: 44, limit: 1000) == .level)
    }

    @Test func `tells a subscriber that lacks earlier messages to read the message log`() {
        var log = ByteLog()
        append(42...44, size: 10, to: &log)
        #expect(log.next(after: 40, limit: 1000) == .behind)
    }

    @Test func `has nothing yet for a subscriber that has read beyond it`() {
        var log = ByteLog()
        append(42...44, size: 10, to: &log)
        #expect(log.next(after: 50, limit: 1000) == .level)
        append(45...51, size: 10, to: &log)
        #expect(log.next(after: 50, limit: 1000) == .frames(90..<100, rev: 51))
    }

    @Test func `gives whole messages up to the limit, but at least one`() {
        var log = ByteLog()
        append(1...10, size: 10, to: &log)
        #expect(log.next(after: 0, limit: 30) == .frames(0..<30, rev: 3))
        #expect(log.next(after: 0, limit: 39) == .frames(0..<30, rev: 3))
        #expect(log.next(after: 0, limit: 1) == .frames(0..<10, rev: 1))
        #expect(log.next(after: 9, limit: 1) == .frames(90..<100, rev: 10))
    }

    @Test func `drops the oldest messages above its limit, and keeps a batch whole`() {
        var log = ByteLog(limit: 100)
        for rev in 1...Int64(50) { append(rev...rev, size: 10, to: &log) }
        #expect(log.bytes.count <= 200)
        #expect(log.bytes.count >= 100)
        #expect(log.next(after: 0, limit: 1000) == .behind)
        #expect(log.next(after: 49, limit: 1000) == .frames(log.bytes.count - 10..<log.bytes.count, rev: 50))
        append(51...90, size: 10, to: &log)
        #expect(log.bytes.count == 400)
        #expect(log.next(after: 50, limit: 1000) == .frames(0..<400, rev: 90))
    }

    @Test func `starts anew when revisions are missing, rather than give a wrong position`() {
        var log = ByteLog()
        append(1...3, size: 10, to: &log)
        append(7...8, size: 10, to: &log)
        #expect(log.next(after: 3, limit: 1000) == .behind)
        #expect(log.next(after: 6, limit: 1000) == .frames(0..<20, rev: 8))
    }

    /// Appends messages of ten bytes with these revisions.
    private func append(_ revs: [Int64], since: Int64, upTo rev: Int64, to log: inout ByteLog) {
        let frames = revs.flatMap { Array(repeating: UInt8(truncatingIfNeeded: $0), count: 10) }
        log.append(
            frames, ends: revs.indices.map { ($0 + 1) * 10 }, since: since,
            revisions: Batch.Revisions(revs: revs, end: rev))
    }

    @Test func `gives a subscriber the messages after its revision, although some revisions are missing in between`() {
        var log = ByteLog()
        append(1...2, size: 10, to: &log)
        append([4, 7, 8], since: 2, upTo: 9, to: &log)
        append(10...10, size: 10, to: &log)
        #expect(log.rev == 10)
        #expect(log.next(after: 0, limit: 1000) == .frames(0..<60, rev: 10))
        #expect(log.next(after: 2, limit: 1000) == .frames(20..<60, rev: 10))
        for rev in [4, 5, 6] as [Int64] { #expect(log.next(after: rev, limit: 1000) == .frames(30..<60, rev: 10)) }
        for rev in [8, 9] as [Int64] { #expect(log.next(after: rev, limit: 1000) == .frames(50..<60, rev: 10)) }
        #expect(log.next(after: 2, limit: 20) == .frames(20..<40, rev: 7))
        #expect(log.next(after: 10, limit: 1000) == .level)
    }

    @Test func `takes a subscriber past revisions that no message has`() {
        var log = ByteLog()
        append([3], since: 2, upTo: 5, to: &log)
        #expect(log.next(after: 2, limit: 1000) == .frames(0..<10, rev: 5))
        #expect(log.next(after: 3, limit: 1000) == .frames(10..<10, rev: 5))
        append([], since: 5, upTo: 6, to: &log)
        #expect(log.next(after: 5, limit: 1000) == .frames(10..<10, rev: 6))
        log.forgetSent()
        #expect(log.rev == 6)
        #expect(log.next(after: 6, limit: 1000) == .level)
        #expect(log.next(after: 5, limit: 1000) == .behind)
    }

    @Test func `starts anew at a batch that begins before the last revision, and repeats nothing to a subscriber`() {
        var log = ByteLog()
        append(1...5, size: 10, to: &log)
        append([4, 7], since: 3, upTo: 7, to: &log)
        #expect(log.next(after: 2, limit: 1000) == .behind)
        #expect(log.next(after: 5, limit: 1000) == .frames(10..<20, rev: 7))
    }

    @Test func `drops the oldest messages above its limit, although revisions are missing`() {
        var log = ByteLog(limit: 20)
        append([2, 5, 6, 9], since: 0, upTo: 9, to: &log)
        append([12], since: 9, upTo: 12, to: &log)
        #expect(log.bytes.count == 20)
        #expect(log.next(after: 5, limit: 1000) == .behind)
        #expect(log.next(after: 6, limit: 1000) == .frames(0..<20, rev: 12))
        #expect(log.next(after: 9, limit: 1000) == .frames(10..<20, rev: 12))
    }

    @Test func `gives every subscriber the same messages as a plain list would, whatever the sizes`() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            var log = ByteLog(limit: Int.random(in: 1...300, using: &generator))
            var messages: [(rev: Int64, bytes: [UInt8])] = []
            let start = Int64.random(in: 0...5, using: &generator)
            let hasGaps = Bool.random(using: &generator)
            var rev = start
            var reader = start
            for _ in 0..<60 {
                var frames: [UInt8] = []
                var ends: [Int] = []
                var revs: [Int64] = []
                let since = rev
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    rev += hasGaps ? Int64.random(in: 1...3, using: &generator) : 1
                    let size = Int.random(in: 1...40, using: &generator)
                    let message = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
                    messages.append((rev, message))
                    revs.append(rev)
                    frames += message
                    ends.append(frames.count)
                }
                if hasGaps { rev += Int64.random(in: 0...1, using: &generator) }
                log.append(
                    frames, ends: ends, since: since,
                    revisions: rev - since == Int64(revs.count) ? nil : Batch.Revisions(revs: revs, end: rev))
                guard Bool.random(using: &generator) else { continue }
                let limit = Int.random(in: 1...100, using: &generator)
                switch log.next(after: reader, limit: limit) {
                case .level: #expect(reader == rev)
                case .behind: reader = Int64.random(in: reader + 1...rev, using: &generator)
                case .frames(let range, let newRev):
                    let expected = messages.filter { $0.rev > reader && $0.rev <= newRev }
                    #expect(Array(log.bytes[range]) == expected.flatMap(\.bytes))
                    #expect(range.count <= limit || expected.count == 1)
                    reader = newRev
                }
            }
        }
    }
}
