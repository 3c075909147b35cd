import Wire

/// A table that both stores have and a copy contains: all but indexes and the state of nodes.
///
/// The list says what a copy copies, what goes with a deleted room, and what an erasure removes from each room.
struct StoredTable: Sendable {
    struct Column: Sendable {
        enum Kind: Sendable {
            case integer
            case text
            case bytes
        }

        let name: String
        let kind: Kind
        /// The expression to read; the column itself, unless its meaning differs.
        var source: String?

        var quoted: String { "\"\(name)\"" }
    }

    enum Value: Sendable, Equatable {
        case null
        case integer(Int64)
        case text(String)
        case bytes([UInt8])
    }

    let name: String
    /// The columns of the primary key, then the others.
    let columns: [Column]
    /// The number of columns of the primary key. They are integers or text, and never NULL.
    let keyCount: Int
    /// True if the database numbers new rows.
    let isNumbered: Bool
    /// True if rows of a room stay when the room is deleted: what admins decide on, erasures under way, and what waits for a
    /// receiver of webhooks.
    let outlivesRoom: Bool

    private init(
        _ name: String, key: [Column], _ others: [Column], isNumbered: Bool = false, outlivesRoom: Bool = false
    ) {
        self.name = name
        columns = key + others
        keyCount = key.count
        self.isNumbered = isNumbered
        self.outlivesRoom = outlivesRoom
    }

    private static func integers(_ names: String...) -> [Column] { names.map { Column(name: $0, kind: .integer) } }
    private static func texts(_ names: String...) -> [Column] { names.map { Column(name: $0, kind: .text) } }
    private static func bytes(_ name: String) -> [Column] { [Column(name: name, kind: .bytes)] }

    /// The tables, in the order in which they are copied. Rows that refer to others come after them.
    static let all = [
        StoredTable(
            "rooms", key: integers("id"),
            texts("name", "direct_first", "direct_second")
                + integers("private", "deleted", "bytes", "active_at", "created_at")
                + RoomManners.settings.map { Column(name: $0.column, kind: $0.kind) },
            isNumbered: true),
        StoredTable(
            "messages", key: integers("id"),
            integers("rev", "changed", "created_at") + texts("sender", "client_message_id") + bytes("body")),
        StoredTable("reactions", key: integers("message") + texts("key", "user"), integers("rev")),
        StoredTable("mentions", key: texts("user") + integers("message"), texts("sender") + integers("created_at")),
        StoredTable("pins", key: integers("message"), integers("rev") + texts("user")),
        StoredTable("first_contents", key: integers("message"), bytes("fingerprint")),
        StoredTable("read_marks", key: texts("user") + integers("room"), integers("seq", "moved_at")),
        StoredTable("slow_sends", key: texts("user") + integers("room"), integers("at")),
        StoredTable(
            "notify", key: texts("user") + integers("room"), texts("level") + integers("until", "room_mentions")),
        // Activity is kept in one of the databases only. Without it, lists of rooms look it up.
        StoredTable(
            "members", key: integers("room") + texts("user"),
            integers("owner", "engaged", "hidden")
                + [Column(name: "activity", kind: .integer, source: "\(OwnRoom.unknownActivity)")]),
        StoredTable("expired", key: integers("room"), integers("seq")),
        StoredTable(
            "bans", key: integers("room") + texts("user"),
            integers("reads", "until") + texts("reason", "set_by") + integers("created_at")),
        StoredTable(
            "reports", key: integers("id"),
            integers("room", "seq", "created_at", "closed_at") + texts("sender", "action", "closed_by") + bytes("body"),
            isNumbered: true, outlivesRoom: true),
        StoredTable(
            "reporters", key: integers("room", "seq") + texts("user"), texts("reason", "note") + integers("created_at"),
            outlivesRoom: true),
        StoredTable("blocks", key: texts("user", "blocked"), integers("created_at")),
        StoredTable("profiles", key: texts("user"), texts("name", "avatar", "data")),
        StoredTable("erasures", key: texts("user"), integers("erased", "messages")),
        StoredTable("returns", key: texts("user") + integers("room"), integers("seq", "rev"), outlivesRoom: true),
        StoredTable(
            "webhooks", key: integers("id"),
            texts("name", "url", "rooms", "events", "secrets", "epoch", "pause", "error_detail")
                + integers("version", "enabled", "created_at", "failing_since", "error_at", "error_status")
                + integers("next_attempt", "scan_room", "scan_since"),
            isNumbered: true),
        StoredTable(
            "webhook_rooms", key: integers("webhook", "room"), integers("rev", "at", "stopped"), outlivesRoom: true),
        StoredTable(
            "pushed", key: integers("webhook", "room") + texts("user"), integers("seq", "marked"), outlivesRoom: true),
        StoredTable("pushed_badges", key: integers("webhook") + texts("user"), integers("badge")),
        StoredTable(
            "push_changes", key: integers("id"), integers("webhook", "room") + texts("user"), isNumbered: true,
            outlivesRoom: true),
        StoredTable(
            "webhook_events", key: integers("id"),
            integers("webhook", "room", "rev", "at") + texts("kind", "type", "user", "by", "details"), isNumbered: true,
            outlivesRoom: true),
        StoredTable(
            "jobs", key: integers("id"), texts("kind", "user") + integers("number", "phase", "place"), isNumbered: true),
    ]

    // MARK: Rows of a room or a user

    /// The tables whose rows go with their room, without that of the messages, whose rows go last.
    static let ofRooms = all.filter { $0.roomColumn != nil && !$0.outlivesRoom }

    /// The tables with what a user has set or done in a room, besides the membership. It goes with the user.
    static let ofUsersInRooms = ofRooms.filter { $0.columns.prefix($0.keyCount).map(\.name) == ["user", "room"] }

    /// The column with the number of a row's room, or with the ``RowKey`` of its message.
    private var roomColumn: String? { columns.map(\.name).first { $0 == "room" || $0 == "message" } }

    /// Returns the condition that a row belongs to a room; the room's number is an expression.
    func isOfRoom(_ number: String) -> String {
        roomColumn == "message" ? Self.isMessage("\(name).message", of: number) : "\(name).room = \(number)"
    }

    /// Returns the condition that a column has the ``RowKey`` of a room's message, also in the last possible room.
    static func isMessage(_ column: String, of number: String) -> String {
        "\(column) > \(number) << 36 AND \(column) <= (\(number) << 36 | \(RowKey.maximumOrdinal))"
    }

    /// The statement that deletes a row of the user `$1` in the room `$2`, of a table in ``ofUsersInRooms``.
    var deletionOfUser: String { "DELETE FROM \(name) WHERE \"user\" = $1 AND room = $2" }

    /// The statement that deletes at most `$2` rows of the room `$1`.
    var deletionOfRoom: String {
        let key = columns.prefix(keyCount).map(\.quoted).joined(separator: ", ")
        return "DELETE FROM \(name) WHERE (\(key)) IN (SELECT \(key) FROM \(name) WHERE \(isOfRoom("$1")) LIMIT $2)"
    }
}
