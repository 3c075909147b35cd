import Chat
import Logging
import Store
import Webhooks
import Wire

/// Delivers to all webhooks of a log, and makes admins' changes of them. Confined to the thread of ``WebhookService``.
final class Deliverer {
    /// Time between two checks for webhooks that other nodes have changed.
    private static let checkInterval = Duration.seconds(1)
    /// Time between two checks for the first webhook, and for the caretaker's lock, while there is nothing to deliver.
    private static let idleCheckInterval = Duration.seconds(3)
    /// Time between two checks for rooms that other nodes have changed.
    static let pollInterval = Duration.milliseconds(200)
    /// Time after which cursors are stored: 1 second.
    static let cursorInterval = Duration.seconds(1)
    /// Number of cursors that are stored at once.
    static let cursorCount = 500
    /// Time between two counts of the rooms that are behind.
    private static let countInterval = Duration.seconds(5)
    /// Time before the next attempt after the database has failed.
    private static let failurePause = Duration.seconds(1)

    let store: any WebhookStore
    let sender: any Sender
    let rules: SenderConfiguration
    let pushRules: PushRules
    /// Number of a webhook's rooms that are read at once.
    let roomsOfPoll: Int
    let metrics: WebhookMetrics
    let logger: Logger
    /// Runs a function on this thread later.
    let post: @Sendable (@escaping @Sendable (Deliverer) -> Void) -> Void
    private let isShared: Bool
    private var deliveries: [Int64: WebhookDeliveries] = [:]
    /// `nil` before the first check, and when this process has changed the webhooks.
    private var nextCheck: ContinuousClock.Instant?
    private var nextPoll = ContinuousClock.now
    private var nextCount = ContinuousClock.now
    private var retry: ContinuousClock.Instant?
    private var hasFailed = false

    init(
        _ store: any WebhookStore, isShared: Bool, sender: any Sender, rules: SenderConfiguration,
        pushRules: PushRules, roomsOfPoll: Int, metrics: WebhookMetrics, logger: Logger,
        post: @escaping @Sendable (@escaping @Sendable (Deliverer) -> Void) -> Void
    ) {
        self.store = store
        self.isShared = isShared
        self.sender = sender
        self.rules = rules
        self.pushRules = pushRules
        self.roomsOfPoll = roomsOfPoll
        self.metrics = metrics
        self.logger = logger
        self.post = post
    }

    /// True while this process delivers to a webhook.
    var isActive: Bool { !deliveries.isEmpty }

    /// Takes the rooms that this process has changed.
    ///
    /// - Parameter hasEvents: True if there may be new events.
    func changed(_ rooms: Set<RoomID>, isIncomplete: Bool, hasEvents: Bool) {
        if hasEvents { nextPoll = .now }
        if rooms.isEmpty, !isIncomplete { return }
        for delivery in deliveries.values { delivery.changed(isIncomplete ? nil : rooms) }
        nextPoll = .now
    }

    /// Does what is due.
    ///
    /// - Returns: The time until there may be more to do; `nil` if something must happen first.
    func turn() -> Duration? {
        if let retry, retry > .now { return ContinuousClock.now.duration(to: retry) }
        do {
            let wait = try work()
            if hasFailed { logger.notice("webhooks are delivered again") }
            (retry, hasFailed) = (nil, false)
            return wait
        } catch {
            if !hasFailed { logger.error("webhooks cannot be delivered: \(error)") }
            hasFailed = true
            retry = .now + Self.failurePause
            return Self.failurePause
        }
    }

    private func work() throws -> Duration? {
        if nextCheck.map({ $0 <= .now }) ?? true { try checkWebhooks() }
        guard isActive else { return isShared ? max(.zero, ContinuousClock.now.duration(to: nextCheck ?? .now)) : nil }
        let polls = nextPoll <= .now
        if polls { nextPoll = .now + Self.pollInterval }
        var wait = isShared ? Self.pollInterval : Duration.seconds(60)
        if isShared, let nextCheck { wait = min(wait, ContinuousClock.now.duration(to: nextCheck)) }
        for delivery in deliveries.values {
            if let due = try delivery.run(polls: polls) { wait = min(wait, ContinuousClock.now.duration(to: due)) }
        }
        if nextCount <= .now {
            nextCount = .now + Self.countInterval
            for delivery in deliveries.values { try delivery.count() }
        }
        wait = min(wait, ContinuousClock.now.duration(to: nextCount))
        // The webhooks whose changes wait for deliveries in flight are ready once those are answered.
        if deliveries.values.contains(where: \.isDrained) {
            nextCheck = nil
            return .zero
        }
        return max(.zero, wait)
    }

    /// Reads the webhooks, and begins or ends deliveries.
    private func checkWebhooks() throws {
        guard store.isDeliverer else {
            for delivery in deliveries.values { delivery.end() }
            deliveries = [:]
            nextCheck = .now + Self.idleCheckInterval
            return
        }
        let webhooks = try store.webhooks()
        var kept: [Int64: WebhookDeliveries] = [:]
        for webhook in webhooks {
            if let delivery = deliveries[webhook.number], !(try delivery.replaces(by: webhook)) {
                kept[webhook.number] = delivery
            } else {
                kept[webhook.number] = WebhookDeliveries(webhook, of: self)
            }
        }
        for (number, delivery) in deliveries where kept[number] == nil { delivery.end() }
        deliveries = kept
        nextPoll = .now
        let interval = kept.isEmpty ? Self.idleCheckInterval : Self.checkInterval
        nextCheck = .now + (isShared ? interval : .seconds(3600))
    }

    /// Gives a delivery the answer of its receiver.
    func answered(
        _ webhook: Int64, _ flight: Int, _ result: Result<SenderAnswer, SenderError>
    ) {
        do {
            try deliveries[webhook]?.answered(flight, result)
        } catch {
            // The answer counts for nothing, so the delivery is repeated.
            retry = .now + Self.failurePause
        }
    }

    /// Stores how far receivers have come, before an admin's change or the end.
    func settle() throws { for delivery in deliveries.values { try delivery.flush() } }

    /// Reads the webhooks with the next turn, after a change of them.
    func checkAgain() { (nextCheck, retry) = (nil, nil) }

    /// Stores the cursors, and ends.
    func close() {
        for delivery in deliveries.values {
            do { try delivery.flush() } catch { logger.error("cursors of webhooks cannot be stored: \(error)") }
            delivery.end()
        }
        deliveries = [:]
        store.close()
    }
}
