/// Numbers formatted for people.
package enum NumberFormat {
    /// Returns a whole number with separators: `1,234,567`.
    package static func whole(_ value: Int) -> String {
        let digits = String(value.magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return value < 0 ? "-" + text : text
    }

    /// Returns a number rounded to a whole one, with separators.
    package static func whole(_ value: Double) -> String {
        value.isFinite && abs(value) < 1e15 ? whole(Int(value.rounded())) : "-"
    }

    /// Returns a number with `decimals` decimals: `0.250`.
    package static func fixed(_ value: Double, _ decimals: Int) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "-" }
        var scale = 1
        for _ in 0..<decimals { scale *= 10 }
        let scaled = Int((abs(value) * Double(scale)).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard decimals > 0 else { return sign + String(scaled) }
        let fraction = String(scaled % scale)
        return sign + "\(scaled / scale)." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }

    /// Returns milliseconds with three significant digits, at most down to microseconds: `0.123`, `12.3`, `1234`.
    package static func milliseconds(_ value: Double) -> String {
        fixed(value, value < 10 ? 3 : value < 100 ? 2 : value < 1000 ? 1 : 0)
    }

    /// Returns bytes in the unit that gives a short number: `10.5 kB`, `1.2 MB`.
    package static func bytes(_ value: Double) -> String {
        switch abs(value) {
        case ..<1000: fixed(value, 0) + " B"
        case ..<1e6: fixed(value / 1e3, 1) + " kB"
        case ..<1e9: fixed(value / 1e6, 1) + " MB"
        default: fixed(value / 1e9, 2) + " GB"
        }
    }

    /// Returns a count with its noun: `1 room`, `2 rooms`.
    package static func count(_ value: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(whole(value)) \(value == 1 ? noun : plural ?? noun + "s")"
    }
}
