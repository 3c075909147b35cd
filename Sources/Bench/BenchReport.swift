/// Measurements formatted for people.
enum BenchReport {
    private static let nameWidth = 38
    private static let numberWidth = 10

    /// Returns one line: `http parse a send   1,234 ns/request   810,372 requests/s   ± 3 %`.
    static func line(_ measurement: Measurement) -> String {
        let name = measurement.name.padded(to: nameWidth)
        let time = grouped(Int(measurement.median.rounded())).leftPadded(to: numberWidth)
        let rate = grouped(Int(measurement.perSecond.rounded())).leftPadded(to: numberWidth)
        let spread = Int((measurement.spread * 100).rounded())
        return "\(name) \(time) ns/\(measurement.unit.padded(to: 9)) \(rate)/s   rounds within \(spread) %"
    }

    /// Returns one line with the memory after each number of messages.
    static func line(_ name: String, _ sizes: some Sequence<(Int64, Int)>) -> String {
        let parts = sizes.map { count, size in "\(grouped(size / 1024)) KiB after \(grouped(Int(count))) messages" }
        return "\(name.padded(to: nameWidth))  \(parts.joined(separator: ", "))"
    }

    /// Returns a number with thousands separators.
    static func grouped(_ number: Int) -> String {
        var digits = Array(String(number.magnitude))
        var index = digits.count - 3
        while index > 0 {
            digits.insert(",", at: index)
            index -= 3
        }
        return (number < 0 ? "-" : "") + String(digits)
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }

    fileprivate func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
