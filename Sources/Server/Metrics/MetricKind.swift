/// What a metric is. Only one is possible for all series of a name.
enum MetricKind: Sendable {
    case counter
    case gauge
    /// A histogram of seconds.
    case durations
    /// A histogram of whatever is recorded.
    case sizes
    /// A counter that is kept elsewhere and read when it is asked for.
    case counterReading
    /// A gauge that is worked out when it is asked for.
    case gaugeReading

    /// The word for it in a `# TYPE` line.
    var typeName: StaticString {
        switch self {
        case .counter, .counterReading: "counter"
        case .gauge, .gaugeReading: "gauge"
        case .durations, .sizes: "histogram"
        }
    }

    var isHistogram: Bool { self == .durations || self == .sizes }

    /// The names that samples of a metric of this kind have.
    func sampleNames(_ name: String) -> [String] {
        switch self {
        case .counter, .counterReading, .gauge, .gaugeReading: [name]
        case .durations, .sizes: [name, name + "_bucket", name + "_sum", name + "_count"]
        }
    }
}

/// What holds the value of one series.
enum Instrument: Sendable {
    case counter(PrometheusCounter)
    case gauge(PrometheusGauge)
    case histogram(PrometheusHistogram)
    /// `nil` when there is nothing to tell just now.
    case reading(@Sendable () -> Double?)

    /// The object that swift-metrics was given.
    var handler: AnyObject? {
        switch self {
        case .counter(let counter): counter
        case .gauge(let gauge): gauge
        case .histogram(let histogram): histogram
        case .reading: nil
        }
    }
}
