import GRDB
import Wire

/// Finds out where a room is: its last message has the highest `seq`, and it or the latest change the latest revision.
///
/// Confined to its connection.
final class RoomStateStatements {
    private let selectRoom: PreparedStatement
    private let selectNewest: PreparedStatement
    private let selectLatestChange: PreparedStatement

    init(_ db: Database) throws {
        selectRoom = try PreparedStatement("SELECT id FROM rooms WHERE name = ?", db)
        selectNewest = try PreparedStatement(
            "SELECT id, rev, created_at FROM messages WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT 1", db)
        selectLatestChange = try PreparedStatement(
            "SELECT changed FROM messages WHERE changed > ? AND changed <= ? ORDER BY changed DESC LIMIT 1", db)
    }

    /// A room's number; `nil` when nobody has used it.
    func number(_ id: RoomID) throws -> Int64? {
        selectRoom.bind(id.string, at: 1)
        return try selectRoom.firstRow { $0.integer(0) }
    }

    /// A room's highest `seq` and latest revision, and when its newest message was stored.
    func newest(_ room: Int64) throws -> (seq: Int64, rev: Int64, createdAt: Int64) {
        let (from, to) = (RowKey(room: room, 0).rawValue, RowKey(room: room, RowKey.maximumPlace).rawValue)
        selectNewest.bind(from, at: 1)
        selectNewest.bind(to, at: 2)
        let newest = try selectNewest.firstRow { row in
            (seq: RowKey(rawValue: row.integer(0)).place, rev: row.integer(1), createdAt: row.integer(2))
        }
        guard let newest else { return (0, 0, 0) }
        selectLatestChange.bind(from, at: 1)
        selectLatestChange.bind(to, at: 2)
        let change = try selectLatestChange.firstRow { RowKey(rawValue: $0.integer(0)).place } ?? 0
        return (newest.seq, max(newest.rev, change), newest.createdAt)
    }
}
