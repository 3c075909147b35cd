import Glibc

/// Events of other threads, in order, for a test that waits for them.
///
/// Sendable because the events are accessed under the mutex only.
public final class Recorder<Event: Sendable>: @unchecked Sendable {
    /// The time limit of a wait in seconds, long enough that only a missing event reaches it.
    public static var patience: Int { 60 }

    private var recorded: [Event] = []
    // pthread's objects must not move, so they are allocated once and freed with the recorder.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>

    /// Creates an empty recorder.
    public init() {
        mutex = .allocate(capacity: 1)
        changed = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Adds an event. Safe to call from any thread.
    public func record(_ event: Event) {
        locked {
            recorded.append(event)
            pthread_cond_broadcast(changed)
        }
    }

    /// The events so far.
    public var events: [Event] { locked { recorded } }

    /// Waits until `isEnough` holds for the events.
    ///
    /// - Returns: The events.
    /// - Throws: ``PatienceExhausted`` with the events so far.
    @discardableResult
    public func wait(until isEnough: ([Event]) -> Bool) throws -> [Event] {
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        end.tv_sec += Self.patience
        return try locked {
            while !isEnough(recorded) {
                guard pthread_cond_timedwait(changed, mutex, &end) == 0 else {
                    throw PatienceExhausted(description: "still waiting after \(Self.patience) s; got \(recorded)")
                }
            }
            return recorded
        }
    }

    /// Waits until there are at least `count` events.
    @discardableResult
    public func wait(for count: Int) throws -> [Event] {
        try wait { $0.count >= count }
    }

    private func locked<R>(_ body: () throws -> R) rethrows -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}

extension Recorder where Event: Equatable {
    /// Waits until `event` has been recorded.
    @discardableResult
    public func wait(for event: Event) throws -> [Event] {
        try wait { $0.contains(event) }
    }
}

/// The events that a test waited for did not come.
public struct PatienceExhausted: Error, CustomStringConvertible {
    /// The events that came instead.
    public let description: String
}
