import Chat
import Wire

/// Expiring old messages.
extension Commit {
    /// Turns a room's messages stored before `cutoff` into tombstones, oldest first, as a deletion does. Each takes a
    /// revision, and the room's subscribers see it.
    ///
    /// - Parameter most: maximum number of messages to examine, including tombstones.
    /// - Returns: the number of messages examined, and the number of these that expired.
    mutating func expire(
        _ place: Expiry.Place, before cutoff: Timestamp, most: Int
    ) throws -> (looked: Int, expired: Int) {
        guard !aside.contains(place.room), let room = try room(place.room) else { return (0, 0) }
        try file(place.room, room)
        var (seq, expired) = (place.mark, 0)
        while seq < room.head, seq - place.mark < most {
            let key = RowKey(room: room.number, seq + 1)
            guard let room = rooms[place.room], room.rev < RowKey.maximumPlace,
                let body = try statements.changes.message(key)
            else { break }
            // A message that cannot be read is skipped, so that those after it still expire.
            if let message = try? Message(decoding: body) {
                guard message.createdAt < cutoff else { break }
                if !message.deleted {
                    var next = try tombstone(of: message, at: key)
                    next.rev = room.rev + 1
                    _ = try store(next, replacing: body, at: key, in: place.room, room)
                    expired += 1
                }
            }
            seq += 1
        }
        if seq > place.mark { try statements.expiry.raise(to: seq, in: room.number) }
        return (Int(seq - place.mark), expired)
    }
}
