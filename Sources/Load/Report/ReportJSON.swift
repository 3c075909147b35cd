import Commands
import Wire

extension Report {
    /// The report as one line of JSON, for programs. Rates are per second, durations in the unit at the end of their
    /// name, memory in bytes.
    var json: String {
        var out: [UInt8] = []
        out.append(literal: #"{"ok":"#)
        out.append(boolean: isGood)
        out.append(member: "server", plan.server)
        out.append(member: "run", plan.run)
        if let endedEarly { out.append(member: "ended_early", endedEarly) }
        out.append(member: "subscribers", Int64(connected))
        out.append(member: "rooms", Int64(plan.rooms))
        out.append(member: "connect_seconds", connectSeconds)
        out.append(member: "seconds", seconds)
        out.append(member: "acknowledged", Int64(measured.acknowledged))
        out.append(member: "acknowledged_per_second", perSecond(measured.acknowledged))
        out.append(member: "deliveries", Int64(measured.deliveries))
        out.append(member: "deliveries_per_second", perSecond(measured.deliveries))
        out.append(member: "late", Int64(measured.late))
        out.append(member: "backlog", Int64(backlog))
        out.append(member: "retried", Int64(total.retried))
        out.append(member: "resumed", Int64(total.resumed))
        out.append(member: "content_bytes", Int64(measured.contentBytes))
        out.append(member: "ack_ms", ack)
        out.append(member: "delivery_ms", delivery)
        out.append(member: "tool_cpu_seconds", usage.ownSeconds)
        if let disturbance { disturbance.encode(into: &out) }
        if !plan.processes.isEmpty { encodeServer(into: &out) }
        if let verdict { verdict.encode(into: &out) }
        switch kind {
        case .messages: break
        case .pages:
            out.append(member: "refused", Int64(total.refused))
            out.append(member: "unanswered", Int64(total.unanswered))
        case .connections: out.append(member: "lost_subscribers", Int64(lost))
        }
        out.append(strings: "failures", failures.lines)
        out.append(literal: "}")
        return String(decoding: out, as: UTF8.self)
    }

    private func encodeServer(into out: inout [UInt8]) {
        out.append(member: "server_cpu_seconds", usage.serverSeconds)
        out.append(member: "server_connect_cpu_seconds", usage.connectSeconds)
        out.append(member: "deliveries_per_server_cpu_second", usage.perServerSecond(measured.deliveries))
        out.append(member: "acknowledged_per_server_cpu_second", usage.perServerSecond(measured.acknowledged))
        out.append(member: "server_memory_before", Int64(usage.base.memory))
        out.append(member: "server_memory_connected", Int64(usage.settled.memory))
        out.append(member: "server_memory_at_end", Int64(usage.memoryAtEnd))
        out.append(member: "server_memory_per_connection", usage.memory(per: connected))
    }
}

extension DisturbanceReport {
    fileprivate func encode(into out: inout [UInt8]) {
        out.append(member: "disturbing_clients", Int64(clients))
        out.append(member: "disturbance_seconds", seconds)
        out.append(member: "disturbance_server_cpu_seconds", serverSeconds)
        out.append(member: "disturbance_memory_per_client", memoryEach)
        out.append(member: "disturbed_ack_ms", ack)
        out.append(member: "disturbed_delivery_ms", delivery)
        out.append(member: "catch_up_ms", catchUp)
    }
}

extension Verdict {
    fileprivate func encode(into out: inout [UInt8]) {
        out.append(member: "messages", Int64(acknowledged))
        out.append(member: "expected", Int64(expected))
        out.append(member: "missing", Int64(missing))
        out.append(member: "duplicates", Int64(duplicates))
        out.append(member: "disordered", Int64(disordered))
        out.append(member: "foreign", Int64(foreign))
        out.append(member: "lost_subscribers", Int64(lost))
        out.append(member: "refused", Int64(refused))
        out.append(member: "unanswered", Int64(unanswered))
        out.append(strings: "faults", faults)
    }
}

extension [UInt8] {
    /// Appends `,"name":` and a number with three decimals.
    fileprivate mutating func append(member name: StaticString, _ number: Double) {
        append(memberName: name)
        let text = NumberFormat.fixed(number, 3)
        append(utf8: text == "-" ? "null" : text)
    }

    /// Appends `,"name":` and an object with the percentiles.
    fileprivate mutating func append(member name: StaticString, _ latency: LatencySummary) {
        append(memberName: name)
        append(literal: #"{"count":"#)
        append(decimal: Int64(latency.count))
        append(member: "p50", latency.p50)
        append(member: "p90", latency.p90)
        append(member: "p95", latency.p95)
        append(member: "p99", latency.p99)
        append(member: "p99.9", latency.p999)
        append(member: "max", latency.max)
        append(literal: "}")
    }

    /// Appends `,"name":` and an array of strings.
    fileprivate mutating func append(strings name: StaticString, _ strings: [String]) {
        append(memberName: name)
        append(array: strings) { $1.append(quoted: $0) }
    }
}
