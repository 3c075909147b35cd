import Load

/// Shows how long work takes, on standard error: from the moment on that it takes long.
final class StatusLine {
    private let console = Console()
    private var next = ContinuousClock.now + StatusLine.interval

    /// What is quicker needs no line, and a log wants no more of them.
    private static let interval = Duration.seconds(1)

    /// Shows how the work stands, at most once in the interval.
    func show(_ text: String) {
        guard next <= .now else { return }
        next = .now + Self.interval
        console.progress(text)
    }

    /// Takes the line away.
    func clear() {
        console.clear()
    }
}
