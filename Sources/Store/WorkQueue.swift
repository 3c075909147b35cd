import Glibc

/// A bounded queue between the loops, which never wait, and a few threads that do.
// Sendable because `items`, `isClosed` and `waiting` are touched with the mutex held only.
final class WorkQueue<Item: Sendable>: @unchecked Sendable {
    private var items: [Item] = []
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
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// How many items wait.
    var count: Int { locked { items.count - head } }

    /// Adds items as far as there is room.
    ///
    /// - Returns: how many were added; the first ones.
    func append(_ new: [Item]) -> Int {
        locked {
            guard !isClosed else { return 0 }
            let room = limit - (items.count - head)
            let added = min(max(0, room), new.count)
            if added == new.count { items.append(contentsOf: new) } else { items.append(contentsOf: new[..<added]) }
            if waiting > 0, added > 0 { pthread_cond_signal(condition) }
            return added
        }
    }

    /// Waits for items and takes the first ones.
    ///
    /// - Parameter milliseconds: how long to wait; `nil` for as long as it takes.
    /// - Returns: `nil` when the queue is closed and empty; no items when the time is up.
    func take(_ most: Int, within milliseconds: Int? = nil) -> [Item]? {
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
            let end = min(items.count, head + most)
            let taken: [Item]
            if head == 0, end == items.count {
                taken = items
                items = []
            } else {
                taken = Array(items[head..<end])
                head = end
                if head == items.count {
                    items = []
                    head = 0
                } else if head > items.count / 2 {
                    items.removeFirst(head)
                    head = 0
                }
                // What is left is for the next thread.
                if waiting > 0, head < items.count { pthread_cond_signal(condition) }
            }
            return taken
        }
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
        clock_gettime(CLOCK_REALTIME, &time)
        let nanoseconds = time.tv_nsec + milliseconds % 1000 * 1_000_000
        return timespec(
            tv_sec: time.tv_sec + milliseconds / 1000 + nanoseconds / 1_000_000_000,
            tv_nsec: nanoseconds % 1_000_000_000)
    }
}
