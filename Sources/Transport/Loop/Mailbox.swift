import Synchronization

/// The work that other threads give to a loop, in its order of arrival.
struct Mailbox: ~Copyable {
    enum Work {
        case closure(@Sendable () -> Void)
        case job(UnownedJob)
    }

    // Not private: with a private type in a noncopyable type's mutex, the compiler (6.3) fails to link.
    struct State {
        var work: [Work] = []
        /// True if the loop has been woken for the contents.
        var isAwake = false
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Adds `work`, and calls `wake` if the loop has not been woken.
    ///
    /// - Returns: true if the mailbox is open; if not, the work is dropped.
    borrowing func put(_ work: Work, wake: () -> Void) -> Bool {
        // The wake-up is sent under the lock, so it cannot come after the mailbox was closed. The loop's handle is
        // destroyed only then.
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.work.append(work)
            if !state.isAwake {
                state.isAwake = true
                wake()
            }
            return true
        }
    }

    /// Removes and returns all work. The loop is woken again for later work.
    borrowing func take() -> [Work] {
        state.withLock { state in
            state.isAwake = false
            return exchange(&state.work, with: [])
        }
    }

    /// Closes the mailbox, and removes and returns all work.
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
