/// Checks that a database in PostgreSQL has the tables and indexes of ``PostgresSchema``, and what nodes need to start.
struct SchemaCheck {
    let connection: PostgresConnection
    let findings: Findings

    /// Checks that the tables have the current version. Those of an older one are not checked.
    ///
    /// - Returns: False for an older version.
    /// - Throws: ``StoreError`` if it is not a database of Backscroll, or one of a newer version.
    func checkVersion() throws -> Bool {
        guard try text("SELECT to_regclass('meta')::text") != nil else {
            throw StoreError.postgres("it is not a database of Backscroll")
        }
        let version = Int(try text("SELECT value FROM meta WHERE key = 'version'") ?? "0") ?? 0
        guard version <= PostgresSchema.version else {
            throw StoreError.postgres(
                "it was written by a newer version of Backscroll, with tables of version \(version)")
        }
        guard version < PostgresSchema.version else { return true }
        findings.note(
            "this database has an older version, so its tables were not checked: start the server once to upgrade it")
        return false
    }

    func run() throws {
        for (kind, name) in PostgresSchema.relations where try text("SELECT to_regclass('\(name)')::text") == nil {
            findings.add("the \(kind) \(name) is missing")
        }
        if try text("SELECT to_regprocedure('\(SendFunction.signature)')::text") == nil {
            findings.add("the function backscroll_send is missing")
        }
        let invalid = """
            SELECT relname::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
            WHERE relnamespace = current_schema()::regnamespace AND NOT (indisvalid AND indisready) ORDER BY relname
            """
        try each(invalid) { findings.add("the index \($0) is not valid: rebuild it with REINDEX") }
        if try text("SELECT value FROM meta WHERE key = 'epoch'") == nil { findings.add("the epoch is missing") }
        if try text("SELECT value FROM meta WHERE key = 'fingerprint_secret'") == nil {
            findings.add("the secret for fingerprints is missing; the server cannot store messages without it")
        }
        // Nodes read events in the order of their ids, and wait for each.
        guard try text("SELECT to_regclass('server')::text || to_regclass('events')::text") != nil else { return }
        guard let last = try text("SELECT events::text FROM server") else {
            return findings.add("the row of the table server is missing; nodes cannot start without it")
        }
        try each("SELECT id::text FROM events WHERE id > \(last) ORDER BY id") {
            findings.add("there is an event \($0), but the last one is \(last)")
        }
    }

    private func text(_ sql: String) throws -> String? {
        let result = try connection.run(sql)
        return result.count > 0 && !result.isNull(0, 0) ? result.text(0, 0) : nil
    }

    private func each(_ sql: String, _ body: (String) -> Void) throws {
        let result = try connection.run(sql)
        for row in 0..<result.count { body(result.text(row, 0)) }
    }
}

extension PostgresSchema {
    /// The names of the tables and indexes, with those of the indexes that PostgreSQL creates for keys.
    static var relations: [(kind: String, name: String)] {
        var relations: [(kind: String, name: String)] = []
        for statement in statements {
            let words = statement.split { $0.isWhitespace || $0 == "(" }.prefix(4).map(String.init)
            if words.count > 2, words[0] == "DROP" { relations.removeAll { $0.name == words[2] } }
            guard words.count > 2, words[0] == "CREATE", !["FUNCTION", "OR", "TRIGGER"].contains(words[1]) else {
                continue
            }
            let hasOption = words[1] == "UNIQUE" || words[1] == "UNLOGGED"
            let name = words[hasOption ? 3 : 2]
            let isTable = words[hasOption ? 2 : 1] == "TABLE"
            relations.append((isTable ? "table" : "index", name))
            if isTable { relations.append(("index", name + "_pkey")) }
        }
        return relations + [
            ("index", "rooms_name_key"), ("index", "webhooks_name_key"), ("table", "meta"), ("index", "meta_pkey"),
        ]
    }
}

/// Checks that each room's row agrees with the room's messages. Only PostgreSQL has these columns.
struct ProgressCheck {
    private let findings: Findings
    private let select: PostgresStatement

    init(_ db: PostgresConnection, _ findings: Findings) {
        self.findings = findings
        func last(_ column: String, by order: String) -> String {
            """
            coalesce((SELECT \(column) FROM messages WHERE \(StoredTable.isMessage(order, of: "rooms.id"))
                ORDER BY \(order) DESC LIMIT 1), 0)
            """
        }
        select = db.prepare(
            """
            SELECT name, head, rev, active_at, \(last("id", by: "id")), \(last("rev", by: "id")),
                \(last("created_at", by: "id")), \(last("changed", by: "changed"))
            FROM rooms WHERE deleted = 0 ORDER BY id
            """, isLong: true)
    }

    func run() throws {
        try select.forEachRow { row in
            let changed = RowKey(rawValue: row.integer(7)).ordinal
            let numbers = [
                ("the highest seq", row.integer(1), RowKey(rawValue: row.integer(4)).ordinal),
                ("the latest revision", row.integer(2), max(row.integer(5), changed)),
                ("the time of the newest message", row.integer(3), row.integer(6)),
            ]
            for (name, found, messages) in numbers where found != messages {
                findings.add(
                    "\(name) is \(found) in the room's row, but \(messages) in its messages", room: row.text(0))
            }
        }
    }
}
