import Commands

/// The report for people: lines with a label and its figures.
struct ReportText {
    private static let indent = 12
    private(set) var lines: [String] = []

    init(_ report: Report) {
        add("run", Self.setup(report))
        if let early = report.endedEarly { add("", "ended early: \(early)") }
        if report.plan.subscribers > 0 { add("connected", Self.connections(report)) }
        addRates(report)
        addLatency("ack", report.ack)
        addLatency("delivery", report.delivery)
        if let disturbance = report.disturbance {
            let line = disturbance.line(hasServer: !report.plan.processes.isEmpty)
            add(line.label, line.text)
            addLatency("ack then", disturbance.ack)
            addLatency("meanwhile", disturbance.delivery)
        }
        addUsage(report)
        for (index, line) in report.failures.lines.enumerated() { add(index == 0 ? "failures" : "", line) }
        addVerdict(report)
    }

    var text: String { lines.joined(separator: "\n") }

    private mutating func add(_ label: String, _ text: String) {
        lines.append(label + String(repeating: " ", count: Self.indent - label.count) + text)
    }

    private static func setup(_ report: Report) -> String {
        let plan = report.plan
        var parts = ["\(plan.server), run \(plan.run)"]
        if plan.subscribers > 0 {
            parts.append(
                "\(NumberFormat.count(plan.subscribers, "subscriber")) in \(NumberFormat.count(plan.rooms, "room"))")
        }
        if let publishing = plan.publishing {
            switch publishing.pacing {
            case .closed(let awaitsDeliveries):
                let until = awaitsDeliveries && plan.subscribers > 0 ? " until delivered" : ""
                parts.append("\(NumberFormat.whole(publishing.inFlight)) in flight\(until)")
            case .open(let rate):
                parts.append(
                    "\(NumberFormat.fixed(rate, rate < 1 ? 3 : rate < 10 ? 1 : 0))/s over \(publishing.inFlight) connections"
                )
            }
            if publishing.sendsMessages { parts.append("\(NumberFormat.whole(plan.size)) bytes") }
        }
        parts.append("\(NumberFormat.fixed(report.seconds, 1)) s")
        return parts.joined(separator: ", ")
    }

    private static func connections(_ report: Report) -> String {
        var text = "\(NumberFormat.whole(report.connected)) in \(NumberFormat.fixed(report.connectSeconds, 2)) s"
        guard !report.plan.processes.isEmpty else { return text }
        let usage = report.usage
        text += ", \(NumberFormat.fixed(usage.connectSeconds, 2)) s of server CPU"
        text += ", \(NumberFormat.bytes(usage.memory(per: report.connected))) of server memory each"
        text += " (\(NumberFormat.bytes(usage.base.memory)) before, \(NumberFormat.bytes(usage.settled.memory)) now)"
        return text
    }

    private mutating func addRates(_ report: Report) {
        let measured = report.measured
        switch report.kind {
        case .messages:
            add("sends/s", Self.rate(report, measured.acknowledged, "acknowledged") + Self.remarks(report))
        case .pages:
            let size = measured.acknowledged > 0 ? Double(measured.contentBytes) / Double(measured.acknowledged) : 0
            let each = " of \(NumberFormat.bytes(size)) each"
            add("pages/s", Self.rate(report, measured.acknowledged, "answered") + each + Self.remarks(report))
        case .connections: break
        }
        guard report.kind == .messages, report.plan.subscribers > 0 else { return }
        add("deliver/s", Self.rate(report, measured.deliveries, "delivered"))
    }

    private static func rate(_ report: Report, _ count: Int, _ what: String) -> String {
        "\(NumberFormat.whole(report.perSecond(count))) (\(NumberFormat.whole(count)) \(what) in \(NumberFormat.fixed(report.seconds, 2)) s)"
    }

    /// Returns remarks on the conditions of the measured rate.
    private static func remarks(_ report: Report) -> String {
        var remarks: [String] = []
        if report.measured.late > 0 { remarks.append("\(NumberFormat.whole(report.measured.late)) began late") }
        if report.backlog > 0 { remarks.append("\(NumberFormat.whole(report.backlog)) still due at the end") }
        if report.total.retried > 0 { remarks.append(NumberFormat.count(report.total.retried, "retry", "retries")) }
        if report.total.confirmed > 0 {
            remarks.append("\(NumberFormat.whole(report.total.confirmed)) were found stored already")
        }
        if report.total.resumed > 0 {
            remarks.append(NumberFormat.count(report.total.resumed, "subscription") + " resumed")
        }
        if report.total.overdue > 0 {
            remarks.append("\(NumberFormat.whole(report.total.overdue)) waited for deliveries in vain")
        }
        return remarks.isEmpty ? "" : "; " + remarks.joined(separator: ", ")
    }

