import Chat
import Wire

/// The writer's statements that keep the totals of rooms.
///
/// Confined to its connection.
final class TotalStatements {
    private let add: PreparedStatement
    private let change: PreparedStatement

    init(_ db: Connection) throws {
        add = try PreparedStatement("UPDATE rooms SET bytes = bytes + ?, active_at = ? WHERE id = ?", db)
        change = try PreparedStatement("UPDATE rooms SET bytes = bytes + ? WHERE id = ?", db)
    }

    /// Adds filed messages to the totals, with one update for each run of messages of the same room.
    func filed(_ messages: [RecentMessage]) throws {
        var rest = messages[...]
        while var last = rest.first {
            var bytes = 0
            while let next = rest.first, next.roomNumber == last.roomNumber {
                bytes += next.body.count
                last = next
                rest.removeFirst()
            }
            try add.bind(Int64(bytes), at: 1)
            try add.bind(last.createdAt.milliseconds, at: 2)
            try add.bind(last.roomNumber, at: 3)
            try add.run()
        }
    }

    /// Adds to a room's bytes the difference between a new snapshot and the one that it replaces.
    func changed(by bytes: Int, in room: Int64) throws {
        if bytes == 0 { return }
        try change.bind(Int64(bytes), at: 1)
        try change.bind(room, at: 2)
        try change.run()
    }
}
