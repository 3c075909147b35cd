import Wire

/// A table whose rows a ``DatabaseCopy`` copies. The two databases have the same tables.
struct CopiedTable: Sendable {
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
    var isNumbered = false

    private init(_ name: String, key: [Column], _ others: [Column], isNumbered: Bool = false) {
        self.name = name
        columns = key + others
        keyCount = key.count
        self.isNumbered = isNumbered
    }

    private static func integers(_ names: String...) -> [Column] { names.map { Column(name: $0, kind: .integer) } }
    private static func texts(_ names: String...) -> [Column] { names.map { Column(name: $0, kind: .text) } }
    private static func bytes(_ name: String) -> [Column] { [Column(name: name, kind: .bytes)] }

    /// The tables, in the order in which they are copied.
    static let all = [
        CopiedTable(
            "rooms", key: integers("id"),
            texts("name", "direct_first", "direct_second")
                + integers("private", "deleted", "bytes", "active_at", "created_at")
                + RoomManners.settings.map { Column(name: $0.column, kind: $0.kind) },
            isNumbered: true),
        CopiedTable(
            "messages", key: integers("id"),
            integers("rev", "changed", "created_at") + texts("sender", "client_message_id") + bytes("body")),
        CopiedTable("reactions", key: integers("message") + texts("key", "user"), integers("rev")),
        CopiedTable("mentions", key: texts("user") + integers("message"), texts("sender") + integers("created_at")),
        CopiedTable("pins", key: integers("message"), integers("rev") + texts("user")),
        CopiedTable("first_contents", key: integers("message"), bytes("fingerprint")),
        CopiedTable("read_marks", key: texts("user") + integers("room"), integers("seq", "moved_at")),
        CopiedTable("slow_sends", key: texts("user") + integers("room"), integers("at")),
        CopiedTable(
            "notify", key: texts("user") + integers("room"), texts("level") + integers("until", "room_mentions")),
        // Activity is kept in one of the databases only. Without it, lists of rooms look it up.
        CopiedTable(
            "members", key: integers("room") + texts("user"),
            integers("owner", "engaged", "hidden")
                + [Column(name: "activity", kind: .integer, source: "\(OwnRoom.unknownActivity)")]),
        CopiedTable("expired", key: integers("room"), integers("seq")),
        CopiedTable(
            "bans", key: integers("room") + texts("user"),
            integers("reads", "until") + texts("reason", "set_by") + integers("created_at")),
        CopiedTable(
            "reports", key: integers("id"),
            integers("room", "seq", "created_at", "closed_at") + texts("sender", "action", "closed_by") + bytes("body"),
            isNumbered: true),
        CopiedTable(
            "reporters", key: integers("room", "seq") + texts("user"), texts("reason", "note") + integers("created_at")),
        CopiedTable("blocks", key: texts("user", "blocked"), integers("created_at")),
        CopiedTable("profiles", key: texts("user"), texts("name", "avatar", "data")),
        CopiedTable("erasures", key: texts("user"), integers("erased", "messages")),
        CopiedTable("returns", key: texts("user") + integers("room"), integers("seq", "rev")),
        CopiedTable(
            "webhooks", key: integers("id"),
            texts("name", "url", "rooms", "events", "secrets", "epoch", "pause", "error_detail")
                + integers("version", "enabled", "created_at", "failing_since", "error_at", "error_status")
                + integers("next_attempt", "scan_room", "scan_since"),
            isNumbered: true),
        CopiedTable("webhook_rooms", key: integers("webhook", "room"), integers("rev", "at", "stopped")),
        CopiedTable("pushed", key: integers("webhook", "room") + texts("user"), integers("seq", "marked")),
        CopiedTable("pushed_badges", key: integers("webhook") + texts("user"), integers("badge")),
        CopiedTable("push_changes", key: integers("id"), integers("webhook", "room") + texts("user"), isNumbered: true),
        CopiedTable(
            "webhook_events", key: integers("id"),
            integers("webhook", "room", "rev", "at") + texts("kind", "type", "user", "by", "details"), isNumbered: true),
        CopiedTable(
            "jobs", key: integers("id"), texts("kind", "user") + integers("number", "phase", "place"), isNumbered: true),
    ]

    // MARK: Statements

    /// Returns the statement that reads up to `limit` rows, after a key or from the first row on.
    func select(after hasPlace: Bool, limit: Int) -> String {
        let key = columns.prefix(keyCount).map(\.quoted).joined(separator: ", ")
        let marks = (1...keyCount).map { "$\($0)" }.joined(separator: ", ")
        return "SELECT \(columns.map { $0.source ?? $0.quoted }.joined(separator: ", ")) FROM \(name)"
            + (hasPlace ? " WHERE (\(key)) > (\(marks))" : "") + " ORDER BY \(key) LIMIT \(limit)"
    }

    /// Returns the statement that inserts a row.
    ///
    /// - Parameter overriding: The words by which a numbered row keeps its number.
    func insert(overriding: String) -> String {
        let names = columns.map(\.quoted).joined(separator: ", ")
        let marks = (1...columns.count).map { "$\($0)" }.joined(separator: ", ")
        let overriding = isNumbered ? overriding : ""
        return "INSERT INTO \(name) (\(names))\(overriding) VALUES (\(marks))"
    }

    /// Returns the values of a row that ``select(after:limit:)`` has selected.
    func values(of row: some SQLStatement) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(columns.count)
        for (index, column) in columns.enumerated() {
            let index = Int32(index)
            if row.isNull(index) {
                values.append(.null)
                continue
            }
            switch column.kind {
            case .integer: values.append(.integer(row.integer(index)))
            case .text: values.append(.text(row.text(index)))
            case .bytes: values.append(.bytes(row.bytes(index)))
            }
        }
        return values
    }

    // MARK: Progress

    /// Returns the text of a row's key, to store.
    func text(ofKey values: ArraySlice<Value>) -> String {
        values.map { value in
            switch value {
            case .integer(let integer): "\(integer)"
            case .text(let text): text
            case .null, .bytes: ""
            }
        }.joined(separator: "\t")
    }

    /// Reads a stored key. No part of a key contains a tab.
    func key(_ text: String) -> [Value] {
        zip(columns.prefix(keyCount), text.split(separator: "\t", omittingEmptySubsequences: false)).map {
            $0.kind == .integer ? .integer(Int64($1) ?? 0) : .text(String($1))
        }
    }
}

extension SQLStatement {
    /// Binds values, from the first parameter on.
    func bind(_ values: some Sequence<CopiedTable.Value>) throws {
        var index: Int32 = 1
        for value in values {
            switch value {
            case .null: try bindNull(at: index)
            case .integer(let integer): try bind(integer, at: index)
            case .text(let text): try bind(text, at: index)
            case .bytes(let bytes): try bind(bytes, at: index)
            }
            index += 1
        }
    }
}
