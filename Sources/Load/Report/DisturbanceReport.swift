import Commands

/// The effect of a disturbance on clients that took no part in it, and its cost.
struct DisturbanceReport: Sendable {
    let disturbance: Plan.Disturbance
    /// Its duration.
    var seconds = 0.0
    /// Latency from the time a request was due during it to the answer.
    var ack = LatencySummary()
    /// Latency from the time a message was due during it to each delivery to the other clients.
    var delivery = LatencySummary()
    /// Latency from the start of a storm until each client had the messages that it had missed.
    var catchUp = LatencySummary()
    /// The server's CPU seconds during it.
    var serverSeconds = 0.0
    /// Growth of the server's memory during it, in bytes.
    var memoryGrowth = 0.0

    init(_ disturbance: Plan.Disturbance) {
        self.disturbance = disturbance
    }

    /// Number of clients that took part.
    var clients: Int {
        switch disturbance {
        case .storm(let clients, _): clients
        case .stall(let subscribers, _): subscribers
        }
    }

    /// Growth of the server's memory per participating client, in bytes.
    var memoryEach: Double { memoryGrowth / Double(clients) }

    /// True if each client of a storm got the messages that it had missed.
    var isComplete: Bool { if case .storm = disturbance { catchUp.count == clients } else { true } }

    /// Returns the label of its line in the text, and the line.
    func line(hasServer: Bool) -> (label: String, text: String) {
        let memory = hasServer ? ", \(NumberFormat.bytes(memoryEach)) of server memory each" : ""
        switch disturbance {
        case .storm(_, let back):
            var text = "\(NumberFormat.whole(catchUp.count)) of \(NumberFormat.whole(clients)) caught up with "
            text += "\(NumberFormat.count(back, "message")) in \(NumberFormat.fixed(seconds, 2)) s"
            text += " (p50 \(NumberFormat.milliseconds(catchUp.p50)), p99 \(NumberFormat.milliseconds(catchUp.p99)) ms)"
            if hasServer { text += ", \(NumberFormat.fixed(serverSeconds, 2)) s of server CPU" }
            return ("storm", text + memory)
        case .stall:
            return (
                "stall", "\(NumberFormat.whole(clients)) read nothing for \(NumberFormat.fixed(seconds, 1)) s\(memory)"
            )
        }
    }
}
