import CoreMetrics

/// The backend interface of swift-metrics. A metric that is refused becomes one that does nothing.
extension PrometheusRegistry: MetricsFactory {
    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        counter(label, dimensions) ?? NOOPMetricsHandler.instance
    }

    /// Returns the same counter as for whole amounts.
    func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler {
        counter(label, dimensions) ?? NOOPMetricsHandler.instance
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(label, dimensions) ?? NOOPMetricsHandler.instance
    }

    /// Returns a histogram, or a gauge if `aggregate` is false.
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        guard aggregate else { return gauge(label, dimensions) ?? NOOPMetricsHandler.instance }
        return histogram(label, .sizes, dimensions) ?? NOOPMetricsHandler.instance
    }

    /// Returns a histogram in seconds.
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label, .durations, dimensions) ?? NOOPMetricsHandler.instance
    }

    // A destroyed metric leaves the exposition for all who share it.
    func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
    func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

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
