/// All series of one metric.
struct MetricFamily: Sendable {
    let name: String
    let kind: MetricKind
    /// The text of its `# HELP` line.
    var help: String?
    var series: [LabelSet: Instrument] = [:]
}

/// Which series there are, and whether there may be one more.
struct SeriesTable: Sendable {
    /// The most series there are; a histogram is one of them.
    let maximumSeries: Int
    private(set) var families: [String: MetricFamily] = [:]
    private(set) var seriesCount = 0
    /// What is to be said of a metric, by its name, whether it exists yet or not.
    private let help: [String: String]
    /// The names that samples have, so that no histogram `x` makes an `x_count` that is already something else.
    private var sampleNames: Set<String> = []

    init(help: [String: String] = [:], maximumSeries: Int) {
        self.help = help
        self.maximumSeries = maximumSeries
    }

    /// The families in the order of the exposition.
    var sortedFamilies: [MetricFamily] {
        families.values.sorted { $0.name < $1.name }
    }

    /// The instrument of a series: the one it has, or else a new one.
    ///
    /// `nil` if there may not be one: the name is that of another kind of metric, or there are too many series.
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

    /// Has a series read from this instead of whatever it was read from before; tells whether that may be.
    mutating func observe(
        _ name: String, _ kind: MetricKind, _ labels: LabelSet, help: String, _ reading: Instrument
    ) -> Bool {
        guard instrument(name, kind, labels, orNew: { reading }) != nil else { return false }
        families[name]?.series[labels] = reading
        families[name]?.help = help
        return true
    }

    /// Takes the names that a new metric's samples have; tells whether they were free.
    private mutating func claim(_ name: String, _ kind: MetricKind) -> Bool {
        guard families[name] == nil else { return true }
        let names = kind.sampleNames(name)
        guard sampleNames.isDisjoint(with: names) else { return false }
        sampleNames.formUnion(names)
        return true
    }

    /// Forgets the series of this handler. All who share it have agreed, for it was one for all of them.
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
