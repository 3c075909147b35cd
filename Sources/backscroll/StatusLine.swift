import Commands

/// Shows the progress of long work on standard error.
final class StatusLine {
    private let console = Console()
    private let start = ContinuousClock.now
    private var next = ContinuousClock.now + StatusLine.interval

    /// The delay before the first line, and the interval between lines.
    private static let interval = Duration.seconds(1)

    /// The time since the line was created, in seconds with two decimals.
    var seconds: String { NumberFormat.fixed((ContinuousClock.now - start) / .seconds(1), 2) }

    /// Shows the progress, at most once in the interval.
    func show(_ text: String) {
        guard next <= .now else { return }
        next = .now + Self.interval
        console.progress(text)
    }

    func clear() {
        console.clear()
    }
}
