import Glibc
import Wire

/// A mutex with a condition variable.
// Sendable because POSIX lets all threads use them at once. They need fixed addresses: they are allocated once, and
// destroyed in `deinit`, when no thread can be in them.
struct Monitor: ~Copyable, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    init() {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // Setting the wall clock does not change how long a thread waits.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` with the mutex held.
    func locked<R>(_ body: () throws -> R) rethrows -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Releases the mutex, which must be held, until the thread is woken. The thread may also wake without cause.
    ///
    /// - Returns: false once `deadline` has passed.
    func wait(until deadline: timespec? = nil) -> Bool {
        guard var deadline else {
            pthread_cond_wait(condition, mutex)
            return true
        }
        return pthread_cond_timedwait(condition, mutex, &deadline) != ETIMEDOUT
    }

    /// Wakes one waiting thread. Best called without the mutex, which the woken thread needs.
    func wakeOne() {
        pthread_cond_signal(condition)
    }

    /// Wakes all waiting threads.
    func wakeAll() {
        pthread_cond_broadcast(condition)
    }

    /// Returns the deadline of a wait that starts now.
    static func deadline(in duration: Duration) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let nanoseconds = time.tv_nsec + Int(duration.nanoseconds)
        return timespec(tv_sec: time.tv_sec + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
    }
}
