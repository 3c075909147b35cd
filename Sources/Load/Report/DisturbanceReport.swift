/// What a disturbance did to those who were not part of it, and what it cost.
struct DisturbanceReport: Sendable {
    let disturbance: Plan.Disturbance
    /// The time it took.
    var seconds = 0.0
    /// From when a request was due during it to its answer.
    var ack = LatencySummary()
    /// From when a message was due to be sent during it to each delivery to the others.
    var delivery = LatencySummary()
    /// From the beginning of a storm to when each client had what it had missed.
    var catchUp = LatencySummary()
    /// The server's CPU seconds meanwhile.
    var serverSeconds = 0.0
    /// The server's memory when it began, in bytes.
    var memoryBefore = 0.0
    /// The server's memory when it ended, in bytes.
    var memoryAfter = 0.0

    /// A report without figures.
    init(_ disturbance: Plan.Disturbance) {
        self.disturbance = disturbance
    }

    /// The number of clients that were part of it.
    var clients: Int {
        switch disturbance {
        case .storm(let clients, _): clients
        case .stall(let subscribers, _): subscribers
        }
    }

    /// By how much the server's memory grew for each of those clients, in bytes.
    var memoryEach: Double { (memoryAfter - memoryBefore) / Double(clients) }

    /// True if each client of a storm has got what it had missed.
    var isComplete: Bool { if case .storm = disturbance { catchUp.count == clients } else { true } }

    /// The label of its line in the text, and the line.
    func line(hasServer: Bool) -> (label: String, text: String) {
        let memory = hasServer ? ", \(Figure.bytes(memoryEach)) of server memory each" : ""
        switch disturbance {
        case .storm(_, let back):
            var text = "\(Figure.whole(catchUp.count)) of \(Figure.whole(clients)) caught up with "
            text += "\(Figure.count(back, "message")) in \(Figure.fixed(seconds, 2)) s"
            text += " (p50 \(Figure.milliseconds(catchUp.p50)), p99 \(Figure.milliseconds(catchUp.p99)) ms)"
            if hasServer { text += ", \(Figure.fixed(serverSeconds, 2)) s of server CPU" }
            return ("storm", text + memory)
        case .stall:
            return ("stall", "\(Figure.whole(clients)) read nothing for \(Figure.fixed(seconds, 1)) s\(memory)")
        }
    }
}
