import Wire

/// Builds Prometheus' text format, version 0.0.4 ("Exposition formats: Text-based format").
struct Exposition {
    private(set) var bytes: [UInt8] = []

    /// Appends all series of a metric. A metric without series, or whose readings all return `nil`, is left out.
    mutating func append(_ family: MetricFamily) {
        let start = bytes.count
        if let help = family.help {
            append(comment: "# HELP ", family.name)
            bytes.append(escaping: help)
            bytes.append(UInt8(ascii: "\n"))
        }
        append(comment: "# TYPE ", family.name)
        bytes.append(literal: family.kind.typeName)
        bytes.append(UInt8(ascii: "\n"))
        let empty = bytes.count
        for (labels, instrument) in family.series.sorted(by: { $0.key < $1.key }) {
            append(instrument, family.name, labels)
        }
        if bytes.count == empty { bytes.removeSubrange(start...) }
    }

    private mutating func append(comment keyword: StaticString, _ name: String) {
        bytes.append(literal: keyword)
        bytes.append(utf8: name)
        bytes.append(UInt8(ascii: " "))
    }

    private mutating func append(_ instrument: Instrument, _ name: String, _ labels: LabelSet) {
        switch instrument {
        case .counter(let counter):
            append(sample: name, "", labels)
            switch counter.value {
            case .whole(let value): append(value: value)
            case .real(let value): append(value: value)
            }
        case .gauge(let gauge):
            append(sample: name, "", labels)
            append(value: gauge.value)
        case .histogram(let histogram):
            append(histogram, name, labels)
        case .reading(let read):
            guard let value = read() else { return }
            append(sample: name, "", labels)
            append(value: value)
        }
    }

    private mutating func append(_ histogram: PrometheusHistogram, _ name: String, _ labels: LabelSet) {
        let (cumulative, sum) = histogram.snapshot()
        let bounds = histogram.buckets.upperBounds + [.infinity]
        for (bound, count) in zip(bounds, cumulative) {
            append(sample: name, "_bucket", labels, upperBound: bound)
            append(value: count)
        }
        append(sample: name, "_sum", labels)
        append(value: sum)
        append(sample: name, "_count", labels)
        append(value: cumulative.last ?? 0)
    }

    /// Appends a sample without its value: `name_bucket{method="GET",le="0.5"} `.
    private mutating func append(
        sample name: String, _ suffix: StaticString, _ labels: LabelSet, upperBound: Double? = nil
    ) {
        bytes.append(utf8: name)
        bytes.append(literal: suffix)
        if !labels.bytes.isEmpty || upperBound != nil {
            bytes.append(UInt8(ascii: "{"))
            bytes.append(contentsOf: labels.bytes)
            if let upperBound {
                if !labels.bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
                bytes.append(literal: "le=\"")
                append(number: upperBound)
                bytes.append(UInt8(ascii: "\""))
            }
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: " "))
    }

    private mutating func append(value: UInt64) {
        bytes.append(utf8: String(value))
        bytes.append(UInt8(ascii: "\n"))
    }

    private mutating func append(value: Double) {
        append(number: value)
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Appends a number in the form that Go's `ParseFloat` reads; whole numbers without a point.
    private mutating func append(number: Double) {
        if number.isNaN {
            bytes.append(literal: "NaN")
        } else if number.isInfinite {
            if number < 0 { bytes.append(literal: "-Inf") } else { bytes.append(literal: "+Inf") }
        } else if let whole = Int64(exactly: number), whole.magnitude < 1 << 53 {
            bytes.append(decimal: whole)
        } else {
            bytes.append(utf8: number.description)
        }
    }
}
