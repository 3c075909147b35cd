import Chat
import GRDB
import Wire

/// Expiring messages, on the writer's thread.
extension LogWriter {
    /// Performs one step of expiry. A failure does not mean that sends fail, so it does not change the health of the
    /// log.
    func expire(_ expiry: inout Expiry, _ state: inout WriterState, _ jobs: inout Jobs) {
        let cutoff = configuration.oldest(at: configuration.clock())
        var asked: Int64?
        do {
            let statements = try state.prepared().expiry
            let rooms = try statements.rooms(behind: expiry.room, most: expiry.mostRooms)
            asked = rooms.last?.number
            let places = try rooms.filter { try statements.isDue($0, before: cutoff) }
            var step = Expiry.Step(lastRoom: rooms.count < expiry.mostRooms ? nil : asked)
            if !places.isEmpty {
                let done = try state.transact { commit in
                    var rest = expiry.mostMessages
                    for place in places {
                        let (looked, expired) = try commit.expire(place, before: cutoff, most: rest)
                        step.expired += expired
                        rest -= looked
                        guard rest == 0 else { continue }
                        // The next step continues with the next room; the next round returns to this one.
                        step.hasMore = true
                        if place.number != places.last?.number { step.lastRoom = place.number }
                        break
                    }
                }
                add(done.jobs, to: &jobs)
                if step.expired > 0 {
                    configuration.onExpiry?(.expired(step.expired))
                    observer.committed([], done.batches)
                }
            }
            if let count = expiry.made(step, at: .now) { configuration.onExpiry?(.passOver(count)) }
        } catch {
            if expiry.failed(asked, at: .now) { configuration.onExpiry?(.failed("\(error)")) }
        }
    }
}

extension StoreConfiguration {
    /// The bounds of expiry; `nil` if messages do not expire.
    var expiryLimits: Expiry.Limits? {
        keepDays.map { _ in
            Expiry.Limits(
                messages: max(1, commit.expiredMessages), rooms: max(1, expiryRooms), pause: .milliseconds(expiryPause),
                interval: .milliseconds(expiryInterval))
        }
    }

    /// The storage time of the oldest message to keep.
    fileprivate func oldest(at now: Timestamp) -> Timestamp {
        Timestamp(milliseconds: now.milliseconds - Int64(keepDays ?? 0) * 86_400_000)
    }
}
