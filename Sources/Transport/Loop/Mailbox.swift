import Synchronization

/// The work that other threads give to a loop: urgent and ordinary, each in its order of arrival.
struct Mailbox: ~Copyable {
    enum Work {
        case closure(@Sendable () -> Void)
        case job(UnownedJob)
    }

    // Not private: with a private type in a noncopyable type's mutex, the compiler (6.3) fails to link.
    struct State {
        var work: [Work] = []
        var urgent: [@Sendable () -> Void] = []
        /// True if the loop has been woken for the contents.
        var isAwake = false
        var isClosed = false

        /// Wakes the loop if it has not been woken.
        mutating func rouse(_ wake: () -> Void) {
            guard !isAwake else { return }
            isAwake = true
            wake()
        }
    }

    private let state = Mutex(State())
    /// True if there is urgent work. The loop reads it without the lock between any two steps.
    private let isUrgent = Atomic(false)

    /// Adds `work`, and calls `wake` if the loop has not been woken.
    ///
    /// - Returns: true if the mailbox is open; if not, the work is dropped.
    borrowing func put(_ work: Work, wake: () -> Void) -> Bool {
        // The wake-up is sent under the lock, so it cannot come after the mailbox was closed. The loop's handle is
        // destroyed only then.
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.work.append(work)
            state.rouse(wake)
            return true
        }
    }

    /// Adds urgent work; in all else like ``put(_:wake:)``.
    borrowing func putUrgent(_ work: @escaping @Sendable () -> Void, wake: () -> Void) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.urgent.append(work)
            isUrgent.store(true, ordering: .relaxed)
            state.rouse(wake)
            return true
        }
    }

    /// Removes and returns all ordinary work. The loop is woken again for later work.
    borrowing func take() -> [Work] {
        state.withLock { state in
            state.isAwake = false
            return exchange(&state.work, with: [])
        }
    }

    /// Removes and returns all urgent work.
    borrowing func takeUrgent() -> [@Sendable () -> Void] {
        // Work that is added now and not seen here sends a wake-up.
        guard isUrgent.load(ordering: .relaxed) else { return [] }
        return state.withLock { state in
            isUrgent.store(false, ordering: .relaxed)
            return exchange(&state.urgent, with: [])
        }
    }

    /// Closes the mailbox, and removes and returns all ordinary work. Urgent work is dropped with the mailbox.
    borrowing func close() -> [Work] {
        // The caller drops the work outside the lock: its destruction may run code that uses the mailbox.
        state.withLock { state in
            state.isClosed = true
            return exchange(&state.work, with: [])
        }
    }
}

/// Replaces `value` by `new` and returns the old value.
func exchange<T>(_ value: inout T, with new: T) -> T {
    var new = new
    swap(&value, &new)
    return new
}
