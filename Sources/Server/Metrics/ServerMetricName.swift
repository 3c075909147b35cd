/// The names of the server's own metrics. ``help`` says what each one counts, and in which unit.
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
    // These are read on each exposition: PrometheusRegistry.observe(_:dimensions:count:).
    case connections = "backscroll_connections"
    case feeds = "backscroll_feeds"
    case pendingBytes = "backscroll_pending_bytes"
    case unsentBytes = "backscroll_unsent_bytes"
    case queuedSends = "backscroll_queued_sends"
    case queuedReads = "backscroll_queued_reads"
    case roomsSetAside = "backscroll_rooms_set_aside"

    /// The text of its `# HELP` line.
    public var help: String {
        switch self {
        case .httpRequests: "Answered requests, by method and class of status."
        case .messagesStored: "Stored messages."
        case .messagesDuplicate: "Repeated sends, answered with the message that an earlier one had stored."
        case .messagesExpired: "Messages that became tombstones because of their age."
        case .commits: "Committed transactions."
        case .commitSeconds: "Duration of a commit, from the first statement until it was durable, in seconds."
        case .commitMessages: "Number of messages that a commit stored."
        case .deliveries:
            "New and changed messages, each counted once for every subscriber of its room at that time; replays are not counted."
        case .deliveredBytes: "Bytes written to subscribers, with their framing."
        case .subscribers: "Open subscriptions to rooms; one connection may have many."
        case .replays: "Number of times that a subscriber caught up from the store."
        case .connectionsRefused: "Connections closed at once because there were too many."
        case .webSocketCloses: "WebSockets that ended, by close code; 1006 without a Close frame."
        case .pageReads: "Pages of messages read from the store."
        case .readSeconds: "Duration of a read of the store, without waiting for a thread, in seconds."
        case .connections: "Open connections."
        case .feeds: "Feeds of rooms in memory, summed over all loops."
        case .pendingBytes: "Bytes of request bodies that are arriving or waiting for a commit."
        case .unsentBytes: "Upper bound of the bytes kept for slow clients."
        case .queuedSends: "Sends waiting for a commit."
        case .queuedReads: "Reads waiting for a thread."
        case .roomsSetAside: "Rooms that take no changes because the database is damaged there."
        }
    }

    /// The help texts of all metrics by name, as a registry takes them.
    public static var help: [String: String] {
        Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0.help) })
    }
}

extension PrometheusRegistry {
    /// Adds one of the server's metrics that are read on each exposition.
    ///
    /// - Parameters:
    ///   - name: The metric.
    ///   - dimensions: The labels of this series.
    ///   - count: Returns the value, on the thread that asks for the ``exposition()``; kept as long as the registry.
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
