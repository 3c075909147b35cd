/// The bytes of large answers that readers have handed over and the loops have not taken yet.
///
/// A reader is faster than a loop that sends its answers, so without a bound these answers could fill the memory.
// Sendable because `bytes` and `isClosed` are touched only with the monitor's mutex held.
final class AnswerBacklog: @unchecked Sendable {
    /// Minimum size of an answer that counts, in bytes. The number of waiting reads bounds smaller ones.
    static let leastBytes = 64 * 1024

    private let limit: Int
    private let monitor = Monitor()
    private var bytes = 0
    private var isClosed = false

    /// - Parameter limit: Number of bytes from which readers wait. Each may exceed it by the answers of one transaction.
    init(limit: Int) {
        self.limit = limit
    }

    /// Waits until the loops have taken enough of the earlier answers.
    func waitForRoom() {
        monitor.locked {
            while bytes >= limit, !isClosed { _ = monitor.wait() }
        }
    }

    /// Counts an answer until the returned object is destroyed; `nil` for a small answer.
    func hold(_ count: Int) -> (any AnyObject & Sendable)? {
        count >= Self.leastBytes ? Share(count, of: self) : nil
    }

    /// Ends all waits, for good.
    func close() {
        monitor.locked { isClosed = true }
        monitor.wakeAll()
    }

    private func add(_ count: Int) {
        monitor.locked { bytes += count }
        if count < 0 { monitor.wakeAll() }
    }

    private final class Share: Sendable {
        private let count: Int
        private let backlog: AnswerBacklog

        init(_ count: Int, of backlog: AnswerBacklog) {
            self.count = count
            self.backlog = backlog
            backlog.add(count)
        }

        deinit {
            backlog.add(-count)
        }
    }
}
