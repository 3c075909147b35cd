/// A short text for a list of numbers: `4-9, 12, 15-18, …`.
struct NumberList: CustomStringConvertible {
    /// Maximum number of ranges in the text.
    static let shownRuns = 8

    private let runs: [ClosedRange<Int>]

    /// Creates a list of numbers in any order.
    init(_ numbers: [Int]) {
        var runs: [ClosedRange<Int>] = []
        for number in numbers.sorted() {
            if let last = runs.last, number <= last.upperBound + 1 {
                runs[runs.count - 1] = last.lowerBound...max(number, last.upperBound)
            } else if runs.count <= Self.shownRuns {
                runs.append(number...number)
            } else {
                break
            }
        }
        self.runs = runs
    }

    var description: String {
        let shown = runs.prefix(Self.shownRuns).map { run in
            run.count == 1 ? "\(run.lowerBound)" : "\(run.lowerBound)-\(run.upperBound)"
        }
        return shown.joined(separator: ", ") + (runs.count > Self.shownRuns ? ", …" : "")
    }
}
