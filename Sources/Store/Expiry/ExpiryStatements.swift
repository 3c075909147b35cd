import GRDB
import Wire

/// The writer's statements for expiring messages.
///
/// Confined to its connection.
final class ExpiryStatements {
    private let selectRooms: PreparedStatement
    private let selectTime: PreparedStatement
    private let raise: PreparedStatement

    init(_ db: Database) throws {
        selectRooms = try PreparedStatement(
            """
            SELECT rooms.id, rooms.name, ifnull(expired.seq, 0) FROM rooms LEFT JOIN expired ON expired.room = rooms.id
            WHERE rooms.id > ? AND rooms.deleted = 0 ORDER BY rooms.id LIMIT ?
            """, db)
        selectTime = try PreparedStatement("SELECT created_at FROM messages WHERE id = ?", db)
        raise = try PreparedStatement(
            """
            INSERT INTO expired (room, seq) VALUES (?, ?)
            ON CONFLICT DO UPDATE SET seq = excluded.seq WHERE excluded.seq > seq
            """, db)
    }

    /// Returns the next `most` rooms after `room`, by number.
    func rooms(behind room: Int64, most: Int) throws -> [Expiry.Place] {
        try selectRooms.bind(room, at: 1)
        try selectRooms.bind(Int64(most), at: 2)
        var places: [Expiry.Place] = []
        try selectRooms.forEachRow { row in
            places.append(
                Expiry.Place(number: row.integer(0), room: RoomID(trusted: row.text(1)), mark: row.integer(2)))
        }
        return places
    }

    /// Returns true if the first message after a room's expiry mark was stored before `cutoff`. A message that only the
    /// journal has is found once it is filed, some minutes later.
    func isDue(_ place: Expiry.Place, before cutoff: Timestamp) throws -> Bool {
        try selectTime.bind(RowKey(room: place.number, place.mark).rawValue + 1, at: 1)
        return try selectTime.firstRow { $0.integer(0) < cutoff.milliseconds } ?? false
    }

    /// Stores a room's expiry mark. It never moves back.
    func raise(to seq: Int64, in room: Int64) throws {
        try raise.bind(room, at: 1)
        try raise.bind(seq, at: 2)
        try raise.run()
    }
}
