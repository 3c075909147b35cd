import Chat
import Wire

/// The schedule of message expiry: when the next step is due, and which rooms it examines.
///
/// The times of a room's messages never decrease as `seq` grows, so its oldest messages expire first. The first message
/// after the room's expiry mark shows if any are due. This avoids an index on times, which every send would have to
/// maintain.
///
/// A round examines every room, a bounded number in each step, and expires a bounded number of messages. Rounds repeat
/// until one finds nothing.
///
/// Each step is a small commit, and steps are paced: subscribers are told of every message that expires, and sends wait
/// for the commit.
///
/// A plain value. The caller performs the steps and reports their results.
struct Expiry {
    /// The bounds of a step, and the pauses between steps.
    struct Limits {
        /// Maximum number of messages examined in one step.
        var messages: Int
        /// Maximum number of rooms examined in one step.
        var rooms: Int
        /// The pause between two steps.
        var pause: Duration
        /// The pause before the next round after one that found nothing.
        var interval: Duration
    }

    /// A room, with its expiry mark.
    struct Room {
        /// The room's number in the database.
        let number: Int64
        let room: RoomID
        /// The `seq` up to which its messages have expired.
        let mark: Int64
        /// The number of days for which the room keeps messages; `nil` for the server's.
        let keepDays: Int64?
        /// The time of the message after the mark; `nil` if there is none, or if the store looks it up apart.
        let oldest: Int64?

        /// Returns the storage time of the oldest message to keep: the shorter of the room's and the server's number of
        /// days counts.
        ///
        /// - Returns: `nil` if all are kept.
        func cutoff(_ time: KeepTime) -> Timestamp? {
            guard let days = [keepDays, time.days].compactMap(\.self).min() else { return nil }
            return Timestamp(milliseconds: time.now.milliseconds - days * 86_400_000)
        }
    }

    /// The present time, and the number of days for which the server keeps messages; `nil` for ever.
    struct KeepTime {
        var now: Timestamp
        var days: Int64?
    }

    /// The result of a step.
    struct Step {
        /// The last room completed; `nil` if the round has no rooms left.
        var lastRoom: Int64?
        /// The number of messages that expired.
        var expired = 0
        /// True if a room may have more expired messages.
        var hasMore = false
    }

    /// The time when the next step is due.
    private(set) var next: ContinuousClock.Instant
    /// The number of the room after which the next step continues.
    private(set) var room: Int64 = 0
    private let limits: Limits
    /// The room number up to which each step examines one room.
    private var cautiousUntil: Int64 = 0
    private var hasMore = false
    /// The number of messages that expired since a round last found none.
    private var expired = 0

    /// Schedules the first step at `now`.
    init(_ limits: Limits, at now: ContinuousClock.Instant) {
        self.limits = limits
        next = now
    }

    /// Maximum number of messages that the next step examines.
    var mostMessages: Int { limits.messages }

    /// Maximum number of rooms that the next step examines.
    var mostRooms: Int { room < cautiousUntil ? 1 : limits.rooms }

    /// Records a completed step.
    ///
    /// - Returns: when a round has found nothing, the number of messages that expired in the rounds before it; `nil`
    ///   otherwise, or if there were none.
    mutating func made(_ step: Step, at now: ContinuousClock.Instant) -> Int? {
        next = now + limits.pause
        expired += step.expired
        hasMore = hasMore || step.hasMore
        if let lastRoom = step.lastRoom {
            room = lastRoom
            return nil
        }
        let isPassOver = !hasMore
        (room, hasMore, cautiousUntil) = (0, false, 0)
        guard isPassOver else { return nil }
        next = now + limits.interval
        defer { expired = 0 }
        return expired > 0 ? expired : nil
    }

    /// Records a failed step, whose changes were rolled back. Its rooms are then examined one by one, so that a room
    /// whose messages cannot be changed does not keep others from expiring.
    ///
    /// - Parameter lastRoom: the last room examined; `nil` if none could be.
    /// - Returns: true for the first failure of a round, which is worth reporting.
    mutating func failed(_ lastRoom: Int64?, at now: ContinuousClock.Instant) -> Bool {
        next = now + limits.pause
        guard let lastRoom else {
            next = now + limits.interval
            return true
        }
        guard room >= cautiousUntil else {
            room = lastRoom
            return false
        }
        cautiousUntil = lastRoom
        return true
    }
}

