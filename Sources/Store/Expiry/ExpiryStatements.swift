import GRDB
import Wire

/// The writer's statements about messages that expire.
///
/// Confined to its connection.
final class ExpiryStatements {
    private let selectRooms: PreparedStatement
    private let raise: PreparedStatement

    init(_ db: Database) throws {
        selectRooms = try PreparedStatement(Self.rooms, db)
        raise = try PreparedStatement(
            """
            INSERT INTO expired (room, seq) VALUES (?, ?)
            ON CONFLICT DO UPDATE SET seq = excluded.seq WHERE excluded.seq > seq
            """, db)
    }

    /// Rooms in the order of their numbers, with the time of the first message of each that has not expired. Each is found
    /// by its number, and so is its message.
    static let rooms = """
        SELECT rooms.id, rooms.name, ifnull(expired.seq, 0),
            (SELECT created_at FROM messages WHERE messages.id = (rooms.id << 36) + ifnull(expired.seq, 0) + 1)
        FROM rooms LEFT JOIN expired ON expired.room = rooms.id
        WHERE rooms.id > ? AND rooms.deleted = 0 ORDER BY rooms.id LIMIT ?
        """

    /// The rooms that have messages from before `cutoff` which have not expired, of the next `most` rooms behind `room`.
    ///
    /// - Returns: also the last room that was asked; `nil` when these are the last ones.
    func due(behind room: Int64, before cutoff: Timestamp, most: Int) throws -> (places: [Expiry.Place], last: Int64?) {
        try selectRooms.bind(room, at: 1)
        try selectRooms.bind(Int64(most), at: 2)
        var places: [Expiry.Place] = []
        var (count, last) = (0, room)
        try selectRooms.forEachRow { row in
            count += 1
            last = row.integer(0)
            // There is none in its place. One in the journal only is found when it is in its place, in some minutes.
            guard !row.isNull(3), row.integer(3) < cutoff.milliseconds else { return }
            let name = row.text(1)
            places.append(Expiry.Place(number: last, room: RoomID(trusted: name), mark: row.integer(2)))
        }
        return (places, count < most ? nil : last)
    }

    /// Remembers up to where the messages of a room have expired. It never moves back.
    func raise(to seq: Int64, in room: Int64) throws {
        try raise.bind(room, at: 1)
        try raise.bind(seq, at: 2)
        try raise.run()
    }
}
