import Chat
import CoreMetrics
import Logging
import Store
import Webhooks
import Wire

/// The deliveries to one webhook. Confined to the thread of ``WebhookService``.
///
/// A room's cursor is in the database and, while the room is behind or its progress is not stored yet, here. It moves only
/// with an answer of the receiver.
final class WebhookDeliveries {
    /// Maximum number of rooms in memory. The others wait in the database.
    static let maximumRooms = 4096
    /// Time until a receiver must have answered: 15 seconds.
    static let answerTime = Duration.seconds(15)

    /// How far the receiver has come in a room.
    private struct Cursor {
        let number: Int64
        /// The revision in the database.
        var stored: Int64
        /// The receiver has everything up to this revision.
        var rev: Int64
        /// The time of the oldest change that the receiver lacks, as far as it is known.
        var since: Timestamp
        /// The last revision of a delivery that is tried again, so that its id stays the same; `nil` for a new one.
        var until: Int64?
        /// True once the row in the database is to be deleted.
        var isOver = false
        /// The number of the last event that the receiver has; 0 for none.
        var event: Int64 = 0

        var isStored: Bool { stored == rev && !isOver }
    }

    /// A delivery whose answer is awaited.
    private struct Flight {
        /// `nil` for the event that tells the epoch.
        let room: RoomID?
        let rev: Int64
        let hasMore: Bool
        /// The receiver then has all changes up to this time; `nil` if it is not known.
        let last: Timestamp?
        var isDeletion = false
        /// The number of the event; 0 for messages.
        var event: Int64 = 0
    }

    private var webhook: Webhook
    private let signer: DeliverySigner
    private unowned let owner: Deliverer
    private var store: any WebhookStore { owner.store }
    private let logger: Logger
    private var queue: DeliveryQueue
    private var cursors: [RoomID: Cursor] = [:]
    private var unstored: Set<RoomID> = []
    private var flights: [Int: Flight] = [:]
    private var nextFlight = 0
    /// The number of the room after which the next poll begins.
    private var place: Int64 = 0
    private var nextFlush: ContinuousClock.Instant?
    private var health: Webhook.Health
    private var savedHealth: Webhook.Health
    private var nextSave = ContinuousClock.now
    private var epoch: String
    private var savedEpoch: String
    private var epochFailures = 0
    private var nextEpochAttempt = ContinuousClock.now
    private var isDraining = false
    private var counters: [String: Counter] = [:]
    /// The push events; `nil` if the webhook does not want any.
    private var push: PushDeliveries?

    init(_ webhook: Webhook, of owner: Deliverer) {
        self.webhook = webhook
        signer = DeliverySigner(webhook)
        self.owner = owner
        var logger = owner.logger
        logger[metadataKey: "webhook"] = "\(webhook.id)"
        self.logger = logger
        (health, savedHealth) = (webhook.health, webhook.health)
        (epoch, savedEpoch) = (webhook.epoch, webhook.epoch)
        queue = DeliveryQueue(webhook.health)
        owner.metrics.set(
            WebhookMetrics.State(isPaused: webhook.health.pause != nil || !webhook.isEnabled), of: webhook.id.string)
        if webhook.events.contains(.push) {
            push = PushDeliveries(webhook, of: owner, epoch: { [unowned self] in epoch }) { [unowned self] in post($0) }
        }
    }

    // MARK: Changes of the webhook

    /// True if an admin has changed the webhook, and no answer is awaited.
    var isDrained: Bool { isDraining && isIdle }

    private var isIdle: Bool { flights.isEmpty && push?.isIdle ?? true }

    /// Takes the webhook as it is stored.
    ///
    /// - Returns: True if an admin has changed it, so that its deliveries begin anew. While answers are awaited, they do not.
    func replaces(by new: Webhook) throws -> Bool {
        guard isDraining || new.version != webhook.version else {
            webhook.scan = new.scan
            return false
        }
        isDraining = true
        guard isIdle else { return false }
        try flush()
        end()
        return true
    }

