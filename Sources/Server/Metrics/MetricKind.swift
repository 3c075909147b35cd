/// The kind of a metric. All series of one name have the same kind.
enum MetricKind: Sendable {
    case counter
    case gauge
    /// A histogram of seconds.
    case durations
    /// A histogram of values in a recorder's own unit.
    case sizes
    /// A counter that is kept elsewhere and read on each exposition.
    case counterReading
    /// A gauge that is computed on each exposition.
    case gaugeReading

    /// The kind's name in a `# TYPE` line.
    var typeName: StaticString {
        switch self {
        case .counter, .counterReading: "counter"
        case .gauge, .gaugeReading: "gauge"
        case .durations, .sizes: "histogram"
        }
    }

    var isHistogram: Bool { self == .durations || self == .sizes }

    /// Returns the names of the samples of a metric of this kind.
    func sampleNames(_ name: String) -> [String] {
        switch self {
        case .counter, .counterReading, .gauge, .gaugeReading: [name]
        case .durations, .sizes: [name, name + "_bucket", name + "_sum", name + "_count"]
        }
    }
}

/// The holder of one series' value.
enum Instrument: Sendable {
    case counter(PrometheusCounter)
    case gauge(PrometheusGauge)
    case histogram(PrometheusHistogram)
    /// Returns `nil` when there is no value at the moment.
    case reading(@Sendable () -> Double?)

    /// The handler that swift-metrics holds; `nil` for a reading.
    var handler: AnyObject? {
        switch self {
        case .counter(let counter): counter
        case .gauge(let gauge): gauge
        case .histogram(let histogram): histogram
        case .reading: nil
        }
    }
}

/// Names in the form that Prometheus allows ("Data model: Metric names and labels").
enum MetricName {
    /// Returns the name of a metric, `[a-zA-Z_:][a-zA-Z0-9_:]*`. Other characters of `label` become underscores.
    ///
    /// So `http.requests` and `http_requests` are one metric.
    static func metric(_ label: String) -> String {
        sanitized(label, colon: true)
    }

    /// Returns the name of a label, `[a-zA-Z_][a-zA-Z0-9_]*`, in the same way. Names with two leading underscores are
    /// reserved for Prometheus (`__name__`, for example), so only one is kept.
    static func label(_ name: String) -> String {
        let sanitized = sanitized(name, colon: false)
        return sanitized.hasPrefix("__") ? "_" + sanitized.drop { $0 == "_" } : sanitized
    }

    private static func sanitized(_ text: String, colon: Bool) -> String {
        var name = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "_": name.unicodeScalars.append(scalar)
            case ":" where colon: name.unicodeScalars.append(scalar)
            case "0"..."9":
                if name.isEmpty { name = "_" }
                name.unicodeScalars.append(scalar)
            default: name.append("_")
            }
        }
        return name.isEmpty ? "_" : name
    }
}
