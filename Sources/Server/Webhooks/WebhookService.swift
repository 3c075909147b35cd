import Chat
import CoreMetrics
import Dispatch
import Logging
import Store
import Synchronization
import Threads
import Webhooks
import Wire

/// The thread that delivers to webhooks, and makes admins' changes of them. Other threads never wait for it.
///
/// Without webhooks it sleeps, and commits pass it by.
final class WebhookService: Sendable {
    /// What waits for the thread.
    private struct Inbox {
        var commands: [@Sendable (Deliverer) -> Void] = []
        /// Rooms that this process has changed.
        var changed: Set<RoomID> = []
        /// True if rooms are missing in ``changed``.
        var isChangedIncomplete = false
        /// True if a commit may have stored events.
        var hasEvents = false
        var isClosed = false
        var isEmpty: Bool { commands.isEmpty && changed.isEmpty && !isChangedIncomplete && !hasEvents }
    }

    /// Maximum number of changed rooms that wait. Beyond it, the thread looks at all rooms that it knows.
    static let maximumChanged = 4096
    /// Niceness of the threads that deliver. On a busy processor, sends and pushes to subscribers go first.
    static let niceness: Int32 = 10

    private let inbox = Mutex(Inbox())
    private let wakes = DispatchSemaphore(value: 0)
    private let thread = Mutex<NamedThread?>(nil)
    private let isActive = Atomic(false)
    let metrics: WebhookMetrics

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - isShared: True if other nodes may change the webhooks.
    ///   - rules: What URLs may be.
    ///   - pushRules: The rules of push events.
    ///   - roomsOfPoll: Number of a webhook's rooms that are read at once.
    init(
        _ store: @escaping @Sendable () throws -> any WebhookStore, isShared: Bool, sender: any Sender,
        rules: SenderConfiguration, pushRules: PushRules = PushRules(), roomsOfPoll: Int,
        metrics: WebhookMetrics, logger: Logger
    ) {
        self.metrics = metrics
        let started = NamedThread(name: "webhooks", niceness: Self.niceness) { [self] in
            do {
                let deliverer = Deliverer(
                    try store(), isShared: isShared, sender: sender, rules: rules,
                    pushRules: pushRules, roomsOfPoll: roomsOfPoll, metrics: metrics, logger: logger,
                    post: { [weak self] command in self?.perform(command) })
                run(deliverer)
            } catch {
                logger.error("webhooks are not delivered: \(error)")
            }
        }
        thread.withLock { $0 = started }
    }

    /// Runs `command` on the thread. Once the service is closed, it is not run.
    func perform(_ command: @escaping @Sendable (Deliverer) -> Void) {
        let wakes = inbox.withLock { inbox in
            if inbox.isClosed { return false }
            defer { inbox.commands.append(command) }
            return inbox.isEmpty
        }
        if wakes { self.wakes.signal() }
    }

    /// Tells the thread of a commit. Called on the log's threads.
    func committed(_ outcomes: [Outcome], _ batches: [Batch]) {
        guard isActive.load(ordering: .relaxed) else { return }
        let hasEvents = outcomes.contains(where: \.mayBeEvent)
        if batches.isEmpty, !hasEvents { return }
        let wakes = inbox.withLock { inbox in
            let wasEmpty = inbox.isEmpty
            if hasEvents { inbox.hasEvents = true }
            if inbox.changed.count + batches.count > Self.maximumChanged {
                inbox.changed = []
                inbox.isChangedIncomplete = true
            } else if !inbox.isChangedIncomplete {
                for batch in batches { inbox.changed.insert(batch.room) }
            }
            return wasEmpty
        }
        if wakes { self.wakes.signal() }
    }

    /// Stores the cursors and ends the thread.
    func close() {
        inbox.withLock { $0.isClosed = true }
        wakes.signal()
        guard let thread = thread.withLock({ $0.take() }) else { return }
        thread.join()
        metrics.clear()
    }

    private func run(_ deliverer: Deliverer) {
        while true {
            let taken = inbox.withLock { inbox in
                defer { inbox = Inbox(isClosed: inbox.isClosed) }
                return inbox
            }
            if taken.isClosed { break }
            for command in taken.commands { command(deliverer) }
            deliverer.changed(taken.changed, isIncomplete: taken.isChangedIncomplete, hasEvents: taken.hasEvents)
            let wait = deliverer.turn()
            isActive.store(deliverer.isActive, ordering: .relaxed)
            if let wait {
                _ = wakes.wait(timeout: .now() + .milliseconds(Int(wait.milliseconds)))
            } else {
                wakes.wait()
            }
        }
        deliverer.close()
    }
}

extension Outcome {
    /// True if the change may be one that webhooks are told of as an event.
    fileprivate var mayBeEvent: Bool {
        switch result {
        case .success(.room), .success(.record): true
        case .success, .failure: false
        }
    }
}

/// The metrics of webhooks on this node.
final class WebhookMetrics: Sendable {
    /// What an operator watches of a webhook.
    struct State: Sendable {
        var roomsBehind: Int64 = 0
        var roomsStopped = 0
        /// The time since which a room is behind.
        var since: Timestamp?
        var isPaused = false
    }

    private let states = Mutex<[String: State]>([:])
    private let factory: any MetricsFactory
    private let registry: PrometheusRegistry?

    init(factory: any MetricsFactory, registry: PrometheusRegistry? = nil) {
        self.factory = factory
        self.registry = registry
    }

    /// Returns the counter of attempts with a result: `ok`, `3xx`, `4xx`, `5xx` or `none`.
    func attempts(_ webhook: String, _ result: String) -> Counter {
        Counter(
            label: ServerMetricName.webhookAttempts.rawValue, dimensions: [("webhook", webhook), ("result", result)],
            factory: factory)
    }

    /// Returns the counter of users in push events that were received: of type `push` or `push.clear`.
    func recipients(_ webhook: String, _ type: String) -> Counter {
        Counter(
            label: ServerMetricName.pushRecipients.rawValue, dimensions: [("webhook", webhook), ("type", type)],
            factory: factory)
    }

    /// Sets what this node shows of a webhook; `nil` if it does not deliver to it.
    func set(_ state: State?, of webhook: String) {
        let isNew = states.withLock { states in
            defer { states[webhook] = state }
            return states[webhook] == nil && state != nil
        }
        guard isNew, let registry else { return }
        let labels = [("webhook", webhook)]
        registry.observe(.webhookRoomsBehind, dimensions: labels) { [weak self] in
            self?.state(of: webhook).map { Double($0.roomsBehind) }
        }
        registry.observe(.webhookRoomsStopped, dimensions: labels) { [weak self] in
            self?.state(of: webhook).map { Double($0.roomsStopped) }
        }
        registry.observe(.webhookDelay, dimensions: labels) { [weak self] in
            self?.state(of: webhook).map { state in
                state.since.map { Double(max(0, Timestamp.now().milliseconds - $0.milliseconds)) / 1000 } ?? 0
            }
        }
        registry.observe(.webhookPaused, dimensions: labels) { [weak self] in
            self?.state(of: webhook).map { $0.isPaused ? 1 : 0 }
        }
    }

    func clear() { states.withLock { $0 = [:] } }

    private func state(of webhook: String) -> State? { states.withLock { $0[webhook] } }
}

extension ServerConfiguration {
    /// Where webhooks may be, and how deliveries reach them.
    var webhooks: SenderConfiguration {
        var sender = SenderConfiguration(userAgent: "Backscroll/\(Version.current)")
        (sender.allowed, sender.allowsHTTP, sender.proxy) = (webhookAddresses, webhookHTTP, webhookProxy)
        return sender
    }
}
