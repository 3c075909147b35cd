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
        log.append(frames, ends: ends, firstRev: revs.lowerBound)
    }

    @Test("without messages has nothing for any subscriber")
    func empty() {
        let log = ByteLog()
        #expect(log.rev == nil)
        #expect(log.next(after: 0, limit: 100) == .level)
        #expect(log.next(after: 7, limit: 100) == .level)
    }

    @Test("gives a level subscriber a whole batch in one range")
    func oneRange() {
        var log = ByteLog()
        append(42...44, size: 10, to: &log)
        #expect(log.rev == 44)
        #expect(log.next(after: 41, limit: 1000) == .frames(0..<30, rev: 44))
        #expect(log.next(after: 43, limit: 1000) == .frames(20..<30, rev: 44))
        #expect(log.next(after: 44, limit: 1000) == .level)
    }

    @Test("sends a subscriber from before its first message to the log")
    func behind() {
        var log = ByteLog()
        append(42...44, size: 10, to: &log)
        #expect(log.next(after: 40, limit: 1000) == .behind)
    }

    @Test("has nothing yet for a subscriber that is ahead after reading the log")
    func ahead() {
        var log = ByteLog()
        append(42...44, size: 10, to: &log)
        #expect(log.next(after: 50, limit: 1000) == .level)
        append(45...51, size: 10, to: &log)
        #expect(log.next(after: 50, limit: 1000) == .frames(90..<100, rev: 51))
    }

    @Test("cuts what it gives at the limit, between messages, but gives at least one")
    func limit() {
        var log = ByteLog()
        append(1...10, size: 10, to: &log)
        #expect(log.next(after: 0, limit: 30) == .frames(0..<30, rev: 3))
        #expect(log.next(after: 0, limit: 39) == .frames(0..<30, rev: 3))
        #expect(log.next(after: 0, limit: 1) == .frames(0..<10, rev: 1))
        #expect(log.next(after: 9, limit: 1) == .frames(90..<100, rev: 10))
    }

    @Test("drops the oldest messages above its limit, and keeps a batch whole")
    func forgetting() {
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

    @Test("starts anew when revisions are missing, rather than give a wrong position")
    func gap() {
        var log = ByteLog()
        append(1...3, size: 10, to: &log)
        append(7...8, size: 10, to: &log)
        #expect(log.next(after: 3, limit: 1000) == .behind)
        #expect(log.next(after: 6, limit: 1000) == .frames(0..<20, rev: 8))
    }

    @Test("gives every subscriber the same messages as a plain list would, whatever the sizes")
    func model() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            var log = ByteLog(limit: Int.random(in: 1...300, using: &generator))
            var messages: [[UInt8]] = []
            let start = Int64.random(in: 0...5, using: &generator)
            var rev = start
            var reader = start
            for _ in 0..<60 {
                var frames: [UInt8] = []
                var ends: [Int] = []
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    let size = Int.random(in: 1...40, using: &generator)
                    let message = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
                    messages.append(message)
                    frames += message
                    ends.append(frames.count)
                }
                log.append(frames, ends: ends, firstRev: rev + 1)
                rev += Int64(ends.count)
                guard Bool.random(using: &generator) else { continue }
                let limit = Int.random(in: 1...100, using: &generator)
                switch log.next(after: reader, limit: limit) {
                case .level: #expect(reader == rev)
                case .behind: reader = Int64.random(in: reader + 1...rev, using: &generator)
                case .frames(let range, let newRev):
                    let expected = messages[Int(reader - start)..<Int(newRev - start)].flatMap { $0 }
                    #expect(Array(log.bytes[range]) == expected)
                    #expect(range.count <= limit || newRev == reader + 1)
                    reader = newRev
                }
            }
        }
    }
}
