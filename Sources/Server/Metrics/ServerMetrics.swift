import CoreMetrics
import Store
import Wire

/// The server's own metrics, created once so that counting needs no lookup.
///
/// ``ServerMetricName`` describes each of them.
struct ServerMetrics: Sendable {
    let httpRequests: RequestCounters
    let refusals: RefusalCounters
    let messagesStored: Counter
    let messagesDuplicate: Counter
    let messagesExpired: Counter
    let commits: Counter
    let commitSeconds: Timer
    let commitMessages: Recorder
    let deliveries: Counter
    let deliveredBytes: Counter
    let subscribers: Meter
    let replays: Counter
    let webSocketCloses: CloseCounters
    let stalledClients: Counter
    let unsentClients: Counter
    let pageReads: Counter
    let readSeconds: Timer
    private let factory: any MetricsFactory

    /// Creates all of them with `factory`, for example a ``PrometheusRegistry`` with the texts of
    /// ``ServerMetricName/help``.
    init(factory: any MetricsFactory) {
        func counter(_ name: ServerMetricName) -> Counter { Counter(label: name.rawValue, factory: factory) }
        func timer(_ name: ServerMetricName) -> Timer { Timer(label: name.rawValue, factory: factory) }

        httpRequests = RequestCounters(factory: factory)
        refusals = RefusalCounters(factory: factory)
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
        func slowClients(_ cause: String) -> Counter {
            Counter(label: ServerMetricName.slowClients.rawValue, dimensions: [("cause", cause)], factory: factory)
        }
        stalledClients = slowClients("stalled")
        unsentClients = slowClients("unsent")
        pageReads = counter(.pageReads)
        readSeconds = timer(.readSeconds)
        self.factory = factory
    }

    /// Returns a loop's table of ``ServerMetricName/requestSeconds``.
    func requestTimers() -> RequestTimers { RequestTimers(factory: factory) }
}

/// ``ServerMetricName/httpRequests``: a counter for each method and class of status. All are created in advance, so a
/// request needs no lookup by name and clients cannot add series.
struct RequestCounters: Sendable {
    /// The methods that are counted separately.
    enum Method: Int, CaseIterable, Sendable {
        case get, head, post, put, patch, delete, options, other

        /// Returns the method of this name (RFC 9110, section 9.1: case matters), or `other`.
        init(_ name: String) {
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
    static let statusClasses = 5

    init(factory: any MetricsFactory) {
        counters = Method.allCases.flatMap { method in
            (1...Self.statusClasses).map { statusClass in
                Counter(
                    label: ServerMetricName.httpRequests.rawValue,
                    dimensions: [("method", method.label), ("status", "\(statusClass)xx")], factory: factory)
            }
        }
    }

    /// Returns the first digit of a status, 1 to 5; values beyond count as the nearest class.
    static func statusClass(_ status: Int) -> Int { min(max(status / 100, 1), statusClasses) }

    /// Counts a request answered with `status`.
    func count(_ method: Method, status: Int) {
        counters[method.rawValue * Self.statusClasses + Self.statusClass(status) - 1].increment()
    }
}

/// ``ServerMetricName/refusals``: one counter for each code of a problem.
struct RefusalCounters: Sendable {
    private let counters: [Problem.Code: Counter]

    init(factory: any MetricsFactory) {
        counters = Dictionary(
            uniqueKeysWithValues: Problem.Code.allCases.map { code in
                let labels = [("code", code.string)]
                return (code, Counter(label: ServerMetricName.refusals.rawValue, dimensions: labels, factory: factory))
            })
    }

    /// Counts a request that was refused with this code.
    func count(_ code: Problem.Code) { counters[code]?.increment() }
}

/// ``ServerMetricName/webSocketCloses``: one counter for each close code that the server sends or expects, and one for
/// all others, since clients can send thousands of codes (RFC 6455, section 7.4.2).
struct CloseCounters: Sendable {
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
    func count(_ code: UInt16) {
        if let index = Self.codes.firstIndex(of: code) {
            counters[index].increment()
        } else {
            other.increment()
        }
    }
}

/// The metrics of a node on PostgreSQL. A server on SQLite has none of them.
struct NodeMetrics: Sendable {
    let lookupDelay: Timer
    let writerWait: Timer

    /// Creates those that are counted here. ``observe(_:in:)`` adds the others.
    init(factory: any MetricsFactory) {
        lookupDelay = Timer(label: ServerMetricName.lookupDelay.rawValue, factory: factory)
        writerWait = Timer(label: ServerMetricName.writerWait.rawValue, factory: factory)
    }

