import Glibc
import Synchronization

/// What threads change with a lock or, if the program has an argument, without one, which ThreadSanitizer must report.
private final class Counter: Sendable {
    let guarded = Mutex(0)
    /// An array of which threads read copies without a lock. They share its buffer, which is changed in place once it has no
    /// other owner.
    let copied = Mutex([0])
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
            // Long enough for the threads to wait for each other. A report takes its time, so there are few to make.
            for _ in 0..<(hasRace ? 1_000 : 300_000) {
                if hasRace {
                    counter.unguarded += 1
                } else {
                    counter.guarded.withLock { $0 += 1 }
                    let copy = counter.copied.withLock { $0 }
                    precondition(copy[0] >= 0)
                    counter.copied.withLock { $0[0] += 1 }
                }
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
        if !hasRace {
            precondition(counter.guarded.withLock { $0 } == 900_000)
            precondition(counter.copied.withLock { $0 } == [900_000])
        }
    }
}
