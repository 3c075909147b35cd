/// The limit on a client's frames in a second. A window begins with the first read after the previous window is over.
///
/// A plain value: callers pass the connection's total number of frames.
struct FrameRate {
    /// Maximum number of frames in a window.
    let limit: Int
    private var start: Duration
    /// The number of frames before the window.
    private var before = 0

    private static let window = Duration.seconds(1)

    /// Creates a limit for a connection that began at `start`, on the clock used by later calls.
    init(limit: Int, start: Duration) {
        self.limit = limit
        self.start = start
    }

    /// Begins a new window if the current one is over. Call it before each read; otherwise a burst after a pause would
    /// count in the old window.
    ///
    /// - Parameter frames: The number of frames read so far.
    mutating func beginWindowIfDue(after frames: Int, at time: Duration) {
        guard time - start >= Self.window else { return }
        start = time
        before = frames
    }

    /// Returns true if this total exceeds the limit.
    func isExceeded(by frames: Int) -> Bool {
        frames - before > limit
    }
}
