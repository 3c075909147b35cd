import Chat
import Glibc
import Wire

/// A ``ReadQueue`` between the loops, which never wait, and the readers, which do.
// Sendable because `queue`, `isClosed` and `waiting` are touched only with the mutex held.
final class QueryQueue: @unchecked Sendable {
    private var queue: ReadQueue
    private var isClosed = false
    private var waiting = 0
    // POSIX wants these at a fixed address: allocated once, destroyed in `deinit` when no thread can be in them.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    /// An empty queue.
    init(_ limits: ReadQueue.Limits) {
        queue = ReadQueue(limits)
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// The number of queries that wait.
    var count: Int { locked { queue.count } }

    /// Adds queries.
    ///
    /// - Returns: those for which there is no place, and why.
    func append(_ queries: [Query]) -> (queries: [Query], problem: Problem) {
        let (refusal, wakes) = locked {
            if isClosed { return ((queries, Self.closing), false) }
            let refused = queries.filter { !queue.append($0) }
            return ((refused, Problem.overloaded), wakesReader)
        }
        if wakes { pthread_cond_signal(condition) }
        return refusal
    }

    /// Removes queries that nobody waits for any more.
    func cancel(_ replies: [any PendingReply]) {
        locked { for reply in replies { queue.cancel(reply) } }
    }

    /// Waits for what a reader is to serve next.
    ///
    /// - Parameters:
    ///   - most: the most quick queries.
    ///   - done: the turn that the reader has served, if any.
    /// - Returns: `nil` when the queue is closed.
    func next(_ most: Int, done: ReadQueue.Turn?) -> ReadQueue.Turn? {
        let (turn, wakes): (ReadQueue.Turn?, Bool) = locked {
            if let done { queue.done(done) }
            while !isClosed {
                if let turn = queue.next(most) { return (turn, wakesReader) }
                waiting += 1
                pthread_cond_wait(condition, mutex)
                waiting -= 1
            }
            return (nil, false)
        }
        if wakes { pthread_cond_signal(condition) }
        return turn
    }

    /// Takes nothing more, and sends the readers home.
    ///
    /// - Returns: what has waited, and why it is not served.
    func close() -> (queries: [Query], problem: Problem) {
        locked {
            isClosed = true
            pthread_cond_broadcast(condition)
            return (queue.removeAll(), Self.closing)
        }
    }

    private static var closing: Problem { .unavailable("The server is shutting down.") }

    /// True if a reader should be woken; it wakes the next one. The caller signals after it has released the mutex, because
    /// a reader that wakes earlier must wait for the mutex (`scripts/compare --scenarios F`).
    private var wakesReader: Bool { waiting > 0 && queue.hasTurn }

    private func locked<R>(_ body: () -> R) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