    /// Adds the metrics that the log counts.
    ///
    /// - Parameter counts: Returns what the log has counted; `nil` once it is gone. Kept as long as the registry.
    func observe(_ counts: @escaping @Sendable () -> NodeCounts?, in registry: PrometheusRegistry) {
        func observe(
            _ name: ServerMetricName, dimensions: [(String, String)] = [],
            _ value: @escaping @Sendable (NodeCounts) -> Double
        ) {
            registry.observe(name, dimensions: dimensions, value: { counts().map(value) })
        }
        observe(.lookups) { Double($0.lookups) }
        observe(.lookupRooms) { Double($0.lookupRooms) }
        observe(.sweptRooms) { Double($0.sweptRooms) }
        observe(.hintsSent) { Double($0.hintsSent) }
        observe(.hintsReceived) { Double($0.hintsReceived) }
        observe(.listenerConnected) { $0.isListening ? 1 : 0 }
        observe(.caretaker) { $0.isCaretaker ? 1 : 0 }
        observe(.commitConflicts) { Double($0.conflicts) }
        for purpose in NodeCounts.Purpose.allCases {
            let labels = [("purpose", purpose.rawValue)]
            observe(.databaseConnections, dimensions: labels) { Double($0.connections[purpose]?.open ?? 0) }
            observe(.databaseConnects, dimensions: labels) { Double($0.connections[purpose]?.made ?? 0) }
            observe(.databaseWaits, dimensions: labels) {
                ($0.connections[purpose]?.waited ?? .zero) / .seconds(1)
            }
        }
    }
}

/// The names of the server's own metrics. ``help`` says what each one counts, and in which unit.
enum ServerMetricName: String, CaseIterable, Sendable {
    case httpRequests = "backscroll_http_requests_total"
    case requestSeconds = "backscroll_http_request_seconds"
    case refusals = "backscroll_refusals_total"
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
    case slowClients = "backscroll_slow_clients_total"
    case pageReads = "backscroll_page_reads_total"
    case readSeconds = "backscroll_read_seconds"
    // These are read on each exposition: PrometheusRegistry.observe(_:count:).
    case buildInfo = "backscroll_build_info"
    case ready = "backscroll_ready"
    case databaseBytes = "backscroll_database_bytes"
    case logBytes = "backscroll_wal_bytes"
    case freeBytes = "backscroll_disk_free_bytes"
    case lastBackup = "backscroll_last_backup_timestamp_seconds"
    case connections = "backscroll_connections"
    case feeds = "backscroll_feeds"
    case pendingBytes = "backscroll_pending_bytes"
    case unsentBytes = "backscroll_unsent_bytes"
    case queuedSends = "backscroll_queued_sends"
    case queuedReads = "backscroll_queued_reads"
    case roomsQuarantined = "backscroll_rooms_set_aside"
    case roomNumbers = "backscroll_room_numbers"
    case roomsRefused = "backscroll_rooms_refused_total"
    // These exist for each webhook: WebhookMetrics.
    case webhookAttempts = "backscroll_webhook_attempts_total"
    case pushRecipients = "backscroll_push_recipients_total"
    case webhookRoomsBehind = "backscroll_webhook_rooms_behind"
    case webhookRoomsStopped = "backscroll_webhook_rooms_stopped"
    case webhookDelay = "backscroll_webhook_delay_seconds"
    case webhookPaused = "backscroll_webhook_paused"
    // These exist with --before-send only: BeforeSendMetrics.
    case beforeSend = "backscroll_before_send_total"
    case beforeSendSeconds = "backscroll_before_send_seconds"
    // These exist with PostgreSQL only: NodeMetrics.
    case lookupDelay = "backscroll_lookup_delay_seconds"
    case writerWait = "backscroll_writer_wait_seconds"
    case lookups = "backscroll_lookups_total"
    case lookupRooms = "backscroll_lookup_rooms_total"
    case sweptRooms = "backscroll_swept_rooms_total"
    case hintsSent = "backscroll_hints_sent_total"
    case hintsReceived = "backscroll_hints_received_total"
    case listenerConnected = "backscroll_listener_connected"
    case caretaker = "backscroll_caretaker"
    case commitConflicts = "backscroll_commit_conflicts_total"
    case databaseConnections = "backscroll_database_connections"
    case databaseConnects = "backscroll_database_connects_total"
    case databaseWaits = "backscroll_database_wait_seconds_total"

