import TestSupport
import Testing

@testable import Chat

@Suite("The rounds of a feed")
struct FeedRoundsTests {
    /// Seats that record their visits.
    private struct Hall {
        var rounds: FeedRounds
        /// The latest publication when each seat was visited.
        var had: [Int] = []
        var latest = 0
        /// For each publication, true if visits began with it.
        var begins: [Bool] = []
        /// The visits: each seat, and its new publications.
        var visits: [String] = []

        init(front: Int, seats: Int) {
            rounds = FeedRounds(frontSeats: front)
            had = Array(repeating: 0, count: seats)
        }

        mutating func publish() {
            latest += 1
            begins.append(rounds.publish(seats: had.count))
        }

        mutating func visit(_ count: Int) {
            for _ in 0..<count {
                if let place = rounds.next(seats: had.count) {
                    let new = (had[place]..<latest).map { String(UnicodeScalar(UInt8(97 + $0 % 26))) }
                    visits.append("\(place)\(new.isEmpty ? "-" : new.joined())")
                    had[place] = latest
                }
                rounds.beginDueRounds(seats: had.count)
            }
        }

        mutating func leave(_ place: Int) {
            let hole = rounds.vacate(place, seats: had.count)
            had[place] = had[hole]
            had[hole] = had[had.count - 1]
            had.removeLast()
        }
    }

    @Test("visit the front first, and then as many seats behind")
    func example() {
        var hall = Hall(front: 2, seats: 6)
        hall.publish()
        hall.visit(4)
        #expect(!hall.rounds.areOver)
        hall.publish()
        hall.visit(8)
        #expect(hall.visits.joined(separator: " ") == "0a 1a 2a 3a 0b 1b 4ab 5ab 2b 3b 4- 5-")
        #expect(hall.begins == [true, true], "what was owed had been given")
        #expect(hall.rounds.areOver)
    }

    @Test("in front wait for the visits that are owed behind")
    func owed() {
        var hall = Hall(front: 2, seats: 6)
        hall.publish()
        hall.visit(3)
        hall.publish()
        hall.visit(3)
        #expect(hall.visits == ["0a", "1a", "2a", "3ab", "0b", "1b"])
        #expect(hall.begins == [true, false], "one more visit was owed behind")
    }

    @Test("reach every seat, however much is published meanwhile")
    func fairness() {
        var hall = Hall(front: 10, seats: 100)
        for _ in 0..<2_000 {
            hall.publish()
            hall.visit(1)
        }
        let behind = hall.visits.count { Int($0.prefix { $0.isNumber })! >= 10 }
        #expect((950...1050).contains(behind), "half of the visits")
        #expect(hall.had.allSatisfy { hall.latest - $0 < 400 })
    }

    @Test("without seats behind the front are single")
    func small() {
        var hall = Hall(front: 10, seats: 4)
        hall.publish()
        hall.visit(2)
        hall.publish()
        hall.visit(6)
        #expect(hall.visits == ["0a", "1a", "2ab", "3ab", "0b", "1b", "2-", "3-"])
        #expect(hall.begins == [true, false])
        #expect(hall.rounds.areOver)
    }

    @Test("of an empty room are over at once")
    func empty() {
        var rounds = FeedRounds(frontSeats: 2)
        let begins = rounds.publish(seats: 0)
        #expect(begins)
        let next = rounds.next(seats: 0)
        #expect(next == nil)
        rounds.beginDueRounds(seats: 0)
        #expect(rounds.areOver)
    }

    @Test("miss no seat while subscribers come and go", arguments: 0..<100)
    func comingAndGoing(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let front = Int.random(in: 1...6, using: &generator)
        var hall = Hall(front: front, seats: Int.random(in: 0...12, using: &generator))
        for _ in 0..<300 {
            switch Int.random(in: 0..<7, using: &generator) {
            case 0: hall.had.append(hall.latest)
            case 1: if let place = hall.had.indices.randomElement(using: &generator) { hall.leave(place) }
            case 2: hall.publish()
            default: hall.visit(Int.random(in: 1...3, using: &generator))
            }
            if hall.rounds.areOver { #expect(hall.had.allSatisfy { $0 == hall.latest }) }
        }
        hall.visit(100)
        #expect(hall.rounds.areOver)
        #expect(hall.had.allSatisfy { $0 == hall.latest })
    }
}
