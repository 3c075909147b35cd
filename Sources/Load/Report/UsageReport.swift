/// The resource usage of the server's processes, if they are known, and of this process.
struct UsageReport: Sendable {
    /// The server's usage before the first connection.
    var base = ProcessUsage()
    /// The server's usage once all subscribers were ready.
    var connected = ProcessUsage()
    /// The server's usage some time later, before the first request.
    var settled = ProcessUsage()
    /// The server's CPU seconds during the measurement.
    var serverSeconds = 0.0
    /// The server's memory at the end of the measurement, in bytes.
    var memoryAtEnd = 0.0
    /// This process's CPU seconds during the measurement.
    var ownSeconds = 0.0

    /// Computes the usage between two moments, each given as the server's usage and this process's seconds.
    mutating func measure(from first: (ProcessUsage, Double), to last: (ProcessUsage, Double)) {
        serverSeconds = last.0.cpuSeconds - first.0.cpuSeconds
        memoryAtEnd = last.0.memory
        ownSeconds = last.1 - first.1
    }

    /// The server's CPU seconds while subscribers connected.
    var connectSeconds: Double { connected.cpuSeconds - base.cpuSeconds }

    /// Returns the server's memory per connection, in bytes.
    func memory(per connections: Int) -> Double {
        connections > 0 ? (settled.memory - base.memory) / Double(connections) : 0
    }

    /// Returns a count per CPU second of the server.
    func perServerSecond(_ count: Int) -> Double {
        serverSeconds > 0 ? Double(count) / serverSeconds : 0
    }
}
