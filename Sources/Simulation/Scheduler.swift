/// Virtual time, and everything that happens in it: one thing after the other, in an order that the seed decides.
// Sendable because one thread runs a simulation.
final class Scheduler: @unchecked Sendable {
    private struct Entry {
        let time: Int64
        let number: Int
        let action: () -> Void

        func isBefore(_ other: Entry) -> Bool { (time, number) < (other.time, other.number) }
    }

    /// The time since the start, in microseconds.
    private(set) var now: Int64 = 0
    var random: Random
    private let origin = ContinuousClock.now
    private var entries: [Entry] = []
    private var count = 0

    init(seed: UInt64) {
        random = Random(seed)
    }

    /// The time for values that ask for instants. Only differences matter.
    var instant: ContinuousClock.Instant { origin + .microseconds(now) }

    /// The number of actions that were run.
    private(set) var steps = 0

    /// Runs an action later.
    func after(_ delay: Int64, _ action: @escaping () -> Void) {
        count += 1
        entries.append(Entry(time: now + max(0, delay), number: count, action: action))
        var index = entries.count - 1
        while index > 0, entries[index].isBefore(entries[(index - 1) / 2]) {
            entries.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Runs the actions up to a time, or until `isOver`.
    func run(until end: Int64, isOver: () -> Bool) {
        while let first = entries.first, first.time <= end, !isOver() {
            removeFirst()
            now = first.time
            steps += 1
            first.action()
        }
        now = max(now, end)
    }

    private func removeFirst() {
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var index = 0
        while true {
            let left = 2 * index + 1
            guard left < entries.count else { return }
            let child = left + 1 < entries.count && entries[left + 1].isBefore(entries[left]) ? left + 1 : left
            guard entries[child].isBefore(entries[index]) else { return }
            entries.swapAt(child, index)
            index = child
        }
    }
}

/// A sequence of random numbers that is the same on every machine (SplitMix64).
struct Random {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns a number from 0 to `count` - 1.
    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    mutating func within(_ range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + Int64(next() % UInt64(range.upperBound - range.lowerBound + 1))
    }

    /// Returns true with this probability.
    mutating func chance(_ probability: Double) -> Bool { Double(next() >> 11) / 9_007_199_254_740_992 < probability }

    mutating func pick<C: RandomAccessCollection>(_ items: C) -> C.Element where C.Index == Int {
        items[items.startIndex + below(items.count)]
    }
}

extension Int64 {
    /// A number of milliseconds, in microseconds.
    static func milliseconds(_ count: Int64) -> Int64 { count * 1000 }
    static func seconds(_ count: Int64) -> Int64 { count * 1_000_000 }
}

/// A process, which can die or be stopped between any two steps of its threads.
final class Process {
    let scheduler: Scheduler
    private(set) var isAlive = true
    private var stoppedUntil: Int64 = 0

    init(_ scheduler: Scheduler) {
        self.scheduler = scheduler
    }

    /// Runs a step of the process later, unless it has died.
    func after(_ delay: Int64, _ step: @escaping () -> Void) {
        scheduler.after(delay) { [self] in
            guard isAlive else { return }
            if scheduler.now < stoppedUntil { return after(stoppedUntil - scheduler.now, step) }
            step()
        }
    }

    func stop(for time: Int64) { stoppedUntil = max(stoppedUntil, scheduler.now + time) }
    func resume() { stoppedUntil = 0 }
    func kill() { isAlive = false }

    /// A short and random time of a thread.
    var pause: Int64 {
        scheduler.random.chance(0.02) ? scheduler.random.within(0...8000) : scheduler.random.within(5...200)
    }
}

/// A thread that takes its work in order, with a pause before each piece.
final class WorkerThread {
    private let process: Process
    private var work: [() -> Void] = []
    private var isRunning = false

    init(_ process: Process) {
        self.process = process
    }

    func post(_ body: @escaping () -> Void) {
        work.append(body)
        guard !isRunning else { return }
        isRunning = true
        process.after(process.pause) { [self] in run() }
    }

    private func run() {
        work.removeFirst()()
        guard !work.isEmpty else { return isRunning = false }
        process.after(process.pause) { [self] in run() }
    }
}
