import Commands

/// The progress of a run in one line.
struct ProgressLine {
    let text: String

    /// Creates the line from the difference of two snapshots.
    init(plan: Plan, from last: RunCounters, to now: RunCounters) {
        let seconds = max(Double(now.time - last.time) / 1e9, 1e-3)
        let recent = now.tally - last.tally
        func rate(_ count: Int, _ noun: String) -> String { "\(NumberFormat.whole(Double(count) / seconds)) \(noun)/s" }
        var parts: [String] = []
        if let publishing = plan.publishing {
            parts.append(rate(recent.acknowledged, publishing.sendsMessages ? "sends" : "pages"))
        }
        if let count = plan.publishing?.count {
            parts.append("\(NumberFormat.whole(now.tally.acknowledged)) of \(NumberFormat.whole(count))")
        }
        if plan.subscribers > 0 {
            parts.append(rate(recent.deliveries, "deliveries"))
            let p99 = now.delivery.summary.p99
            if p99 > 0 { parts.append("delivered p99 \(NumberFormat.milliseconds(p99)) ms") }
        } else {
            let p99 = now.answer.summary.p99
            if p99 > 0 { parts.append("answered p99 \(NumberFormat.milliseconds(p99)) ms") }
        }
        if now.backlog > 0 { parts.append("\(NumberFormat.whole(now.backlog)) overdue") }
        let failed = now.tally.refused + now.tally.cut
        if failed > 0 { parts.append("\(NumberFormat.whole(failed)) failed") }
        if now.tally.retried > 0 { parts.append("\(NumberFormat.whole(now.tally.retried)) retries") }
        let absent = plan.subscribers - now.subscribers
        if absent > 0 { parts.append("\(NumberFormat.whole(absent)) not connected") }
        text = "\(NumberFormat.fixed(Double(now.time) / 1e9, 0)) s  " + parts.joined(separator: "  ")
    }
}
