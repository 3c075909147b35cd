import Wire

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
    /// Appends a label's value, escaped as in text format 0.0.4.
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
