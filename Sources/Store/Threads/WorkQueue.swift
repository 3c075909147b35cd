import Chat
import Wire

/// A number of items that are expected soon, so that it is worth waiting for them.
struct ExpectedGroup: Equatable {
    /// The number of items, with those that wait already.
    var count: Int
    /// The end of the wait.
    var deadline: ContinuousClock.Instant
}

/// A bounded queue between the loops, which never wait, and a few threads that do.
// Sendable because `items`, `head`, `isClosed`, `isWoken`, `waiting` and `wanted` are touched only with the monitor's mutex held.
final class WorkQueue<Item: Sendable>: @unchecked Sendable {
    private let monitor = Monitor()
    private let limit: Int
    private var items: [Item] = []
    /// The index in `items` of the first waiting item.
    private var head = 0
    private var isClosed = false
    /// True if a waiting thread must return without items.
    private var isWoken = false
    /// The number of waiting threads.
    private var waiting = 0
    /// The number of items for which a waiting thread is woken.
    private var wanted = 1

    /// Creates a queue of at most `limit` items.
    init(limit: Int) {
        self.limit = limit
    }

    /// The number of waiting items.
    var count: Int { monitor.locked { items.count - head } }

    /// The result of adding items.
    struct Admission {
        /// The number of items added, from the first on.
        let count: Int
        /// The reason why the others were not added.
        let refusal: Problem?
    }

    /// Adds items as far as there is room.
    func append(_ new: [Item]) -> Admission {
        let (admission, wakes) = monitor.locked {
            guard !isClosed else {
                return (Admission(count: 0, refusal: .unavailable("The server is shutting down.")), false)
            }
            let added = min(max(0, limit - (items.count - head)), new.count)
            items.append(contentsOf: new[..<added])
            return (
                Admission(count: added, refusal: added < new.count ? .overloaded : nil),
                waiting > 0 && added > 0 && items.count - head >= wanted
            )
        }
        if wakes { monitor.wakeOne() }
        return admission
    }

    /// Lets the only thread that takes from the queue look at something else: its present or next wait ends at once.
    func wake() {
        monitor.locked { isWoken = true }
        monitor.wakeOne()
    }

    /// Waits for items and takes the first ones, at most `most`.
    ///
    /// - Parameters:
    ///   - milliseconds: The longest wait; `nil` for no limit.
    ///   - group: The items to wait for once there is one; `nil` for none. Only if one thread takes from the queue.
    ///   - fitting: Returns how many of the items, from the first on, may be taken together. The first one is always
    ///     taken. Called with the queue locked.
    /// - Returns: No items once the time is up, or after ``wake()``; `nil` if the queue is closed and empty.
    func take(
        _ most: Int, within milliseconds: Int? = nil, waitingFor group: ExpectedGroup? = nil,
        fitting: (Span<Item>) -> Int = { $0.count }
    ) -> [Item]? {
        monitor.locked {
            let deadline = milliseconds.map { Monitor.deadline(in: .milliseconds($0)) }
            while head == items.count {
                if isClosed { return nil }
                if isWoken {
                    isWoken = false
                    return []
                }
                waiting += 1
                defer { waiting -= 1 }
                if !monitor.wait(until: deadline) { return [] }
            }
            if let group { wait(for: group) }
            let taken = takeFirst(most, fitting)
            // The next thread takes the rest.
            if waiting > 0, head < items.count { monitor.wakeOne() }
            return taken
        }
    }

    /// Waits until the items of a group are in the queue, the group's deadline has passed, or the queue is closed. The
    /// monitor must be locked.
    private func wait(for group: ExpectedGroup) {
        let rest = ContinuousClock.now.duration(to: group.deadline)
        if rest <= .zero { return }
        let deadline = Monitor.deadline(in: rest)
        (wanted, waiting) = (group.count, waiting + 1)
        while items.count - head < wanted, !isClosed, monitor.wait(until: deadline) {}
        (wanted, waiting) = (1, waiting - 1)
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

    /// Refuses further items. Waiting threads take what is left, and then get `nil`.
    func close() {
        monitor.locked {
            isClosed = true
            monitor.wakeAll()
        }
    }
}

extension ArraySlice {
    /// Passes `body` the items where they are, without a copy.
    fileprivate func withSpan<R>(_ body: (Span<Element>) -> R) -> R {
        body(span)
    }
}
