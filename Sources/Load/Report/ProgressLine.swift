import Commands

/// The progress of a run in one line.
struct ProgressLine {
    let text: String

    /// Creates the line from the difference of two snapshots.
    init(plan: Plan, from last: RunCounters, to now: RunCounters) {
        let seconds = max(Double(now.time - last.time) / 1e9, 1e-3)
        let recent = now.tally - last.tally
        func rate(_ count: Int, _ noun: String) -> String { "\(Figure.whole(Double(count) / seconds)) \(noun)/s" }
        var parts: [String] = []
        if let publishing = plan.publishing {
            parts.append(rate(recent.acknowledged, publishing.sendsMessages ? "sends" : "pages"))
        }
        if let count = plan.publishing?.count {
            parts.append("\(Figure.whole(now.tally.acknowledged)) of \(Figure.whole(count))")
        }
        if plan.subscribers > 0 {
            parts.append(rate(recent.deliveries, "deliveries"))
            let p99 = now.delivery.summary.p99
            if p99 > 0 { parts.append("delivered p99 \(Figure.milliseconds(p99)) ms") }
        } else {
            let p99 = now.answer.summary.p99
            if p99 > 0 { parts.append("answered p99 \(Figure.milliseconds(p99)) ms") }
        }
        if now.backlog > 0 { parts.append("\(Figure.whole(now.backlog)) overdue") }
        let failed = now.tally.refused + now.tally.cut
        if failed > 0 { parts.append("\(Figure.whole(failed)) failed") }
        if now.tally.retried > 0 { parts.append("\(Figure.whole(now.tally.retried)) retries") }
        let absent = plan.subscribers - now.subscribers
        if absent > 0 { parts.append("\(Figure.whole(absent)) not connected") }
        text = "\(Figure.fixed(Double(now.time) / 1e9, 0)) s  " + parts.joined(separator: "  ")
    }
}