/// Expiring messages, on the writer's thread.
extension CommitMaker {
    /// Performs one step of expiry. A failure does not mean that sends fail, so it does not change the health of the
    /// log.
    mutating func expire(_ reports: WriterReports) {
        let expiry = expiry
        var asked: Int64?
        do {
            let keepTime = try keepTime()
            let rooms = try expiryRooms(after: expiry.room, most: expiry.mostRooms, ofAll: keepTime.days != nil)
            asked = rooms.last?.number
            let due = try rooms.compactMap { room -> (room: Expiry.Room, cutoff: Timestamp)? in
                guard let cutoff = room.cutoff(keepTime), try isDue(room, before: cutoff) else { return nil }
                return (room, cutoff)
            }
            var step = Expiry.Step(lastRoom: rooms.count < expiry.mostRooms ? nil : asked)
            if !due.isEmpty {
                let done = try transact { commit in
                    var rest = expiry.mostMessages
                    for (room, cutoff) in due {
                        let (looked, expired) = try commit.expire(room, before: cutoff, most: rest)
                        step.expired += expired
                        rest -= looked
                        guard rest == 0 else { continue }
                        // The next step continues with the next room; the next round returns to this one.
                        step.hasMore = true
                        if room.number != due.last?.room.number { step.lastRoom = room.number }
                        break
                    }
                }
                if step.expired > 0 {
                    configuration.onExpiry?(.expired(step.expired))
                    reports.tell(done)
                }
            }
            if let count = self.expiry.made(step, at: .now) { configuration.onExpiry?(.passOver(count)) }
        } catch {
            if self.expiry.failed(asked, at: .now) { configuration.onExpiry?(.failed("\(error)")) }
        }
    }
}

extension StoreConfiguration {
    /// The bounds of expiry.
    var expiryLimits: Expiry.Limits {
        Expiry.Limits(
            messages: max(1, commit.expiredMessages), rooms: max(1, expiryRooms), pause: .milliseconds(expiryPause),
            interval: .milliseconds(expiryInterval))
    }
}

/// Expiring old messages.
extension Commit {
    /// Turns a room's messages stored before `cutoff` into tombstones, oldest first, as a deletion does. Each takes a
    /// revision, and the room's subscribers see it.
    ///
    /// - Parameter most: maximum number of messages to examine, including tombstones.
    /// - Returns: the number of messages examined, and the number of these that expired.
    mutating func expire(
        _ due: Expiry.Room, before cutoff: Timestamp, most: Int
    ) throws -> (looked: Int, expired: Int) {
        guard store.refusal(of: due.room) == nil, var room = try room(due.room) else { return (0, 0) }
        try store.file(due.room, room)
        var (seq, expired, bytes) = (due.mark, 0, 0)
        let end = min(room.head, due.mark + Int64(most))
        for (key, body) in try db.messages(after: due.mark, upTo: end, in: room.number) {
            guard key.ordinal == seq + 1 else { break }
            // A message that cannot be read is skipped, so that those after it still expire.
            if let message = try? Message(decoding: body) {
                guard message.createdAt < cutoff else { break }
                if !message.deleted {
                    guard let decision = Decision(expiring: message, body, in: room.facts) else { break }
                    for write in decision.writes {
                        if case .replace(let message) = write {
                            bytes += try replace(message, in: due.room, &room)
                        } else {
                            try applyToRows(write, in: due.room, room.number)
                        }
                    }
                    expired += 1
                }
            }
            seq += 1
        }
        try db.addBytes(bytes, to: room.number)
        if seq > due.mark { try db.raiseExpired(to: seq, in: room.number) }
        return (Int(seq - due.mark), expired)
    }
}

/// Statements for expiring messages.
extension SQLDatabase {
    /// Returns a room's filed messages after one `seq` and up to another, in order.
    func messages(after seq: Int64, upTo end: Int64, in room: Int64) throws -> [(key: RowKey, body: [UInt8])] {
        try all(
            "SELECT id, body FROM messages WHERE id > $1 AND id <= $2 ORDER BY id", RowKey(room: room, seq),
            RowKey(room: room, end)
        ) { (RowKey(rawValue: $0.integer(0)), $0.bytes(1)) }
    }

    /// Stores a room's expiry mark. It never moves back.
    func raiseExpired(to seq: Int64, in room: Int64) throws {
        try runSoon(
            """
            INSERT INTO expired (room, seq) VALUES ($1, $2)
            ON CONFLICT (room) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > expired.seq
            """, room, seq)
    }
}