    /// Ends the deliveries. Their answers no longer count.
    func end() {
        flights = [:]
        push?.end()
        owner.metrics.set(nil, of: webhook.id.string)
    }

    // MARK: Rooms

    /// Takes rooms that this process has changed; `nil` for any.
    func changed(_ rooms: Set<RoomID>?) {
        push?.changed(rooms)
        if let rooms, rooms.count < cursors.count {
            for room in rooms where cursors[room] != nil { queue.changed(room) }
        } else {
            for room in cursors.keys where rooms?.contains(room) ?? true { queue.changed(room) }
        }
    }

    /// Reads the next rooms that the receiver lacks.
    ///
    /// - Returns: True if there are more.
    private func poll() throws -> Bool {
        guard webhook.deliversChanges, cursors.count < Self.maximumRooms else { return false }
        let rows = try store.behind(webhook, after: place, limit: owner.roomsOfPoll)
        place = rows.count < owner.roomsOfPoll ? 0 : rows.last!.number
        for row in rows {
            if let cursor = cursors[row.id] {
                if (row.latest ?? 0 > cursor.rev && webhook.events.contains(.message)) || row.event > cursor.event
                    || (row.isDeleted && !cursor.isOver)
                {
                    queue.changed(row.id)
                }
                continue
            }
            var cursor = Cursor(number: row.number, stored: row.rev, rev: row.rev, since: row.since)
            if webhook.covers(row.id) {
                queue.changed(row.id)
            } else {
                // The patterns have changed.
                cursor.isOver = true
                note(unstored: row.id)
            }
            cursors[row.id] = cursor
        }
        return place > 0
    }

    // MARK: Delivering

    private var isPaused: Bool { !webhook.isEnabled || health.pause != nil || queue.pause != nil || push?.pause != nil }

    /// Delivers what is due.
    ///
    /// - Returns: The time when there may be more to do; `nil` if something must happen first.
    func run(polls: Bool) throws -> ContinuousClock.Instant? {
        var due: ContinuousClock.Instant?
        func wake(at time: ContinuousClock.Instant) { due = min(due ?? time, time) }
        if !isDraining, webhook.scan != nil {
            try store.scan(webhook, at: .now())
            if let found = try store.webhooks().first(where: { $0.number == webhook.number }),
                !(try replaces(by: found))
            {
                wake(at: .now)
            } else {
                owner.checkAgain()
                wake(at: .now)
            }
        }
        let delivers = !isPaused && !isDraining && epoch == store.epoch
        if let push, !isDraining, let next = try push.run(polls: polls, delivers: delivers) { wake(at: next) }
        if !isPaused, !isDraining {
            if epoch != store.epoch {
                if flights.isEmpty, nextEpochAttempt <= .now { tellEpoch() }
                if flights.isEmpty { wake(at: nextEpochAttempt) }
            } else {
                if polls || (place > 0 && queue.roomsBehind < DeliveryQueue.maximumInFlight * 2) {
                    if try poll() { wake(at: .now) }
                }
                try deliver()
                if let next = queue.nextAttempt { wake(at: next) }
            }
        }
        updateHealth()
        if let nextFlush, nextFlush <= .now || unstored.count >= Deliverer.cursorCount { try flush() }
        if let nextFlush { wake(at: nextFlush) }
        if let next = try save() { wake(at: next) }
        return due
    }

    private func deliver() throws {
        var rooms = queue.next(at: .now)
        while !rooms.isEmpty {
            for (index, room) in rooms.enumerated() {
                do {
                    try deliver(room)
                } catch {
                    // Each of them was taken, and awaits an answer.
                    for room in rooms[index...] { queue.wasUnreadable(room, at: .now, share: .random(in: 0...1)) }
                    throw error
                }
            }
            // Rooms without anything to deliver make way for others.
            rooms = queue.next(at: .now)
        }
    }

