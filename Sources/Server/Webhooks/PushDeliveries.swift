import Chat
import CoreMetrics
import Logging
import Store
import Webhooks
import Wire

/// The push events of one webhook. Confined to the thread of ``WebhookService``.
///
/// A room's cursor says up to which revision nobody is due or waits any more. Who got what beyond it is in the database, see
/// ``PushStore``, so that a restart repeats the deliveries that were in flight at most. The badge that a push tells is stored
/// before the push is sent, so it is taken back even if the push is never confirmed. A user is in one delivery at a time, so
/// badges arrive in order.
final class PushDeliveries {
    /// The entry of the queue for lower badges. It is no id of a room.
    private static let clear = RoomID(trusted: "")
    /// Time between two looks at the connections of users who wait.
    private static let liveInterval = Duration.seconds(1)

    private struct Room {
        let number: Int64
        /// The revision in the database.
        var stored: Int64
        /// Nobody is due or waits up to this revision.
        var rev: Int64
        /// The last message sent up to this revision; `nil` if it is not known yet.
        var seq: Int64?
        /// The revision up to which deletions are known.
        var seen: Int64
        /// The time when somebody is due; `nil` if nobody waits.
        var wake: ContinuousClock.Instant?
        /// The users who wait because they have a live connection.
        var waiting: Set<UserID> = []
        /// The pass over the members of a large room; `nil` if no message mentions it.
        var pass: PushPass?
        /// True while somebody is due who is in another delivery.
        var waitsForAnswer = false
        /// True once the row in the database is to be deleted.
        var isOver = false

        var isStored: Bool { stored == rev && !isOver }
    }

    /// A delivery whose answer is awaited.
    private struct Flight {
        let room: RoomID
        let users: [UserID]
        /// The changes that are stored once the receiver has it.
        let changes: PushChanges
    }

    private let webhook: Webhook
    private unowned let owner: Deliverer
    private var store: any WebhookStore { owner.store }
    private let send: (Delivery) -> Int
    private let epoch: () -> String
    private var queue: DeliveryQueue
    private var rooms: [RoomID: Room] = [:]
    private var unstored: Set<RoomID> = []
    private var flights: [Int: Flight] = [:]
    /// The users of deliveries in flight.
    private var busy: Set<UserID> = []
    /// The changes of deliveries that were received, to be stored before the next deliveries.
    private var confirmed = PushChanges()
    private var place: Int64 = 0
    private var nextFlush: ContinuousClock.Instant?
    private var nextLiveLook = ContinuousClock.now
    private var clearWaitsForAnswer = false
    private let pushedUsers: Counter
    private let clearedUsers: Counter
    /// True until marks of an earlier run were looked for.
    private var isNew = true

    /// Creates deliveries.
    ///
    /// - Parameter send: Sends a delivery, and returns its number.
    init(
        _ webhook: Webhook, of owner: Deliverer, epoch: @escaping () -> String,
        send: @escaping (Delivery) -> Int
    ) {
        self.webhook = webhook
        self.owner = owner
        self.epoch = epoch
        self.send = send
        queue = DeliveryQueue(webhook.health)
        pushedUsers = owner.metrics.recipients(webhook.id.string, "push")
        clearedUsers = owner.metrics.recipients(webhook.id.string, "push.clear")
    }

    /// True if no answer is awaited.
    var isIdle: Bool { flights.isEmpty }
    /// The reason why nothing is delivered; `nil` if deliveries succeed, or are tried again.
    var pause: DeliveryQueue.Pause? { queue.pause }
    /// Time of the next attempt that is waited for; `nil` if there is none.
    var nextAttempt: ContinuousClock.Instant? { queue.nextAttempt }

    /// Ends the deliveries. Their answers no longer count.
    func end() { flights = [:] }

    /// Takes rooms that this process has changed; `nil` for any.
    func changed(_ changed: Set<RoomID>?) {
        for room in changed ?? Set(rooms.keys) where rooms[room] != nil { queue.changed(room) }
    }

