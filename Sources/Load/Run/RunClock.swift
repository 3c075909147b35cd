import Glibc

/// A monotonic clock that counts nanoseconds since the start of the run. It is the same on every thread.
struct RunClock: Sendable {
    /// The time when this clock was created.
    private let origin = RunClock.monotonic()

    var now: Int64 { Self.monotonic() - origin }

    /// Sleeps until the clock shows `time`.
    func sleep(until time: Int64) {
        let absolute = origin + time
        var when = timespec(tv_sec: Int(absolute / 1_000_000_000), tv_nsec: Int(absolute % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nil) == EINTR {}
    }

    private static func monotonic() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

extension Duration {
    /// The duration in seconds.
    var seconds: Double { self / .seconds(1) }
}
