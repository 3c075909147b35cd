public import CoreMetrics

/// The backend interface of swift-metrics. A metric that is refused becomes one that does nothing.
extension PrometheusRegistry: MetricsFactory {
    /// Returns the counter of this name and these dimensions.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        counter(label, dimensions) ?? NOOPMetricsHandler.instance
    }

    /// Returns the counter of this name and these dimensions. Whole amounts go to the same counter.
    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        counter(label, dimensions) ?? NOOPMetricsHandler.instance
    }

    /// Returns the gauge of this name and these dimensions.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(label, dimensions) ?? NOOPMetricsHandler.instance
    }

    /// Returns the histogram of this name and these dimensions, or a gauge if `aggregate` is false.
    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        guard aggregate else { return gauge(label, dimensions) ?? NOOPMetricsHandler.instance }
        return histogram(label, .sizes, dimensions) ?? NOOPMetricsHandler.instance
    }

    /// Returns the histogram of this name and these dimensions, in seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label, .durations, dimensions) ?? NOOPMetricsHandler.instance
    }

    /// Removes the counter from the exposition, for all who share it.
    public func destroyCounter(_ handler: any CounterHandler) { remove(handler) }

    /// Removes the counter from the exposition, for all who share it.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }

    /// Removes the gauge from the exposition, for all who share it.
    public func destroyMeter(_ handler: any MeterHandler) { remove(handler) }

    /// Removes the histogram or gauge from the exposition, for all who share it.
    public func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }

    /// Removes the histogram from the exposition, for all who share it.
    public func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

    private func counter(_ label: String, _ dimensions: [(String, String)]) -> PrometheusCounter? {
        guard case .counter(let counter) = instrument(label, .counter, dimensions, orNew: { .counter(.init()) })
        else { return nil }
        return counter
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> PrometheusGauge? {
        guard case .gauge(let gauge) = instrument(label, .gauge, dimensions, orNew: { .gauge(.init()) })
        else { return nil }
        return gauge
    }

    private func histogram(
        _ label: String, _ kind: MetricKind, _ dimensions: [(String, String)]
    ) -> PrometheusHistogram? {
        let buckets: HistogramBuckets = kind == .durations ? .durations : .sizes
        guard
            case .histogram(let histogram) = instrument(
                label, kind, dimensions, orNew: { .histogram(PrometheusHistogram(buckets)) })
        else { return nil }
        return histogram
    }
}
