public import CoreMetrics

/// The server's own metrics, created once so that counting needs no lookup.
///
/// ``ServerMetricName`` describes each of them.
public struct ServerMetrics: Sendable {
    /// ``ServerMetricName/httpRequests``.
    public let httpRequests: RequestCounters
    /// ``ServerMetricName/messagesStored``.
    public let messagesStored: Counter
    /// ``ServerMetricName/messagesDuplicate``.
    public let messagesDuplicate: Counter
    /// ``ServerMetricName/messagesExpired``.
    public let messagesExpired: Counter
    /// ``ServerMetricName/commits``.
    public let commits: Counter
    /// ``ServerMetricName/commitSeconds``.
    public let commitSeconds: Timer
    /// ``ServerMetricName/commitMessages``.
    public let commitMessages: Recorder
    /// ``ServerMetricName/deliveries``.
    public let deliveries: Counter
    /// ``ServerMetricName/deliveredBytes``.
    public let deliveredBytes: Counter
    /// ``ServerMetricName/subscribers``.
    public let subscribers: Meter
    /// ``ServerMetricName/replays``.
    public let replays: Counter
    /// ``ServerMetricName/webSocketCloses``.
    public let webSocketCloses: CloseCounters
    /// ``ServerMetricName/pageReads``.
    public let pageReads: Counter
    /// ``ServerMetricName/readSeconds``.
    public let readSeconds: Timer

    /// Creates all of them with `factory`, for example a ``PrometheusRegistry`` with the texts of
    /// ``ServerMetricName/help``.
    public init(factory: any MetricsFactory) {
        func counter(_ name: ServerMetricName) -> Counter { Counter(label: name.rawValue, factory: factory) }
        func timer(_ name: ServerMetricName) -> Timer { Timer(label: name.rawValue, factory: factory) }

        httpRequests = RequestCounters(factory: factory)
        messagesStored = counter(.messagesStored)
        messagesDuplicate = counter(.messagesDuplicate)
        messagesExpired = counter(.messagesExpired)
        commits = counter(.commits)
        commitSeconds = timer(.commitSeconds)
        commitMessages = Recorder(label: ServerMetricName.commitMessages.rawValue, factory: factory)
        deliveries = counter(.deliveries)
        deliveredBytes = counter(.deliveredBytes)
        subscribers = Meter(label: ServerMetricName.subscribers.rawValue, factory: factory)
        replays = counter(.replays)
        webSocketCloses = CloseCounters(factory: factory)
        pageReads = counter(.pageReads)
        readSeconds = timer(.readSeconds)
    }
}

/// ``ServerMetricName/httpRequests``: a counter for each method and class of status. All are created in advance, so a
/// request needs no lookup by name and clients cannot add series.
public struct RequestCounters: Sendable {
    /// The methods that are counted separately.
    public enum Method: Int, CaseIterable, Sendable {
        case get, head, post, put, patch, delete, options, other

        /// Returns the method of this name (RFC 9110, section 9.1: case matters), or `other`.
        public init(_ name: String) {
            self =
                switch name {
                case "GET": .get
                case "HEAD": .head
                case "POST": .post
                case "PUT": .put
                case "PATCH": .patch
                case "DELETE": .delete
                case "OPTIONS": .options
                default: .other
                }
        }

        /// The value of the label `method`.
        var label: String {
            switch self {
            case .get: "GET"
            case .head: "HEAD"
            case .post: "POST"
            case .put: "PUT"
            case .patch: "PATCH"
            case .delete: "DELETE"
            case .options: "OPTIONS"
            case .other: "other"
            }
        }
    }

    /// The counters by method and then by class of status (RFC 9110, section 15), 1xx to 5xx.
    private let counters: [Counter]
    private static let statusClasses = 5

    init(factory: any MetricsFactory) {
        counters = Method.allCases.flatMap { method in
            (1...Self.statusClasses).map { statusClass in
                Counter(
                    label: ServerMetricName.httpRequests.rawValue,
                    dimensions: [("method", method.label), ("status", "\(statusClass)xx")], factory: factory)
            }
        }
    }

    /// Counts a request answered with `status`, 100 to 599; values beyond count as the nearest class.
    public func count(_ method: Method, status: Int) {
        let statusClass = min(max(status / 100, 1), Self.statusClasses)
        counters[method.rawValue * Self.statusClasses + statusClass - 1].increment()
    }
}

/// ``ServerMetricName/webSocketCloses``: one counter for each close code that the server sends or expects, and one for
/// all others, since clients can send thousands of codes (RFC 6455, section 7.4.2).
public struct CloseCounters: Sendable {
    /// The codes with a counter of their own.
    static let codes: [UInt16] = [
        1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1011, 4400, 4401, 4403, 4404, 4408, 4410, 4429, 4503,
    ]

    /// The counters, in the order of ``codes``.
    private let counters: [Counter]
    private let other: Counter

    init(factory: any MetricsFactory) {
        func counter(_ code: String) -> Counter {
            Counter(label: ServerMetricName.webSocketCloses.rawValue, dimensions: [("code", code)], factory: factory)
        }
        counters = Self.codes.map { counter(String($0)) }
        other = counter("other")
    }

    /// Counts a WebSocket that ended with this code, or with 1006 if it ended without one.
    public func count(_ code: UInt16) {
        if let index = Self.codes.firstIndex(of: code) {
            counters[index].increment()
        } else {
            other.increment()
        }
    }
}

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