    private mutating func addLatency(_ label: String, _ latency: LatencySummary) {
        guard latency.count > 0 else { return }
        let figures = [
            ("p50", latency.p50), ("p90", latency.p90), ("p99", latency.p99), ("p99.9", latency.p999),
            ("max", latency.max),
        ]
        add(label, figures.map { "\($0) \(NumberFormat.milliseconds($1))" }.joined(separator: "  ") + " ms")
    }

    private mutating func addUsage(_ report: Report) {
        func share(_ seconds: Double) -> String {
            "\(NumberFormat.fixed(100 * seconds / max(report.seconds, 1e-9), 0)) % of a core"
        }
        let usage = report.usage
        if !report.plan.processes.isEmpty {
            var parts: [String] = []
            if report.measured.deliveries > 0 {
                parts.append("\(NumberFormat.whole(usage.perServerSecond(report.measured.deliveries))) deliveries")
            }
            if report.measured.acknowledged > 0 {
                let noun = report.kind == .pages ? "pages" : "sends"
                parts.append("\(NumberFormat.whole(usage.perServerSecond(report.measured.acknowledged))) \(noun)")
            }
            let each = parts.isEmpty ? "" : ": " + parts.joined(separator: ", ") + " per CPU second"
            add("server", share(usage.serverSeconds) + each + "; \(NumberFormat.bytes(usage.memoryAtEnd)) at the end")
        }
        add("tool", share(usage.ownSeconds))
    }

    private mutating func addVerdict(_ report: Report) {
        guard let verdict = report.verdict else {
            let lines = report.isGood ? ["OK"] : Self.failures(of: report).map { "FAILED: " + $0 }
            return addVerdict(lines)
        }
        guard let asked = report.unmetRequests else { return addVerdict(verdict.lines) }
        // A good verdict on the few messages that were sent does not mean that the server sustains the rate.
        addVerdict([Self.unmet(asked, report)] + verdict.lines.filter { !$0.hasPrefix("OK") })
    }

    private mutating func addVerdict(_ lines: [String]) {
        for (index, line) in lines.enumerated() { add(index == 0 ? "verdict" : "", line) }
    }

    private static func unmet(_ asked: Int, _ report: Report) -> String {
        "FAILED: only \(NumberFormat.whole(report.measured.finished)) of the \(NumberFormat.whole(asked)) requests that --rate asks for "
            + "were answered in time"
    }

    /// Returns the failures of a run that sent no messages.
    private static func failures(of report: Report) -> [String] {
        func requests(_ count: Int) -> String { NumberFormat.count(count, "request") + (count == 1 ? " was" : " were") }
        guard report.kind != .connections else {
            let all = NumberFormat.count(report.plan.subscribers, "subscriber")
            return ["\(NumberFormat.whole(report.lost)) of \(all) had no connection at the end"]
        }
        let total = report.total
        var lines = report.unmetRequests.map { [unmet($0, report)] } ?? []
        if total.refused > 0 { lines.append("\(requests(total.refused)) refused") }
        if total.unanswered > 0 { lines.append("\(requests(total.unanswered)) never answered") }
        if total.acknowledged == 0 { lines.append("nothing was answered") }
        return lines
    }
}

extension Verdict {
    /// The verdict in sentences, the judgment first.
    var lines: [String] {
        guard !isGood else {
            guard subscribers > 0 else {
                return ["OK: each of \(NumberFormat.count(acknowledged, "send")) was acknowledged"]
            }
            let order =
                disordered == 0
                ? "all in the same order" : "\(NumberFormat.whole(disordered)) deliveries in another order than others"
            return [
                "OK: each of \(NumberFormat.count(subscribers, "subscriber")) got every message of its room exactly once, \(order)",
                "\(NumberFormat.count(acknowledged, "message")), \(NumberFormat.whole(expected)) deliveries",
            ]
        }
        var lines: [String] = []
        func add(_ count: Int, _ text: (String) -> String) {
            if count > 0 { lines.append("FAILED: " + text(NumberFormat.whole(count))) }
        }
        add(missing) { "\($0) of \(NumberFormat.whole(expected)) deliveries are missing" }
        add(duplicates) { "\($0) deliveries came more than once" }
        add(allowsAnyOrder ? 0 : disordered) { "\($0) deliveries came in another order than to other subscribers" }
        add(foreign) { "\($0) deliveries should not have come at all" }
        add(lost) { "\($0) of \(NumberFormat.whole(lost + subscribers)) subscribers lost their connection" }
        add(refused) { "\($0) sends were refused" }
        add(unanswered) { "\($0) sends were never answered" }
        if acknowledged == 0 { lines.append("FAILED: nothing was acknowledged") }
        lines += faults.map { "- " + $0 }
        if unlisted > 0 { lines.append("- and \(NumberFormat.whole(unlisted)) more") }
        return lines
    }
}