    /// The text of its `# HELP` line.
    var help: String {
        switch self {
        case .httpRequests: "Answered requests, by method and class of status."
        case .requestSeconds:
            "Time from a request's last byte to its answer, by route, method and class of status, in seconds; of a socket or an event stream, to its opening."
        case .refusals: "Refused requests, by the code of the problem."
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
        case .slowClients:
            "WebSockets and event streams ended because their clients did not read: each for too long (stalled), or all of them too much (unsent)."
        case .pageReads: "Pages of messages read from the store."
        case .readSeconds: "Duration of a read of the store, without waiting for a thread, in seconds."
        case .buildInfo: "1, with the version of the program and the kind of its store."
        case .ready: "1 while /readyz answers 200, else 0."
        case .databaseBytes:
            "Size of the database in bytes, without the write-ahead log; with PostgreSQL on the node that does the background work, as of the last minute."
        case .logBytes: "Size of the write-ahead log in bytes, with the space that is reserved for it."
        case .freeBytes: "Bytes that the server may still use on the disk of its database."
        case .lastBackup:
            "Time when the last backup of the database was completed, in seconds since 1970; absent if there is none."
        case .connections: "Open connections."
        case .feeds: "Feeds of rooms in memory, summed over all loops."
        case .pendingBytes: "Bytes of request bodies that are arriving or waiting for a commit."
        case .unsentBytes: "Upper bound of the bytes kept for slow clients."
        case .queuedSends: "Sends waiting for a commit."
        case .queuedReads: "Reads waiting for a thread."
        case .roomsQuarantined: "Quarantined rooms, which are read-only because the database is damaged there."
        case .lookupDelay:
            "Age of a room's oldest new message when this node reads what other nodes have stored there, by PostgreSQL's clock, in seconds."
        case .writerWait:
            "Round trip of a writer to PostgreSQL, with the wait for the locks of rooms, in seconds."
        case .lookups: "Statements that read what other nodes have stored."
        case .lookupRooms: "Rooms that these statements have found changed."
        case .sweptRooms: "Rooms found changed without a hint of the node that changed them."
        case .hintsSent: "Notifications about changed rooms sent to other nodes."
        case .hintsReceived: "Notifications about changed rooms received from other nodes."
        case .roomNumbers: "The highest number that a room has; rooms can be created up to 134217727."
        case .roomsRefused: "Rooms that could not be created, because no number is left."
        case .webhookAttempts:
            "Attempts to deliver to a webhook, by its id and by the class of the answer (ok, 3xx, 4xx, 5xx, none)."
        case .pushRecipients:
            "Users in push events that a webhook's receiver has, by its id and the type (push, push.clear)."
        case .webhookRoomsBehind: "Rooms of which a webhook's receiver lacks changes; on the node that delivers."
        case .webhookRoomsStopped:
            "Rooms of which a webhook's receiver refuses a delivery for ever, until an admin skips it; on the node that delivers."
        case .webhookDelay:
            "Age of the oldest change that a webhook's receiver lacks, in seconds; on the node that delivers."
        case .webhookPaused: "1 while a webhook is turned off or has paused itself, else 0; on the node that delivers."
        case .beforeSend:
            "Messages that the app was asked about, by its answer (allowed, changed, denied, failed), or not asked because too many questions were under way (overloaded)."
        case .beforeSendSeconds: "Time until the app had answered a question about a message, in seconds."
        case .caretaker: "1 while this node does the background work of all nodes, else 0."
        case .listenerConnected: "1 while this node hears the notifications of other nodes, else 0."
        case .commitConflicts: "Commits tried again because of another node's transaction, such as a deadlock."
        case .databaseConnections: "Open connections to PostgreSQL, by purpose."
        case .databaseConnects: "Connections made to PostgreSQL, by purpose, including those that replaced lost ones."
        case .databaseWaits: "Time spent waiting for PostgreSQL's answers, by purpose, in seconds."
        }
    }

    /// The help texts of all metrics by name, as a registry takes them.
    static var help: [String: String] {
        Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0.help) })
    }
}

extension PrometheusRegistry {
    /// Adds one of the server's metrics that are read on each exposition.
    ///
    /// - Parameter count: Returns the value, on the thread that asks for the ``exposition()``; kept as long as the
    ///   registry.
    func observe(_ name: ServerMetricName, count: @escaping @Sendable () -> Int) {
        observe(name, value: { Double(count()) })
    }

    /// Adds one of the server's metrics that are read on each exposition, and may be left out there (`nil`).
    func observe(
        _ name: ServerMetricName, dimensions: [(String, String)] = [], value: @escaping @Sendable () -> Double?
    ) {
        if name.rawValue.hasSuffix("_total") {
            observeCounter(name.rawValue, help: name.help, dimensions: dimensions, read: value)
        } else {
            observeGauge(name.rawValue, help: name.help, dimensions: dimensions, read: value)
        }
    }
}
