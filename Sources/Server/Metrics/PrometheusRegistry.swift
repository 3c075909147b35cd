import Synchronization

/// All metrics of a process, for Prometheus to fetch.
///
/// It is a backend of swift-metrics: what is made with it as the factory is in the ``exposition()``.
///
/// - Asked twice for the same metric (name and dimensions, in any order), it gives the same one.
/// - Names become ones that Prometheus allows: `http.requests` is `http_requests`.
/// - Recorders that aggregate, and timers, are histograms with fixed buckets: timers in seconds with upper bounds of
///   1, 2.5 and 5 of each decade from 100 µs to 10 s, recorders with the powers of two from 1 to 32,768.
/// - A metric that would be one series too many, or whose name is that of another kind of metric, does nothing and is
///   counted in ``droppedSeriesName``.
///
/// Making a metric takes a lock; counting with it does not, and allocates nothing.
public final class PrometheusRegistry: Sendable {
    /// The media type of the ``exposition()``.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"
    /// Maximum number of series unless it is said otherwise.
    public static let defaultMaximumSeries = 1000
    /// The name of the counter of metrics that were asked for and could not be had.
    public static let droppedSeriesName = "backscroll_metrics_dropped_series_total"

    private let table: Mutex<SeriesTable>
    private let dropped = PrometheusCounter()

    /// A registry without metrics but for the one named ``droppedSeriesName``.
    ///
    /// - Parameters:
    ///   - help: Texts for the `# HELP` lines, by the names of the metrics; swift-metrics has no place for them.
    ///   - maximumSeries: How many more series there are at most. A metric has one for every combination of the values
    ///     of its dimensions that is in use; a histogram counts as one.
    public init(help: [String: String] = [:], maximumSeries: Int = PrometheusRegistry.defaultMaximumSeries) {
        var help = help
        help[Self.droppedSeriesName] = "Metrics that were refused: too many series, or a name that was taken."
        var table = SeriesTable(help: help, maximumSeries: maximumSeries + 1)
        let dropped = dropped
        _ = table.instrument(Self.droppedSeriesName, .counter, LabelSet([])) { .counter(dropped) }
        self.table = Mutex(table)
    }

    /// Adds a gauge whose value is worked out when Prometheus asks; once more, it is read from the new closure.
    ///
    /// - Parameters:
    ///   - name: The name of the metric.
    ///   - help: The text of its `# HELP` line.
    ///   - dimensions: The labels of this series of it.
    ///   - read: Gives the value, on the thread that asks for the ``exposition()``, or `nil` for none just now. It is
    ///     kept as long as the registry.
    public func observeGauge(
        _ name: String, help: String, dimensions: [(String, String)] = [], read: @escaping @Sendable () -> Double?
    ) {
        observe(name, .gaugeReading, help, dimensions, read)
    }

    /// Adds a counter that is kept elsewhere, as ``observeGauge(_:help:dimensions:read:)`` adds a gauge.
    public func observeCounter(
        _ name: String, help: String, dimensions: [(String, String)] = [], read: @escaping @Sendable () -> Double?
    ) {
        observe(name, .counterReading, help, dimensions, read)
    }

    private func observe(
        _ name: String, _ kind: MetricKind, _ help: String, _ dimensions: [(String, String)],
        _ read: @escaping @Sendable () -> Double?
    ) {
        let name = MetricName.metric(name)
        let labels = LabelSet(dimensions)
        let observed = table.withLock { $0.observe(name, kind, labels, help: help, .reading(read)) }
        if !observed { countDropped() }
    }

    /// The instrument of a series, or `nil` if there may not be one, which is counted.
    func instrument(
        _ label: String, _ kind: MetricKind, _ dimensions: [(String, String)], orNew new: () -> Instrument
    ) -> Instrument? {
        let name = MetricName.metric(label)
        let labels = LabelSet(dimensions, ofHistogram: kind.isHistogram)
        let instrument = table.withLock { $0.instrument(name, kind, labels, orNew: new) }
        if instrument == nil { countDropped() }
        return instrument
    }

    private func countDropped() {
        dropped.increment(by: Int64(1))
    }

    /// Forgets the series of a handler that this registry gave.
    func remove(_ handler: AnyObject) {
        table.withLock { $0.remove(handler) }
    }

    /// The values of all metrics in Prometheus's text format 0.0.4, in UTF-8, by name and then by labels.
    public func exposition() -> [UInt8] {
        // A closure that is read may take its time, or even ask for a metric, so the lock is not held meanwhile.
        let families = table.withLock { $0.sortedFamilies }
        var exposition = Exposition()
        for family in families { exposition.append(family) }
        return exposition.bytes
    }
}