    /// Delivers what is due.
    ///
    /// - Parameter delivers: False while the webhook is paused. What commits add is taken even then.
    /// - Returns: The time when there may be more to do; `nil` if something must happen first.
    func run(polls: Bool, delivers: Bool) throws -> ContinuousClock.Instant? {
        var due: ContinuousClock.Instant?
        func wake(at time: ContinuousClock.Instant) { due = min(due ?? time, time) }
        try storeConfirmed()
        if polls {
            let count = try store.takePushChanges(of: webhook)
            if count > 0 || isNew { queue.changed(Self.clear) }
            isNew = false
            if count > 0 { wake(at: .now) }
        }
        // Commits that only may lower badges do not wake this thread.
        wake(at: .now + Deliverer.pollInterval)
        if delivers {
            if polls || place > 0, rooms.count < WebhookDeliveries.maximumRooms {
                try poll()
                if place > 0 { wake(at: .now) }
            }
            lookAtConnections()
            try deliver()
            for room in rooms.values { if let time = room.wake { wake(at: time) } }
            if rooms.values.contains(where: { !$0.waiting.isEmpty }) { wake(at: nextLiveLook) }
            if let next = queue.nextAttempt { wake(at: next) }
        }
        if let nextFlush, nextFlush <= .now || unstored.count >= Deliverer.cursorCount { try flush() }
        if let nextFlush { wake(at: nextFlush) }
        return due
    }

    /// Reads the next rooms with changes.
    private func poll() throws {
        var cursors = webhook
        (cursors.number, cursors.scan) = (webhook.pushNumber, nil)
        let rows = try store.behind(cursors, after: place, limit: owner.roomsOfPoll)
        place = rows.count < owner.roomsOfPoll ? 0 : rows.last!.number
        for row in rows {
            if let room = rooms[row.id] {
                if row.latest ?? 0 > max(room.seen, room.rev) || (row.isDeleted && !room.isOver) {
                    queue.changed(row.id)
                }
                continue
            }
            var room = Room(number: row.number, stored: row.rev, rev: row.rev, seen: row.rev)
            if webhook.covers(row.id) {
                queue.changed(row.id)
            } else {
                // The patterns have changed.
                room.isOver = true
                note(unstored: row.id)
            }
            rooms[row.id] = room
        }
    }

    /// Makes rooms ready whose time has come, and those with a user who has gone offline.
    private func lookAtConnections() {
        let now = ContinuousClock.now
        let looks = nextLiveLook <= now
        if looks { nextLiveLook = now + Self.liveInterval }
        for (id, room) in rooms {
            let isDue = room.wake.map { $0 <= now } ?? false
            if isDue { rooms[id]!.wake = nil }
            if isDue || (looks && room.waiting.contains { !owner.pushRules.isLive($0, id) }) { queue.changed(id) }
        }
    }

    // MARK: Delivering

    private struct Prepared {
        let delivery: Delivery
        let flight: Flight
    }

    private func deliver() throws {
        var taken = queue.next(at: .now)
        while !taken.isEmpty {
            var prepared: [Prepared] = []
            do {
                var ahead = PushChanges()
                for room in taken {
                    guard let next = try room == Self.clear ? prepareClear() : preparePush(in: room) else { continue }
                    busy.formUnion(next.flight.users)
                    ahead.badgesAhead += next.flight.changes.badges
                    prepared.append(next)
                }
                try store.store(ahead, of: webhook)
            } catch {
                for next in prepared { busy.subtract(next.flight.users) }
                // Each of them was taken, and awaits an answer.
                for room in taken {
                    queue.wasUnreadable(room, at: .now, share: .random(in: 0...1))
                }
                throw error
            }
            for next in prepared { flights[send(next.delivery)] = next.flight }
            // Rooms without anything to deliver make way for others.
            taken = queue.next(at: .now)
        }
    }

