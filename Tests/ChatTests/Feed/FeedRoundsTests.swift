import TestSupport
import Testing

@testable import Chat

@Suite("The rounds of a feed")
struct FeedRoundsTests {
    /// The subscribers in their order, with their visits.
    private struct Audience {
        var rounds: FeedRounds
        /// The latest publication when each subscriber was visited.
        var had: [Int] = []
        var latest = 0
        /// For each publication, true if visits began with it.
        var begins: [Bool] = []
        /// The visits: each index, and its new publications.
        var visits: [String] = []

        init(front: Int, count: Int) {
            rounds = FeedRounds(frontCount: front)
            had = Array(repeating: 0, count: count)
        }

        mutating func publish() {
            latest += 1
            begins.append(rounds.publish(subscribers: had.count))
        }

        mutating func visit(_ count: Int) {
            for _ in 0..<count {
                if let index = rounds.next(subscribers: had.count) {
                    let new = (had[index]..<latest).map { String(UnicodeScalar(UInt8(97 + $0 % 26))) }
                    visits.append("\(index)\(new.isEmpty ? "-" : new.joined())")
                    had[index] = latest
                }
                rounds.beginDueRounds(subscribers: had.count)
            }
        }

        mutating func leave(_ index: Int) {
            let hole = rounds.vacate(index, subscribers: had.count)
            had[index] = had[hole]
            had[hole] = had[had.count - 1]
            had.removeLast()
        }
    }

    @Test("visit the front first, and then as many behind")
    func example() {
        var audience = Audience(front: 2, count: 6)
        audience.publish()
        audience.visit(4)
        #expect(!audience.rounds.areOver)
        audience.publish()
        audience.visit(8)
        #expect(audience.visits.joined(separator: " ") == "0a 1a 2a 3a 0b 1b 4ab 5ab 2b 3b 4- 5-")
        #expect(audience.begins == [true, true], "what was owed had been given")
        #expect(audience.rounds.areOver)
    }

    @Test("in front wait for the visits that are owed behind")
    func owed() {
        var audience = Audience(front: 2, count: 6)
        audience.publish()
        audience.visit(3)
        audience.publish()
        audience.visit(3)
        #expect(audience.visits == ["0a", "1a", "2a", "3ab", "0b", "1b"])
        #expect(audience.begins == [true, false], "one more visit was owed behind")
    }

    @Test("reach everybody, however often something is published meanwhile")
    func fairness() {
        var audience = Audience(front: 10, count: 100)
        for _ in 0..<2_000 {
            audience.publish()
            audience.visit(1)
        }
        let behind = audience.visits.count { Int($0.prefix { $0.isNumber })! >= 10 }
        #expect((950...1050).contains(behind), "half of the visits")
        #expect(audience.had.allSatisfy { audience.latest - $0 < 400 })
    }

    @Test("visit nothing behind if all subscribers are in front")
    func small() {
        var audience = Audience(front: 10, count: 4)
        audience.publish()
        audience.visit(2)
        audience.publish()
        audience.visit(6)
        #expect(audience.visits == ["0a", "1a", "2ab", "3ab", "0b", "1b", "2-", "3-"])
        #expect(audience.begins == [true, false])
        #expect(audience.rounds.areOver)
    }

    @Test("of an empty room are over at once")
    func empty() {
        var rounds = FeedRounds(frontCount: 2)
        let begins = rounds.publish(subscribers: 0)
        #expect(begins)
        let next = rounds.next(subscribers: 0)
        #expect(next == nil)
        rounds.beginDueRounds(subscribers: 0)
        #expect(rounds.areOver)
    }

    @Test("miss nobody while subscribers come and go", arguments: 0..<100)
    func comingAndGoing(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let front = Int.random(in: 1...6, using: &generator)
        var audience = Audience(front: front, count: Int.random(in: 0...12, using: &generator))
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
