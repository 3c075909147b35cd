import Synchronization

/// The work that other threads have for a loop, in the order in which they handed it in.
struct Mailbox: ~Copyable {
    /// A piece of work.
    enum Work {
        case closure(@Sendable () -> Void)
        case job(UnownedJob)
    }

    // Not private: the compiler (6.3) does not find a private type in a noncopyable one's mutex when it links.
    struct State {
        var work: [Work] = []
        /// Whether the loop has been woken for what is in the box.
        var isAwake = false
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Puts `work` in, and calls `wake` if the loop does not know yet that there is something.
    ///
    /// - Returns: whether the box is open; if not, the work is dropped.
    borrowing func put(_ work: Work, wake: () -> Void) -> Bool {
        // The wake-up is sent under the lock: the box is closed under it before what is woken goes.
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

    /// Takes out all there is.
    borrowing func take() -> [Work] {
        state.withLock { state in
            state.isAwake = false
            return exchange(&state.work, with: [])
        }
    }

    /// Takes out all there is and lets nothing in any more.
    borrowing func close() -> [Work] {
        // What is dropped is dropped by the caller: its destruction may run code that comes back here.
        state.withLock { state in
            state.isClosed = true
            return exchange(&state.work, with: [])
        }
    }
}

/// Puts `new` in the place of `value`, and answers what was there.
func exchange<T>(_ value: inout T, with new: T) -> T {
    var new = new
    swap(&value, &new)
    return new
}
