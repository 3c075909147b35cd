/// A part of the server's work that is timed in isolation.
struct Benchmark {
    /// The subject and the operation: `http parse a send`.
    let name: String
    /// The unit of work: `request`, `delivery`.
    let unit: String
    /// Number of units of work per call.
    let unitsPerCall: Int
    /// Performs the work the given number of times.
    let work: (Int) throws -> Void

    init(_ name: String, per unit: String, times unitsPerCall: Int = 1, _ work: @escaping (Int) throws -> Void) {
        self.name = name
        self.unit = unit
        self.unitsPerCall = unitsPerCall
        self.work = work
    }

    /// Times the work in several rounds, each with as many calls as take `roundTime`.
    ///
    /// - Parameters:
    ///   - rounds: at least 1. A further round comes first and is not counted.
    ///   - roundTime: the approximate duration of a round.
    func measure(rounds: Int, roundTime: Duration) throws -> Measurement {
        var calls = 1
        var time = try time(calls)
        // Doubled until it takes long enough, so that a slow start does not lead to rounds that are too short.
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

/// The time that a benchmark takes per unit.
struct Measurement {
    let name: String
    let unit: String
    /// Nanoseconds per unit in each round, in ascending order; at least one round.
    let nanoseconds: [Double]

    /// The median of the rounds; of an even number of them, the larger of the two middle ones.
    var median: Double { nanoseconds[nanoseconds.count / 2] }

    /// Units per second.
    var perSecond: Double { 1e9 / median }

    /// The range of the rounds relative to the median. A difference is significant only if it is larger.
    var spread: Double { (nanoseconds.last! - nanoseconds[0]) / median }
}

/// Keeps the compiler from removing work whose result is not used.
@inline(never)
func keep<T>(_ value: borrowing T) {}
