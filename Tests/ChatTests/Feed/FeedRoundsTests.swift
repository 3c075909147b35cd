import TestSupport
import Testing

@testable import Chat

@Suite("The rounds of a feed")
struct FeedRoundsTests {
    /// The subscribers in their order, with their visits.
    private struct Audience {
        var rounds = FeedRounds()
        /// The latest publication when each subscriber was visited.
        var had: [Int]
        var latest = 0
        /// For each publication, true if visits began with it.
        var begins: [Bool] = []
        /// The visits: each index, and its new publications.
        var visits: [String] = []

        init(count: Int) {
            had = Array(repeating: 0, count: count)
        }

        mutating func publish() {
            latest += 1
            begins.append(rounds.publish())
        }

        mutating func visit(_ count: Int) {
            for _ in 0..<count {
                if let index = rounds.next(subscribers: had.count) {
                    let new = (had[index]..<latest).map { String(UnicodeScalar(UInt8(97 + $0 % 26))) }
                    visits.append("\(index)\(new.isEmpty ? "-" : new.joined())")
                    had[index] = latest
                }
                rounds.beginDueRound(subscribers: had.count)
            }
        }

        mutating func leave(_ index: Int) {
            let hole = rounds.vacate(index)
            had[index] = had[hole]
            had[hole] = had[had.count - 1]
            had.removeLast()
        }
    }

    @Test func `send what is published meanwhile to those not visited, and to the others in the next round`() {
        var audience = Audience(count: 4)
        audience.publish()
        audience.visit(2)
        audience.publish()
        audience.visit(6)
        #expect(audience.visits == ["0a", "1a", "2ab", "3ab", "0b", "1b", "2-", "3-"])
        #expect(audience.begins == [true, false])
        #expect(audience.rounds.areOver)
    }

    @Test func `reach everybody, however often something is published meanwhile`() {
        var audience = Audience(count: 100)
        for _ in 0..<2_000 {
            audience.publish()
            audience.visit(1)
        }
        #expect(audience.had.allSatisfy { audience.latest - $0 <= 100 })
    }

    @Test func `of an empty room are over at once`() {
        var audience = Audience(count: 0)
        audience.publish()
        audience.visit(1)
        #expect(audience.begins == [true] && audience.visits.isEmpty && audience.rounds.areOver)
    }

    @Test(arguments: 0..<100)
    func `miss nobody while subscribers come and go`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var audience = Audience(count: Int.random(in: 0...12, using: &generator))
        for _ in 0..<300 {
            switch Int.random(in: 0..<7, using: &generator) {
            case 0: audience.had.append(audience.latest)
            case 1: if let index = audience.had.indices.randomElement(using: &generator) { audience.leave(index) }
            case 2: audience.publish()
            default: audience.visit(Int.random(in: 1...3, using: &generator))
            }
            if audience.rounds.areOver { #expect(audience.had.allSatisfy { $0 == audience.latest }) }
        }
        audience.visit(100)
        #expect(audience.rounds.areOver)
        #expect(audience.had.allSatisfy { $0 == audience.latest })
    }
}
