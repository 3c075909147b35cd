/// A piece of the server's work that is timed by itself.
struct Benchmark {
    /// What is worked on and what is done: `http parse a send`.
    let name: String
    /// What one unit of it is: `request`, `delivery`.
    let unit: String
    /// The number of units that one call of ``work`` does.
    let unitsPerCall: Int
    /// Does the work so many times.
    let work: (Int) throws -> Void

    init(_ name: String, per unit: String, times unitsPerCall: Int = 1, _ work: @escaping (Int) throws -> Void) {
        self.name = name
        self.unit = unit
        self.unitsPerCall = unitsPerCall
        self.work = work
    }

    /// Times it: a few rounds, each of as many calls as take `roundTime`.
    ///
    /// - Parameters:
    ///   - rounds: 1 or more; one more comes before them and does not count.
    ///   - roundTime: about how long a round takes.
    func measure(rounds: Int, roundTime: Duration) throws -> Measurement {
        var calls = 1
        var time = try time(calls)
        // Doubled, so that what is slow at first does not lead to rounds that are too short.
        while time < roundTime {
            calls = time * 2 > roundTime ? Int(Double(calls) * (roundTime / time)) + 1 : calls * 2
            time = try self.time(calls)
        }
        let units = Double(calls * unitsPerCall)
        let times = try (0..<rounds).map { _ in try self.time(calls) / .nanoseconds(1) / units }
        return Measurement(name: name, unit: unit, nanoseconds: times.sorted())
    }

    private func time(_ calls: Int) throws -> Duration {
        let start = ContinuousClock.now
        try work(calls)
        return ContinuousClock.now - start
    }
}

/// What a benchmark has taken, a unit.
struct Measurement {
    let name: String
    let unit: String
    /// Nanoseconds a unit in each round, the shortest first; one round at least.
    let nanoseconds: [Double]

    /// Of the rounds; of an even number of them the longer of the two in the middle.
    var median: Double { nanoseconds[nanoseconds.count / 2] }

    /// The number of units that a second.
    var perSecond: Double { 1e9 / median }

    /// How far the rounds lie apart, as a part of the median: what a difference must exceed to mean anything.
    var spread: Double { (nanoseconds.last! - nanoseconds[0]) / median }
}

/// Keeps the compiler from leaving out work whose result nobody needs.
@inline(never)
func keep<T>(_ value: borrowing T) {}
