import TestSupport
import Testing

@testable import Transport

@Suite("The timer wheel")
struct TimerWheelTests {
    @Test func `An entry fires once, at its tick`() {
        var wheel = TimerWheel<String>()
        wheel.insert("a", at: 3)
        #expect(wheel.advance(to: 2).isEmpty)
        #expect(wheel.advance(to: 3) == ["a"])
        #expect(wheel.advance(to: 4).isEmpty)
        #expect(wheel.isEmpty)
    }

    @Test func `Entries fire in the order of their ticks, and within a tick in order of arrival`() {
        var wheel = TimerWheel<String>()
        wheel.insert("late", at: 5)
        wheel.insert("first", at: 2)
        wheel.insert("second", at: 2)
        #expect(wheel.advance(to: 9) == ["first", "second", "late"])
    }

    @Test func `An entry further away than the span stays until its tick`() {
        var wheel = TimerWheel<String>(span: 4)
        wheel.insert("far", at: 10)
        for tick in 1...9 { #expect(wheel.advance(to: tick).isEmpty) }
        #expect(wheel.count == 1)
        #expect(wheel.advance(to: 10) == ["far"])
    }

    @Test func `One bucket separates entries of several rounds`() {
        var wheel = TimerWheel<Int>(span: 4)
        for tick in [2, 6, 10] { wheel.insert(tick, at: tick) }
        #expect(wheel.advance(to: 2) == [2])
        #expect(wheel.advance(to: 6) == [6])
        #expect(wheel.advance(to: 10) == [10])
    }

    @Test func `After a long sleep all due entries fire, and no others`() {
        var wheel = TimerWheel<Int>(span: 4)
        for tick in 1...20 { wheel.insert(tick, at: tick) }
        #expect(wheel.advance(to: 17).sorted() == Array(1...17))
        #expect(wheel.count == 3)
        #expect(wheel.advance(to: 1_000_000).sorted() == [18, 19, 20])
        #expect(wheel.isEmpty)
    }

    @Test func `An entry for a past tick fires at the next one`() {
        var wheel = TimerWheel<String>(now: 100)
        wheel.insert("overdue", at: 7)
        wheel.insert("now", at: 100)
        #expect(wheel.advance(to: 101) == ["overdue", "now"])
    }

    @Test func `Nothing fires while the clock stands still`() {
        var wheel = TimerWheel<String>(now: 5)
        wheel.insert("a", at: 6)
        #expect(wheel.advance(to: 5).isEmpty)
        #expect(wheel.advance(to: 4).isEmpty)
        #expect(wheel.advance(to: 6) == ["a"])
    }

    @Test func `An empty wheel can be started at another tick`() {
        var wheel = TimerWheel<String>()
        wheel.restart(at: 1_000_000)
        wheel.insert("a", at: 1_000_001)
        #expect(wheel.advance(to: 1_000_000).isEmpty)
        #expect(wheel.advance(to: 1_000_001) == ["a"])
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `Any entries fire at the first check that is not before their tick`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var wheel = TimerWheel<Int>(span: Int.random(in: 1...32, using: &random))
        var pending: [Int] = []
        var now = 0
        while now < 500 {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let tick = now + Int.random(in: 1...100, using: &random)
                wheel.insert(tick, at: tick)
                pending.append(tick)
            }
            now += Int.random(in: 0...40, using: &random)
            let due = wheel.advance(to: now)
            #expect(due.sorted() == pending.filter { $0 <= now }.sorted())
            pending.removeAll { $0 <= now }
            #expect(wheel.count == pending.count)
        }
    }
}
