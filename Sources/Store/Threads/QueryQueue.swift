import Chat
import Wire

/// A ``ReadQueue`` between the loops, which never wait, and the readers, which do.
// Sendable because `queue`, `isClosed` and `waiting` are touched only with the monitor's mutex held.
final class QueryQueue: @unchecked Sendable {
    private let monitor = Monitor()
    private var queue: ReadQueue
    private var isClosed = false
    /// The number of waiting readers.
    private var waiting = 0

    init(_ limits: ReadQueue.Limits) {
        queue = ReadQueue(limits)
    }

    /// The number of waiting queries.
    var count: Int { monitor.locked { queue.count } }

    /// Adds queries.
    ///
    /// - Returns: the queries that are refused, and the reason.
    func append(_ queries: [Query]) -> (queries: [Query], problem: Problem) {
        let (refusal, wakes) = monitor.locked {
            if isClosed { return ((queries, Self.closing), false) }
            let refused = queries.filter { !queue.append($0) }
            return ((refused, Problem.overloaded), wakesReader)
        }
        if wakes { monitor.wakeOne() }
        return refusal
    }

    /// Removes queries whose answers are no longer wanted.
    func cancel(_ replies: [any PendingReply]) {
        monitor.locked { for reply in replies { queue.cancel(reply) } }
    }

    /// Waits for the next turn of a reader.
    ///
    /// - Parameters:
    ///   - most: Maximum number of quick queries.
    ///   - done: The turn that the reader has served, if any.
    ///   - time: The longest wait; `nil` for no limit.
    /// - Returns: A turn without queries once the time is up; `nil` once the queue is closed.
    func next(_ most: Int, done: ReadQueue.Turn?, within time: Duration? = nil) -> ReadQueue.Turn? {
        let deadline = time.map(Monitor.deadline)
        let (turn, wakes): (ReadQueue.Turn?, Bool) = monitor.locked {
            if let done { queue.done(done) }
            while !isClosed {
                if let turn = queue.next(most) { return (turn, wakesReader) }
                waiting += 1
                defer { waiting -= 1 }
                if !monitor.wait(until: deadline) { return (ReadQueue.Turn(queries: [], isLong: false), false) }
            }
            return (nil, false)
        }
        if wakes { monitor.wakeOne() }
        return turn
    }

    /// Refuses further queries, and ends the readers' waits.
    ///
    /// - Returns: the waiting queries, and the reason why they are not served.
    func close() -> (queries: [Query], problem: Problem) {
        monitor.locked {
            isClosed = true
            monitor.wakeAll()
            return (queue.removeAll(), Self.closing)
        }
    }

    private static var closing: Problem { .unavailable("The server is shutting down.") }

    /// True if a reader should be woken, which then wakes the next one. The caller first releases the mutex, because a
    /// reader that wakes earlier must wait for it (`scripts/compare --scenarios F`).
    private var wakesReader: Bool { waiting > 0 && queue.hasTurn }
}
