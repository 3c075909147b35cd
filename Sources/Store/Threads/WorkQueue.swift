import Glibc
import Wire

/// A bounded queue between the loops, which never wait, and a few threads that do.
// Sendable because `items`, `head`, `isClosed` and `waiting` are touched with the mutex held only.
final class WorkQueue<Item: Sendable>: @unchecked Sendable {
    private var items: [Item] = []
    /// Where in `items` the first one is that still waits.
    private var head = 0
    private var isClosed = false
    private var waiting = 0
    private let limit: Int
    // POSIX wants these at a fixed address: allocated once, destroyed in `deinit` when no thread can be in them.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    /// An empty queue for `limit` items.
    init(limit: Int) {
        self.limit = limit
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // A wait is as long as it is meant to be, whatever is done to the clock on the wall.
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

    /// The number of items that wait.
    var count: Int { locked { items.count - head } }

    /// The result of adding items.
    struct Admission {
        /// How many were added: the first ones.
        let count: Int
        /// The reason why the others were not.
        let refusal: Problem?
    }

    /// Adds items as far as there is room.
    func append(_ new: [Item]) -> Admission {
        let (admission, isAwaited) = locked {
            guard !isClosed else {
                return (Admission(count: 0, refusal: .unavailable("The server is shutting down.")), false)
            }
            let added = min(max(0, limit - (items.count - head)), new.count)
            items.append(contentsOf: new[..<added])
            return (
                Admission(count: added, refusal: added < new.count ? .overloaded : nil), waiting > 0 && added > 0
            )
        }
        // With the mutex held the thread would wake up only to wait for that.
        if isAwaited { pthread_cond_signal(condition) }
        return admission
    }

    /// Waits for items and takes the first ones, `most` at most.
    ///
    /// - Parameters:
    ///   - milliseconds: how long to wait; `nil` for as long as it takes.
    ///   - fitting: asked with the queue locked: how many of the first items, `most` at most, may be taken together. They are
    ///     looked at where they are. The first one is taken whatever the answer.
    /// - Returns: `nil` when the queue is closed and empty; no items when the time is up.
    func take(
        _ most: Int, within milliseconds: Int? = nil, fitting: (Span<Item>) -> Int = { $0.count }
    ) -> [Item]? {
        locked {
            let deadline = milliseconds.map(Self.deadline)
            while head == items.count {
                if isClosed { return nil }
                waiting += 1
                defer { waiting -= 1 }
                if var deadline {
                    if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return [] }
                } else {
                    pthread_cond_wait(condition, mutex)
                }
            }
            let taken = takeFirst(most, fitting)
            // The next thread takes the rest.
            if waiting > 0, head < items.count { pthread_cond_signal(condition) }
            return taken
        }
    }

    private func takeFirst(_ most: Int, _ fitting: (Span<Item>) -> Int) -> [Item] {
        let last = min(items.count, head + max(1, most))
        let end = head + min(max(1, items[head..<last].withSpan(fitting)), last - head)
        if head == 0, end == items.count {
            let all = items
            items = []
            return all
        }
        let taken = Array(items[head..<end])
        head = end
        // Taken items are removed once they are half of the array, so each item is moved at most once.
        if head >= items.count - head {
            items.removeFirst(head)
            head = 0
        }
        return taken
    }

    /// Takes nothing more; those who wait get what is left, and then `nil`.
    func close() {
        locked {
            isClosed = true
            pthread_cond_broadcast(condition)
        }
    }

    private func locked<R>(_ body: () -> R) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    private static func deadline(in milliseconds: Int) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let nanoseconds = time.tv_nsec + milliseconds % 1000 * 1_000_000
        return timespec(
            tv_sec: time.tv_sec + milliseconds / 1000 + nanoseconds / 1_000_000_000,
            tv_nsec: nanoseconds % 1_000_000_000)
    }
}

extension ArraySlice {
    /// Hands over its items where they are.
    fileprivate func withSpan<R>(_ body: (Span<Element>) -> R) -> R {
        body(span)
    }
}
