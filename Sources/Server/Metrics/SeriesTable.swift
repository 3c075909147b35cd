import Wire

struct MetricFamily: Sendable {
    let name: String
    let kind: MetricKind
    /// The text of its `# HELP` line.
    var help: String?
    var series: [LabelSet: Instrument] = [:]
}

/// The table of all series, which enforces their maximum number.
struct SeriesTable: Sendable {
    /// Maximum number of series; a histogram counts as one.
    let maximumSeries: Int
    private(set) var families: [String: MetricFamily] = [:]
    private(set) var seriesCount = 0
    /// The `# HELP` texts by metric name, including metrics that do not exist yet.
    private let help: [String: String]
    /// The names of all samples, so that a histogram `x` cannot produce an `x_count` that already belongs to another
    /// metric.
    private var sampleNames: Set<String> = []

    init(help: [String: String] = [:], maximumSeries: Int) {
        self.help = help
        self.maximumSeries = maximumSeries
    }

    /// The families in the order of the exposition.
    var sortedFamilies: [MetricFamily] {
        families.values.sorted { $0.name < $1.name }
    }

    /// Returns the instrument of a series, creating it if needed.
    ///
    /// Returns `nil` if it is refused: the name belongs to another kind of metric, or there are too many series.
    mutating func instrument(
        _ name: String, _ kind: MetricKind, _ labels: LabelSet, orNew new: () -> Instrument
    ) -> Instrument? {
        if let family = families[name] {
            guard family.kind == kind else { return nil }
            if let existing = family.series[labels] { return existing }
        }
        guard seriesCount < maximumSeries, claim(name, kind) else { return nil }
        let instrument = new()
        families[name, default: MetricFamily(name: name, kind: kind, help: help[name])].series[labels] = instrument
        seriesCount += 1
        return instrument
    }

    /// Sets the closure of a series, replacing an earlier one. Returns false if the series is refused.
    mutating func observe(
        _ name: String, _ kind: MetricKind, _ labels: LabelSet, help: String, _ reading: Instrument
    ) -> Bool {
        guard instrument(name, kind, labels, orNew: { reading }) != nil else { return false }
        families[name]?.series[labels] = reading
        families[name]?.help = help
        return true
    }

    /// Claims the sample names of a new metric. Returns false if one is taken.
    private mutating func claim(_ name: String, _ kind: MetricKind) -> Bool {
        guard families[name] == nil else { return true }
        let names = kind.sampleNames(name)
        guard sampleNames.isDisjoint(with: names) else { return false }
        sampleNames.formUnion(names)
        return true
    }

    /// Removes the series of this handler, for all who share it.
    mutating func remove(_ handler: AnyObject) {
        for (name, family) in families {
            guard let found = family.series.first(where: { $0.value.handler === handler }) else { continue }
            families[name]?.series[found.key] = nil
            seriesCount -= 1
            if family.series.count == 1 {
                families[name] = nil
                sampleNames.subtract(family.kind.sampleNames(name))
            }
            return
        }
    }
}

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
        isHistogram ? [name, name + "_bucket", name + "_sum", name + "_count"] : [name]
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

/// The labels that distinguish one series of a metric from the others, as text between the braces of the exposition:
/// `method="GET",status="2xx"`.
///
/// They are sorted by name, so the order in which they were given does not matter.
struct LabelSet: Hashable, Sendable {
    /// The text in UTF-8; empty without labels.
    let bytes: [UInt8]

    /// Creates the labels of these dimensions.
    ///
    /// An empty value is the same as no label (Prometheus, "Data model"). If a name occurs twice, the last value
    /// counts, since a series has each label once. A histogram's own label `le` distinguishes its buckets, so another
    /// label of that name becomes `exported_le`, as in Prometheus.
    init(_ dimensions: [(String, String)], ofHistogram: Bool = false) {
        var values: [String: String] = [:]
        for (dimension, value) in dimensions {
            let name = MetricName.label(dimension)
            values[ofHistogram && name == "le" ? "exported_le" : name] = value.isEmpty ? nil : value
        }
        var bytes: [UInt8] = []
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
            bytes.append(utf8: name)
            bytes.append(literal: "=\"")
            bytes.append(escaping: value, quotes: true)
            bytes.append(UInt8(ascii: "\""))
        }
        self.bytes = bytes
    }
}

extension LabelSet: Comparable {
    /// The order of the series in the exposition.
    static func < (a: LabelSet, b: LabelSet) -> Bool {
        a.bytes.lexicographicallyPrecedes(b.bytes)
    }
}

extension [UInt8] {
    /// Appends text, escaped as in text format 0.0.4. Quotes are escaped in the values of labels only.
    mutating func append(escaping text: String, quotes: Bool = false) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\n"): append(literal: #"\n"#)
            case UInt8(ascii: "\"") where quotes: append(literal: #"\""#)
            case UInt8(ascii: "\\"): append(literal: #"\\"#)
            default: append(byte)
            }
        }
    }
}
