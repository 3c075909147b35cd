/// The names of the server's own metrics. What each one counts, and in what unit, is its ``help``.
public enum ServerMetricName: String, CaseIterable, Sendable {
    case httpRequests = "backscroll_http_requests_total"
    case messagesStored = "backscroll_messages_stored_total"
    case messagesDuplicate = "backscroll_messages_duplicate_total"
    case messagesExpired = "backscroll_messages_expired_total"
    case commits = "backscroll_commits_total"
    case commitSeconds = "backscroll_commit_seconds"
    case commitMessages = "backscroll_commit_messages"
    case deliveries = "backscroll_deliveries_total"
    case deliveredBytes = "backscroll_delivered_bytes_total"
    case subscribers = "backscroll_subscribers"
    case replays = "backscroll_replays_total"
    case connectionsRefused = "backscroll_connections_refused_total"
    case webSocketCloses = "backscroll_websocket_closes_total"
    case pageReads = "backscroll_page_reads_total"
    case readSeconds = "backscroll_read_seconds"
    // These are worked out when Prometheus asks: PrometheusRegistry.observe(_:dimensions:count:).
    case connections = "backscroll_connections"
    case feeds = "backscroll_feeds"
    case pendingBytes = "backscroll_pending_bytes"
    case unsentBytes = "backscroll_unsent_bytes"
    case queuedSends = "backscroll_queued_sends"
    case queuedReads = "backscroll_queued_reads"

    /// What is said of it to people who look at it, in its `# HELP` line.
    public var help: String {
        switch self {
        case .httpRequests: "Requests that were answered, by method and by the hundreds of the status."
        case .messagesStored: "Messages that were stored."
        case .messagesDuplicate: "Sends that were answered with the message that an earlier try had stored."
        case .messagesExpired: "Messages that have become tombstones because they were too old."
        case .commits: "Transactions that were committed."
        case .commitSeconds: "How long a commit took, from the first statement until it was durable, in seconds."
        case .commitMessages: "How many messages a commit stored."
        case .deliveries:
            "New and changed messages, each counted once for every subscriber that its room has then; replays are not counted."
        case .deliveredBytes: "Bytes that were written to subscribers, with their framing."
        case .subscribers: "Subscriptions of rooms that are open; one connection may have many."
        case .replays: "Times that a subscriber was brought up to date from the store."
        case .connectionsRefused: "Connections that were closed at once because there were too many."
        case .webSocketCloses: "WebSockets that ended, by close code; 1006 without a Close frame."
        case .pageReads: "Pages of messages that were read from the store."
        case .readSeconds: "How long a read of the store took, without waiting for a thread, in seconds."
        case .connections: "Connections that are open."
        case .feeds: "Feeds of rooms that are in memory, those of all loops together."
        case .pendingBytes: "Bytes of request bodies that are arriving or wait for a commit."
        case .unsentBytes: "Bytes kept for clients that are slow to take them, at most."
        case .queuedSends: "Sends that wait for a commit."
        case .queuedReads: "Reads that wait for a thread."
        }
    }

    /// The texts of all, by name, as a registry takes them.
    public static var help: [String: String] {
        Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0.help) })
    }
}

extension PrometheusRegistry {
    /// Adds one of the server's gauges that are worked out when Prometheus asks.
    ///
    /// - Parameters:
    ///   - name: Which one.
    ///   - dimensions: The labels of this series of it.
    ///   - count: Gives the value, on the thread that asks for the ``exposition()``; kept as long as the registry.
    public func observe(
        _ name: ServerMetricName, dimensions: [(String, String)] = [], count: @escaping @Sendable () -> Int
    ) {
        if name.rawValue.hasSuffix("_total") {
            observeCounter(name.rawValue, help: name.help, dimensions: dimensions) { Double(count()) }
        } else {
            observeGauge(name.rawValue, help: name.help, dimensions: dimensions) { Double(count()) }
        }
    }
}
