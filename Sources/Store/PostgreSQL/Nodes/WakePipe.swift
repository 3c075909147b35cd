import Glibc
import Synchronization

/// A pipe with which any thread wakes a thread that polls.
final class WakePipe: Sendable {
    /// The descriptor to poll for reading.
    let descriptor: Int32
    private let writing: Int32
    private let isAwake = Atomic(false)

    /// Creates a pipe.
    ///
    /// - Throws: ``StoreError`` if the process has no descriptors left.
    init() throws(StoreError) {
        var ends: (Int32, Int32) = (-1, -1)
        // The two descriptors are next to each other in the tuple, as `pipe` writes them.
        let failed = withUnsafeMutablePointer(to: &ends) {
            $0.withMemoryRebound(to: Int32.self, capacity: 2) { pipe($0) }
        }
        guard failed == 0 else { throw .postgres("no file descriptor is left for a pipe") }
        (descriptor, writing) = ends
        for end in [descriptor, writing] {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        Glibc.close(descriptor)
        Glibc.close(writing)
    }

    /// Makes the descriptor readable until ``drain()``. Does not block.
    func wake() {
        guard !isAwake.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var byte: UInt8 = 0
        _ = Glibc.write(writing, &byte, 1)
    }

    /// Makes the descriptor unreadable.
    func drain() {
        var bytes: (UInt64, UInt64) = (0, 0)
        // Read before the flag is cleared. A wake-up in between writes no byte, but the caller looks for work after
        // this call.
        while Glibc.read(descriptor, &bytes, 16) > 0 {}
        isAwake.store(false, ordering: .releasing)
    }

    /// Waits until the descriptor is readable, and drains it.
    func wait(until end: ContinuousClock.Instant) {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let rest = ContinuousClock.now.duration(to: end) / .milliseconds(1)
        _ = poll(&polled, 1, Int32(max(0, rest)) + 1)
        drain()
    }
}
