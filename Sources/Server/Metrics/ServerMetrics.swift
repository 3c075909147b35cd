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