    private func deliver(_ room: RoomID) throws {
        guard let cursor = cursors[room] else { return queue.hadNothing(room) }
        let (getsMessages, getsEvents) = (webhook.events.contains(.message), webhook.getsEvents)
        var event = getsEvents ? try store.event(of: webhook.number, in: cursor.number, after: cursor.event) : nil
        if let event, !getsMessages || event.rev <= cursor.rev { return send(event, to: room, cursor) }
        var bounds = DeliveryBounds()
        if !getsMessages { bounds.messages = 0 }
        while true {
            let time = Timestamp.now()
            let until = [cursor.until, event?.rev].compactMap(\.self).min()
            switch try store.delivery(of: room, since: cursor.rev, until: until, bounds: bounds) {
            case .deleted:
                // Its messages are gone, but its events are told.
                if let event { return send(event, to: room, cursor) }
                return endRoom(room, cursor)
            case .messages(let content):
                guard getsMessages else {
                    queue.hadNothing(room)
                    return note(unstored: room)
                }
                // An event may have been stored since it was asked for, before the last of these messages.
                if getsEvents, event == nil {
                    event = try store.event(of: webhook.number, in: cursor.number, after: cursor.event)
                    if let event, event.rev < content.rev {
                        if event.rev <= cursor.rev { return send(event, to: room, cursor) }
                        continue
                    }
                }
                return send(content, hasMore: content.hasMore || event != nil, readAt: time, to: room, cursor)
            }
        }
    }

    /// Tells that a room was deleted, unless its receiver knows it or does not want to.
    private func endRoom(_ room: RoomID, _ cursor: Cursor) {
        guard !cursor.isOver, room != .server, webhook.getsDeletions else {
            queue.hadNothing(room)
            if room != .server { cursors[room]!.isOver = true }
            return note(unstored: room)
        }
        send(
            Delivery(deletionOf: room, after: cursor.rev, to: webhook.id, epoch: epoch),
            Flight(room: room, rev: cursor.rev, hasMore: false, last: nil, isDeletion: true))
    }

    private func send(_ event: PendingEvent, to room: RoomID, _ cursor: Cursor) {
        // There may be more, which the next delivery finds out.
        send(
            Delivery(event, in: room, to: webhook.id, epoch: epoch),
            Flight(room: room, rev: cursor.rev, hasMore: true, last: event.at, event: event.number))
    }

    private func send(
        _ content: DeliveredMessages, hasMore: Bool, readAt time: Timestamp, to room: RoomID, _ cursor: Cursor
    ) {
        // All changes that the receiver lacks afterwards are later than this time.
        let last = content.last ?? (hasMore ? nil : time)
        let flight = Flight(room: room, rev: content.rev, hasMore: hasMore, last: last)
        if content.count == 0 {
            // The room has changes that cannot be read at present. Without a pause this would be repeated at once.
            guard content.rev > cursor.rev || !content.hasMore else {
                return queue.wasUnreadable(room, at: .now, share: .random(in: 0...1))
            }
            queue.hadNothing(room, hasMore: hasMore)
            return received(room, flight)
        }
        cursors[room]!.until = content.rev
        send(Delivery(content, in: room, since: cursor.rev, to: webhook.id, epoch: epoch), flight)
    }

    private func tellEpoch() {
        send(
            Delivery(epoch: store.epoch, to: webhook.id),
            Flight(room: nil, rev: 0, hasMore: false, last: nil))
    }

    private func send(_ delivery: Delivery, _ flight: Flight) { flights[post(delivery)] = flight }

    /// Posts a delivery.
    ///
    /// - Returns: The number under which its answer comes.
    private func post(_ delivery: Delivery) -> Int {
        nextFlight += 1
        let number = nextFlight
        let webhookNumber = webhook.number
        owner.sender.post(
            webhook.url, headers: signer.headers(of: delivery), body: delivery.body, timeout: Self.answerTime
        ) { [post = owner.post] result in
            post { $0.answered(webhookNumber, number, result) }
        }
        return number
    }

    // MARK: Answers

