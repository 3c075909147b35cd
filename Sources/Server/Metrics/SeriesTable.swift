/// All series of one metric.
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
