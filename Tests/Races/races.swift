import Glibc
import Synchronization

/// A number that threads change with a lock or, if the program has an argument, without one, which ThreadSanitizer must report.
private final class Counter: Sendable {
    let guarded = Mutex(0)
    // A race on purpose.
    nonisolated(unsafe) var unguarded = 0
}

private let counter = Counter()
private let hasRace = CommandLine.arguments.count > 1

private func startThread() -> pthread_t {
    var thread = pthread_t()
    let status = pthread_create(
        &thread, nil,
        { _ in
            // Long enough for the threads to wait for each other.
            for _ in 0..<300_000 {
                if hasRace { counter.unguarded += 1 } else { counter.guarded.withLock { $0 += 1 } }
            }
            return nil
        }, nil)
    precondition(status == 0)
    return thread
}

@main
private struct Program {
    static func main() {
        for thread in [startThread(), startThread(), startThread()] { pthread_join(thread, nil) }
        precondition(hasRace || counter.guarded.withLock { $0 } == 900_000)
    }
}