    func answered(_ number: Int, _ result: Result<SenderAnswer, SenderError>) throws {
        let flight = flights.removeValue(forKey: number)
        if flight == nil, push?.awaits(number) != true { return }
        let answer: DeliveryAnswer =
            switch result {
            case .success(let answer): .status(answer.status, retryAfter: answer.retryAfter)
            case .failure: .none
            }
        count(answer)
        if case .status(200...299, _) = answer {
            (health.failingSince, epochFailures) = (nil, 0)
            if flight == nil { queue.receiverWorks() } else { push?.receiverWorks() }
        } else {
            let status: Int? = if case .status(let status, _) = answer { status } else { nil }
            health.failure = Webhook.Failure(at: .now(), status: status, detail: Self.detail(result))
            if health.failingSince == nil { health.failingSince = .now() }
        }
        guard let flight else {
            try push?.answered(number, answer)
            notePause(push?.pause)
            return
        }
        guard let room = flight.room else { return answeredEpoch(answer) }
        let isReceived = queue.answered(
            room, answer, hasMore: flight.hasMore, at: .now, share: .random(in: 0...1))
        if isReceived {
            received(room, flight)
        } else if queue.isStopped(room), let cursor = cursors[room] {
            logger.error(
                "the receiver refuses a delivery for ever, so its room waits for an admin to skip it",
                metadata: [
                    "room": "\(room)", flight.event > 0 ? "event" : "rev": "\(max(flight.event, flight.rev))",
                    "status": "\(health.failure?.status ?? 0)",
                ])
            try flush()
            try store.stop(
                cursor.number, of: webhook.number, at: flight.event > 0 ? .event(flight.event) : .rev(flight.rev))
            queue.remove(room)
            cursors[room] = nil
        }
        notePause(queue.pause)
    }

    private func notePause(_ pause: DeliveryQueue.Pause?) {
        if let pause, health.pause == nil {
            health.pause = pause == .gone ? .gone : .failing
            logger.error(
                "the webhook is paused: \(pause == .gone ? "its receiver has answered 410" : "no delivery has succeeded for five days")"
            )
        }
    }

    private func answeredEpoch(_ answer: DeliveryAnswer) {
        if case .status(200...299, _) = answer {
            epoch = store.epoch
        } else {
            epochFailures += 1
            var retryAfter: Int?
            if case .status(let status, let seconds) = answer {
                retryAfter = seconds
                if status == 410 { health.pause = .gone }
            }
            nextEpochAttempt =
                .now
                + RetryDelay.after(
                    failures: epochFailures, retryAfter: retryAfter, share: .random(in: 0...1))
        }
    }

    private func received(_ room: RoomID, _ flight: Flight) {
        guard var cursor = cursors[room] else { return }
        cursor.rev = flight.rev
        if flight.event > 0 { cursor.event = flight.event } else { cursor.until = nil }
        cursor.isOver = flight.isDeletion
        if let last = flight.last { cursor.since = max(cursor.since, last) }
        cursors[room] = cursor
        note(unstored: room)
    }

    private func note(unstored room: RoomID) {
        unstored.insert(room)
        if nextFlush == nil { nextFlush = .now + Deliverer.cursorInterval }
    }

    private func count(_ answer: DeliveryAnswer) {
        let result =
            switch answer {
            case .status(200...299, _): "ok"
            case .status(300...399, _): "3xx"
            case .status(400...499, _): "4xx"
            case .status(500...599, _): "5xx"
            case .status, .none: "none"
            }
        let counter = counters[result] ?? owner.metrics.attempts(webhook.id.string, result)
        counters[result] = counter
        counter.increment()
    }

