/// The number of frames that a client may send in a second: a window that begins with the first read after the one
/// before is over.
///
/// A plain value, of the number of frames that have been read of a connection in all.
struct FrameRate {
    /// Maximum number of frames in a window.
    let limit: Int
    private var start: Duration
    /// The frames before the window.
    private var before = 0

    private static let window = Duration.seconds(1)

    /// - Parameter start: the time of the connection's beginning, by the clock that is used later on.
    init(limit: Int, start: Duration) {
        self.limit = limit
        self.start = start
    }

    /// More is about to be read. Before it is, or else what a client sends at once after a rest would be before the window.
    ///
    /// - Parameter frames: those that have been read.
    mutating func beginWindowIfDue(after frames: Int, at time: Duration) {
        guard time - start >= Self.window else { return }
        start = time
        before = frames
    }

    /// Returns whether so many frames are too many.
    func isExceeded(by frames: Int) -> Bool {
        frames - before > limit
    }
}
