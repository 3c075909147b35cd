import Chat
import Nodes
import Synchronization
import Wire

/// A thread that tells the other nodes what this one has committed, on a connection of its own.
///
/// Hints that come during a notification, or within ``interval`` after it, are merged. An idle node notifies at once.
final class Notifier: Sendable {
    /// Minimum time between two notifications: 3 ms.
    static let interval = Duration.milliseconds(3)

    // Sendable because `hints` and `isClosed` are touched only with the monitor's mutex held.
    private final class Pending: @unchecked Sendable {
        let monitor = Monitor()
        var hints = Hints()
        var isClosed = false
    }

    private let pending = Pending()
    private let connector: PostgresConnector
    private let node: String
    private let sent = Atomic<Int>(0)

    /// Creates a notifier. Run it on a thread.
    ///
    /// - Parameter node: The name of this node.
    init(_ connector: PostgresConnector, node: String) {
        self.connector = connector
        self.node = node
    }

    /// The number of notifications sent.
    var count: Int { sent.load(ordering: .relaxed) }

    /// Adds hints about a commit of this node.
    func committed(_ batches: [Batch], changesAccess: Bool) {
        var hints = Hints()
        for batch in batches { hints.add(batch.room, rev: batch.rev) }
        if changesAccess { hints.addEvents() }
        add(hints)
    }

    /// Adds hints about what this node has committed.
    func add(_ hints: Hints) {
        if hints.isEmpty { return }
        pending.monitor.locked { pending.hints.add(hints) }
        pending.monitor.wakeAll()
    }

    /// Ends the thread. If it is connected, it first sends the hints that wait.
    func close() {
        pending.monitor.locked { pending.isClosed = true }
        pending.monitor.wakeAll()
    }

    /// Runs the thread until it is closed.
    func run() {
        var connection = connector.use()
        while true {
            let (hints, isClosed) = take()
            if hints.isEmpty, isClosed { return }
            let start = ContinuousClock.now
            do throws(PostgresError) {
                let payloads = hints.payloads(from: node)
                try connection.connection().0.notify(Hints.channel, payloads)
                sent.add(payloads.count, ordering: .relaxed)
            } catch {
                if isClosed { return }
                // The hints are sent once the connection is back. Until then the other nodes find the rooms by their
                // sweeps.
                pending.monitor.locked { pending.hints.add(hints) }
                PostgresConnector.wait()
            }
            pause(until: start + Self.interval)
        }
    }

    /// Waits for hints and takes them.
    private func take() -> (Hints, isClosed: Bool) {
        pending.monitor.locked {
            while pending.hints.isEmpty, !pending.isClosed { _ = pending.monitor.wait() }
            let hints = pending.hints
            pending.hints = Hints()
            return (hints, pending.isClosed)
        }
    }

    /// Waits until it is time for the next notification, or until the notifier is closed.
    private func pause(until end: ContinuousClock.Instant) {
        let rest = ContinuousClock.now.duration(to: end)
        guard rest > .zero else { return }
        pending.monitor.locked {
            let deadline = Monitor.deadline(in: rest)
            while !pending.isClosed, pending.monitor.wait(until: deadline) {}
        }
    }
}