    /// Returns one line about a failure.
    private static func detail(_ result: Result<SenderAnswer, SenderError>) -> String {
        switch result {
        case .failure(let error): return error.description
        case .success(let answer):
            let text = String(decoding: answer.body.prefix(200), as: UTF8.self)
            let line = String(
                String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
            let trimmed = line.split(separator: " ").joined(separator: " ")
            return trimmed.isEmpty ? "the receiver answered \(answer.status)" : trimmed
        }
    }

    // MARK: Storing

    /// Stores how far the receiver has come.
    func flush() throws {
        try push?.flush()
        let rooms = Array(unstored)
        if !rooms.isEmpty {
            let advances = rooms.compactMap { room in
                cursors[room].map { cursor in
                    var advance = CursorAdvance(
                        webhook: webhook.number, room: cursor.number, id: room, from: cursor.stored, to: cursor.rev,
                        since: cursor.since, isOver: cursor.isOver)
                    advance.event = cursor.event
                    (advance.isOfMessages, advance.isOfEvents) = (webhook.events.contains(.message), webhook.getsEvents)
                    return advance
                }
            }
            let results = try store.advance(advances)
            for (advance, result) in zip(advances, results) { stored(advance, result) }
        }
        unstored = []
        nextFlush = nil
    }

    private func stored(_ advance: CursorAdvance, _ result: CursorAdvance.Result) {
        let room = advance.id
        switch result {
        case .caughtUp:
            // A delivery of a later change, if there is one, has its row again.
            cursors[room]?.stored = advance.rev
            if !queue.contains(room) { cursors[room] = nil }
        case .stored:
            cursors[room]?.stored = advance.rev
            // It has changed since.
            queue.changed(room)
        case .moved:
            // An admin has moved the cursor, or another node delivers.
            isDraining = true
            owner.checkAgain()
        }
    }

    private func updateHealth() {
        let attempts = [queue.nextAttempt, push?.nextAttempt].compactMap(\.self)
        health.nextAttempt = attempts.min().map { next in
            let wait = max(.zero, ContinuousClock.now.duration(to: next))
            return Timestamp(milliseconds: Timestamp.now().milliseconds + Int64(wait.milliseconds))
        }
        if epochFailures > 0 {
            let wait = max(.zero, ContinuousClock.now.duration(to: nextEpochAttempt))
            health.nextAttempt = Timestamp(milliseconds: Timestamp.now().milliseconds + Int64(wait.milliseconds))
        }
    }

    /// Stores what deliveries have brought about, once a second at most.
    ///
    /// - Returns: The time when there is something to store; `nil` if there is nothing.
    private func save() throws -> ContinuousClock.Instant? {
        // The time of an attempt is computed with each turn, so small differences mean nothing.
        func isSame(_ a: Timestamp?, _ b: Timestamp?) -> Bool {
            guard let a, let b else { return (a == nil) == (b == nil) }
            return abs(a.milliseconds - b.milliseconds) < 1000
        }
        var new = health
        if isSame(health.nextAttempt, savedHealth.nextAttempt) { new.nextAttempt = savedHealth.nextAttempt }
        guard !isDraining, new != savedHealth || epoch != savedEpoch else { return nil }
        guard nextSave <= .now || epoch != savedEpoch || health.pause != savedHealth.pause else { return nextSave }
        try store.save(new, epoch: epoch, of: webhook.number)
        if (savedHealth.failingSince == nil) != (new.failingSince == nil) {
            if let failure = new.failure, new.failingSince != nil {
                logger.warning(
                    "deliveries fail and are tried again: \(failure.detail)",
                    metadata: failure.status.map { ["status": "\($0)"] })
            } else {
                logger.notice("deliveries succeed again")
            }
        }
        (savedHealth, savedEpoch) = (new, epoch)
        nextSave = .now + Deliverer.cursorInterval
        return nil
    }

    /// Counts what operators see.
    func count() throws {
        let backlog = try store.backlog(of: webhook.number)
        owner.metrics.set(
            WebhookMetrics.State(
                roomsBehind: backlog.rooms, roomsStopped: backlog.stopped.count, since: backlog.since,
                isPaused: isPaused),
            of: webhook.id.string)
    }
}

extension DeliveryQueue {
    /// Creates an empty queue for a webhook, whose deliveries may have failed before this process has started.
    init(_ health: Webhook.Health) {
        let failing = health.failingSince.map { Timestamp.now().milliseconds - $0.milliseconds }
        self.init(failingSince: failing.map { .now - .milliseconds(max(0, $0)) })
    }
}
