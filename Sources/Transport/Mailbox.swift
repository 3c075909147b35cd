import Synchronization

/// The work that other threads have for a loop: what is urgent, and what takes its turn; each in the order in which it
/// was handed in.
struct Mailbox: ~Copyable {
    /// A piece of work.
    enum Work {
        case closure(@Sendable () -> Void)
        case job(UnownedJob)
    }

    // Not private: the compiler (6.3) does not find a private type in a noncopyable one's mutex when it links.
    struct State {
        var work: [Work] = []
        var urgent: [@Sendable () -> Void] = []
        /// True if the loop has been woken for what is in the box.
        var isAwake = false
        var isClosed = false
    }

    private let state = Mutex(State())
    /// True if there is something urgent. Read without the lock, between any two things that the loop does.
    private let isUrgent = Atomic(false)

    /// Puts `work` in, and calls `wake` if the loop does not know yet that there is something.
    ///
    /// - Returns: whether the box is open; if not, the work is dropped.
    borrowing func put(_ work: Work, wake: () -> Void) -> Bool {
        // The wake-up is sent under the lock: the box is closed under it before what is woken goes.
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.work.append(work)
            state.rouse(wake)
            return true
        }
    }

    /// Puts urgent work in; otherwise as ``put(_:wake:)``.
    borrowing func putUrgent(_ work: @escaping @Sendable () -> Void, wake: () -> Void) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.urgent.append(work)
            isUrgent.store(true, ordering: .relaxed)
            state.rouse(wake)
            return true
        }
    }

    /// Takes out all that takes its turn. The loop is woken again for what comes next.
    borrowing func take() -> [Work] {
        state.withLock { state in
            state.isAwake = false
            return exchange(&state.work, with: [])
        }
    }

    /// Takes out all that is urgent.
    borrowing func takeUrgent() -> [@Sendable () -> Void] {
        // What is put in now and not seen yet, the wake-up tells of.
        guard isUrgent.load(ordering: .relaxed) else { return [] }
        return state.withLock { state in
            isUrgent.store(false, ordering: .relaxed)
            return exchange(&state.urgent, with: [])
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

extension Mailbox.State {
    /// Wakes the loop if it does not know yet that there is something.
    fileprivate mutating func rouse(_ wake: () -> Void) {
        guard !isAwake else { return }
        isAwake = true
        wake()
    }
}

/// Puts `new` in the place of `value`, and answers what was there.
func exchange<T>(_ value: inout T, with new: T) -> T {
    var new = new
    swap(&value, &new)
    return new
}
