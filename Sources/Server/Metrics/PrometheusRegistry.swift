import Synchronization

/// All metrics of a process, for Prometheus to fetch.
///
/// A backend of swift-metrics: the ``exposition()`` contains every metric made with this registry as the factory.
///
/// - Requests for the same metric (name and dimensions, in any order) get the same instance.
/// - Names are changed to ones that Prometheus allows: `http.requests` becomes `http_requests`.
/// - Aggregating recorders and timers are histograms with fixed buckets: timers in seconds with upper bounds of 1, 2.5
///   and 5 of each decade from 100 µs to 10 s, recorders with the powers of two from 1 to 32,768.
/// - A metric that exceeds the number of series, or whose name belongs to another kind of metric, does nothing and is
///   counted in ``droppedSeriesName``.
///
/// Creating a metric takes a lock. Counting takes none and allocates nothing.
final class PrometheusRegistry: Sendable {
    /// Default of the maximum number of series.
    static let defaultMaximumSeries = 1000
    /// The name of the counter of refused metrics.
    static let droppedSeriesName = "backscroll_metrics_dropped_series_total"

    private let table: Mutex<SeriesTable>
    private let dropped = PrometheusCounter()

    /// Creates a registry whose only metric is ``droppedSeriesName``.
    ///
    /// - Parameters:
    ///   - help: Texts for the `# HELP` lines, by metric name; swift-metrics has no place for them.
    ///   - maximumSeries: Maximum number of further series. A metric has one for every combination of its dimensions'
    ///     values in use; a histogram counts as one.
    init(help: [String: String] = [:], maximumSeries: Int = PrometheusRegistry.defaultMaximumSeries) {
        var help = help
        help[Self.droppedSeriesName] = "Metrics that were refused: too many series, or a name that was taken."
        var table = SeriesTable(help: help, maximumSeries: maximumSeries + 1)
        let dropped = dropped
        _ = table.instrument(Self.droppedSeriesName, .counter, LabelSet([])) { .counter(dropped) }
        self.table = Mutex(table)
    }

    /// Adds a gauge that is computed on each exposition. Adding it again replaces its closure.
    ///
    /// - Parameters:
    ///   - name: The name of the metric.
    ///   - help: The text of its `# HELP` line.
    ///   - dimensions: The labels of this series.
    ///   - read: Returns the value, or `nil` for none at the moment. Called on the thread that asks for the
    ///     ``exposition()``; kept as long as the registry.
    func observeGauge(
        _ name: String, help: String, dimensions: [(String, String)] = [], read: @escaping @Sendable () -> Double?
    ) {
        observe(name, .gaugeReading, help, dimensions, read)
    }

    /// Adds a counter that is kept elsewhere, in the same way as ``observeGauge(_:help:dimensions:read:)``.
    func observeCounter(
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
        if !observed { dropped.increment(by: Int64(1)) }
    }

    /// Returns the instrument of a series; `nil` if it is refused, which is counted.
    func instrument(
        _ label: String, _ kind: MetricKind, _ dimensions: [(String, String)], orNew new: () -> Instrument
    ) -> Instrument? {
        let name = MetricName.metric(label)
        let labels = LabelSet(dimensions, ofHistogram: kind.isHistogram)
        let instrument = table.withLock { $0.instrument(name, kind, labels, orNew: new) }
        if instrument == nil { dropped.increment(by: Int64(1)) }
        return instrument
    }

    /// Removes the series of a handler of this registry.
    func remove(_ handler: AnyObject) {
        table.withLock { $0.remove(handler) }
    }

    /// Returns all metrics in Prometheus's text format 0.0.4, in UTF-8, sorted by name and then by labels.
    func exposition() -> [UInt8] {
        // The lock is not held while closures run, since they may take time or even ask for a metric.
        let families = table.withLock { $0.sortedFamilies }
        var exposition = Exposition()
        for family in families { exposition.append(family) }
        return exposition.bytes
    }
}
