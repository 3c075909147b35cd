import Wire

/// What tells the series of one metric from each other: its labels as the exposition has them between the braces,
/// `method="GET",status="2xx"`.
///
/// They are in the order of their names, so it does not matter in which order they were given.
struct LabelSet: Hashable, Sendable {
    /// UTF-8; empty when there are no labels.
    let bytes: [UInt8]

    /// The labels of these dimensions.
    ///
    /// An empty value is the same as no label (Prometheus, "Data model"). Of two that have one name, the last counts:
    /// a series must not have both. `le` is what tells the buckets of a histogram, so there another label of this
    /// name is `exported_le`, as Prometheus calls what stands in its own way.
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
            bytes.append(labelValue: value)
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
    /// Appends the value of a label, escaped as text format 0.0.4 has it.
    fileprivate mutating func append(labelValue value: String) {
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\n"): append(literal: #"\n"#)
            case UInt8(ascii: "\""): append(literal: #"\""#)
            case UInt8(ascii: "\\"): append(literal: #"\\"#)
            default: append(byte)
            }
        }
    }
}
