import Synchronization
import Wire

/// A clock that a test sets.
final class TestClock: Sendable {
    private let milliseconds: Mutex<Int64>

    init(_ milliseconds: Int64 = 1_700_000_000_000) {
        self.milliseconds = Mutex(milliseconds)
    }

    var now: Timestamp { Timestamp(milliseconds: milliseconds.withLock { $0 }) }

    /// Moves the clock forwards or backwards.
    func step(_ milliseconds: Int64) {
        self.milliseconds.withLock { $0 += milliseconds }
    }
}
