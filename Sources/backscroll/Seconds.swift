import ArgumentParser

/// A duration on the command line: seconds, optionally with a fraction, 0.1 to a day.
struct Seconds: ExpressibleByArgument, CustomStringConvertible {
    let duration: Duration

    init(_ duration: Duration) {
        self.duration = duration
    }

    init?(argument: String) {
        guard let seconds = Double(argument), (0.1...86_400).contains(seconds) else { return nil }
        duration = .milliseconds(Int64((seconds * 1000).rounded()))
    }

    var description: String {
        let (seconds, attoseconds) = duration.components
        return attoseconds == 0 ? "\(seconds)" : "\(Double(seconds) + Double(attoseconds) / 1e18)"
    }
}
