/// What the server's processes, if they are known, and this one used.
struct UsageReport: Sendable {
    /// Before the first connection.
    var base = ProcessUsage()
    /// The time when all subscribers were ready.
    var connected = ProcessUsage()
    /// Some time later, before the first request.
    var settled = ProcessUsage()
    /// The server's CPU seconds in the measurement.
    var serverSeconds = 0.0
    /// The server's memory when the measurement ended, in bytes.
    var memoryAtEnd = 0.0
    /// This process's CPU seconds in the measurement.
    var ownSeconds = 0.0

    /// Takes what was used between two moments: the server's usage, and this process's seconds.
    mutating func measure(from first: (ProcessUsage, Double), to last: (ProcessUsage, Double)) {
        serverSeconds = last.0.cpuSeconds - first.0.cpuSeconds
        memoryAtEnd = last.0.memory
        ownSeconds = last.1 - first.1
    }

    /// The server's CPU seconds while subscribers connected.
    var connectSeconds: Double { connected.cpuSeconds - base.cpuSeconds }

    /// The server's memory for each of so many connections, in bytes.
    func memory(per connections: Int) -> Double {
        connections > 0 ? (settled.memory - base.memory) / Double(connections) : 0
    }

    /// A count for each CPU second of the server.
    func perServerSecond(_ count: Int) -> Double {
        serverSeconds > 0 ? Double(count) / serverSeconds : 0
    }
}