    private func preparePush(in id: RoomID) throws -> Prepared? {
        guard var room = rooms[id], !room.isOver else {
            queue.hadNothing(id)
            return nil
        }
        let now = Timestamp.now()
        // Another pass finds out who still waits.
        if room.pass?.isOver(at: .now) ?? false { room.pass = nil }
        var look = owner.pushRules.largeRooms
        look.users = room.waiting.filter { !owner.pushRules.isLive($0, id) }
        room.pass?.continues(&look)
        (room.wake, room.waiting, room.waitsForAnswer) = (nil, [], false)
        guard
            let new = try store.pushFacts(
                of: id, webhook, since: room.rev, after: room.seq, seen: room.seen, look, at: now)
        else {
            // Its members are removed, and so their badges fall.
            room.isOver = true
            rooms[id] = room
            note(unstored: id)
            queue.hadNothing(id)
            return nil
        }
        if new.deleted > 0 {
            try store.markDeletion(through: new.deleted, in: room.number, of: webhook)
            queue.changed(Self.clear)
        }
        room.seen = new.seen
        let decision = PushDecision(new.facts, at: now, delay: owner.pushRules.delay) {
            owner.pushRules.isLive($0, id)
        }
        let wake = decision.next.map {
            ContinuousClock.now + .milliseconds(max(0, $0.milliseconds - now.milliseconds))
        }
        // Users who have gone offline are no longer waited for once they have got the push.
        room.pass?.waiting.subtract(Set(look.users).subtracting(decision.due.map(\.user)))
        if let page = new.page {
            if room.pass?.isComplete ?? true { room.pass = PushPass(end: new.end) }
            if decision.due.isEmpty {
                room.pass!.add(decision, wake, of: page)
                // The next page, after what else there is to do.
                room.wake = .now
                rooms[id] = room
                queue.hadNothing(id)
                return nil
            }
        } else {
            // Its messages may have been deleted.
            room.pass?.isComplete = true
        }
        var isSettled = false
        if new.page == nil {
            var open = room.pass ?? PushPass(end: 0)
            open.add(decision, wake)
            (room.wake, room.waiting) = (open.wake, open.waiting)
            let settled = open.firstOpen.map { $0 - 1 } ?? max(new.end, room.seq ?? 0)
            isSettled = settled == new.end
            if settled >= new.state.head {
                room.rev = new.seen
            } else if settled > room.seq ?? 0 {
                room.rev = max(room.rev, min(new.seen, try store.pushRevision(of: id, through: settled)))
            }
            room.seq = settled
            if let pass = room.pass {
                if pass.end <= settled { room.pass = nil }
                if pass.wake != nil, pass.waiting.isEmpty { room.wake = .now }
            }
        }
        let free = decision.due.filter { !busy.contains($0.user) }
        room.waitsForAnswer = free.count < decision.due.count
        rooms[id] = room
        // Also a room that has nothing more, so that it is forgotten.
        if !room.isStored || room.seq ?? 0 >= new.state.head { note(unstored: id) }
        guard let first = free.first, let snapshot = new.snapshots[first.seq] else {
            queue.hadNothing(id, hasMore: (isSettled && new.end < new.state.head) || new.seen < new.state.rev)
            return nil
        }
        // A delivery has one message. Those who are due for another one get the next.
        let recipients = free.filter { $0.seq == first.seq }.prefix(PushBounds.recipients)
        let states = try store.pushStates(of: recipients.map { PushPair($0.user, room.number) }, at: now)
        var (changes, users, list): (PushChanges, [UserID], [[UInt8]]) = (PushChanges(), [], [])
        for recipient in recipients {
            let pair = PushPair(recipient.user, room.number)
            // The user may have read it, or left, since.
            guard let state = states[pair], let read = state.read, read.read < recipient.seq else { continue }
            users.append(recipient.user)
            changes.badges.append((recipient.user, state.badge))
            changes.pushed.append((pair, recipient.seq))
            var members: [UInt8] = []
            members.append(member: "user", recipient.user.string)
            members.append(member: "unread", read.unread)
            if let first = read.firstUnread { members.append(member: "first_unread", first) }
            members.append(member: "unread_mentions", read.unreadMentions)
            members.append(member: "badge", state.badge)
            members.append(member: "reason", recipient.reason.rawValue)
            list.append(members)
        }
        if users.isEmpty {
            // They have read it, or left, since they were found due. Others may be due for another message.
            rooms[id]!.wake = .now + Self.liveInterval
            queue.hadNothing(id)
            return nil
        }
        let name = "\(webhook.id) push \(epoch()) \(id) \(first.seq)"
        var body: [UInt8] = []
        body.append(literal: #"{"type":"push","room":"#)
        body.append(quoted: id.string)
        body.append(literal: #","message":"#)
        body += owner.pushRules.hasContent ? snapshot : Self.ids(of: first.seq, in: id)
        body.append(literal: #","recipients":"#)
        body.append(array: list) { $1.append(object: $0) }
        body.append(member: "collapse_id", String(Delivery.id("\(epoch()) \(id) \(first.seq)").dropFirst(4)))
        body.append(member: "thread_id", id.string)
        body.append(member: "epoch", epoch())
        body.append(UInt8(ascii: "}"))
        return Prepared(
            delivery: Delivery(body, name: "\(name) \(users.map(\.string).joined(separator: " "))"),
            flight: Flight(room: id, users: users, changes: changes))
    }

    /// Returns what a message is without its content.
    private static func ids(of seq: Int64, in room: RoomID) -> [UInt8] {
        var members: [UInt8] = []
        members.append(member: "room", room.string)
        members.append(member: "seq", seq)
        var json: [UInt8] = []
        json.append(object: members)
        return json
    }

    private func prepareClear() throws -> Prepared? {
        let marked = try store.markedPushes(of: webhook, limit: PushBounds.recipients)
        let free = marked.filter { !busy.contains($0.pair.user) }
        clearWaitsForAnswer = free.count < marked.count
        guard !free.isEmpty else {
            queue.hadNothing(Self.clear)
            return nil
        }
        let now = Timestamp.now()
        let states = try store.pushStates(of: free.map(\.pair), at: now)
        var (changes, quiet, users): (PushChanges, PushChanges, [UserID]) = (PushChanges(), PushChanges(), [])
        var list: [[UInt8]] = []
        for push in free {
            guard let state = states[push.pair] else { continue }
            let isRead = state.read.map { $0.read >= push.seq || $0.unread == 0 } ?? true
            guard state.badge < push.badge || (push.seq > 0 && isRead) else {
                quiet.settled.append((push, isOver: isRead))
                continue
            }
            changes.settled.append((push, isOver: isRead))
            changes.badges.append((push.pair.user, state.badge))
            users.append(push.pair.user)
            var members: [UInt8] = []
            members.append(member: "user", push.pair.user.string)
            members.append(member: "room", push.id.string)
            members.append(member: "badge", state.badge)
            list.append(members)
        }
        try store.store(quiet, of: webhook)
        if list.isEmpty {
            queue.hadNothing(Self.clear, hasMore: marked.count == PushBounds.recipients)
            return nil
        }
        var body: [UInt8] = []
        body.append(literal: #"{"type":"push.clear","recipients":"#)
        body.append(array: list) { $1.append(object: $0) }
        body.append(member: "epoch", epoch())
        body.append(UInt8(ascii: "}"))
        // Not the same as that of an equal delivery before.
        let delivery = Delivery(body, name: "\(webhook.id) clear \(now) \(String(decoding: body, as: UTF8.self))")
        return Prepared(delivery: delivery, flight: Flight(room: Self.clear, users: users, changes: changes))
    }

    // MARK: Answers

    /// Returns true for a delivery whose answer is awaited.
    func awaits(_ number: Int) -> Bool { flights[number] != nil }

    /// Records that the receiver has taken another delivery of the webhook.
    func receiverWorks() { queue.receiverWorks() }

    /// Takes an answer.
    func answered(_ number: Int, _ answer: DeliveryAnswer) throws {
        guard let flight = flights.removeValue(forKey: number) else { return }
        busy.subtract(flight.users)
        // What else is due is found by another look.
        if queue.answered(flight.room, answer, hasMore: true, at: .now, share: .random(in: 0...1)) {
            (flight.room == Self.clear ? clearedUsers : pushedUsers).increment(by: flight.users.count)
            confirmed.add(flight.changes)
        } else if queue.isStopped(flight.room) {
            queue.remove(flight.room)
            if let room = rooms.removeValue(forKey: flight.room) {
                owner.logger.error(
                    "the receiver refuses a push for ever, so its room waits for an admin to skip it",
                    metadata: ["webhook": "\(webhook.id)", "room": "\(flight.room)"])
                try store.stop(room.number, of: webhook.pushNumber, at: .rev(max(room.seen, room.rev)))
            } else {
                // A lower badge that the receiver does not want counts as told.
                confirmed.add(flight.changes)
                queue.changed(Self.clear)
            }
        }
        if clearWaitsForAnswer { queue.changed(Self.clear) }
        for (id, room) in rooms where room.waitsForAnswer { queue.changed(id) }
    }

    // MARK: Storing

    private func storeConfirmed() throws {
        try store.store(confirmed, of: webhook)
        confirmed = PushChanges()
    }

    private func note(unstored room: RoomID) {
        unstored.insert(room)
        if nextFlush == nil { nextFlush = .now + Deliverer.cursorInterval }
    }

    /// Stores what receivers have.
    func flush() throws {
        try storeConfirmed()
        let advances = unstored.compactMap { id in
            rooms[id].map { room in
                CursorAdvance(
                    webhook: webhook.pushNumber, room: room.number, id: id, from: room.stored, to: room.rev,
                    since: .now(), isOver: room.isOver)
            }
        }
        for (advance, result) in zip(advances, try store.advance(advances)) {
            switch result {
            case .caughtUp:
                if queue.contains(advance.id) {
                    rooms[advance.id]?.stored = advance.rev
                } else {
                    rooms[advance.id] = nil
                }
            case .stored:
                rooms[advance.id]?.stored = advance.rev
                // It may have changed since.
                if rooms[advance.id]?.wake == nil { queue.changed(advance.id) }
            case .moved:
                // An admin has moved the cursor, or another node delivers. The room is read again.
                if !queue.contains(advance.id) { rooms[advance.id] = nil }
            }
        }
        unstored = []
        nextFlush = nil
    }
}
