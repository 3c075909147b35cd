/// Checks the file with SQLite's own checks, and the definitions of its tables.
struct FileCheck {
    let findings: Findings

    /// Has SQLite check every page, and every index against its table.
    func checkPages(_ db: SQLiteConnection, most: Int, _ interrupter: Interrupter) throws {
        let faults = try interrupter.watch(db, total: 0) {
            try db.all("PRAGMA integrity_check(\(max(1, most)))") { $0.text(0) }
        }
        // A fault may have several lines; the first only names the database.
        for fault in faults where fault != "ok" {
            for line in fault.split(separator: "\n") where !line.hasPrefix("*** in database") {
                findings.add(String(line))
            }
        }
    }

    /// Compares the tables and indexes with those of a new database of the same version.
    ///
    /// - Returns: true if the database has the current version.
    func checkTables(_ db: SQLiteConnection) throws -> Bool {
        let applied = try Schema.applied(db)
        let expected = try SQLiteDatabase(path: nil).use { pattern in
            if let last = applied.last { try Schema.migrate(pattern, upTo: last) }
            return try definitions(pattern)
        }
        let present = try definitions(db)
        for (name, definition) in expected.sorted(by: { $0.key < $1.key }) {
            if present[name] == nil {
                findings.add("the \(name) is missing")
            } else if present[name] != definition {
                findings.add("the \(name) differs from the schema")
            }
        }
        for name in present.keys.sorted() where expected[name] == nil {
            findings.note("the \(name) is not part of the schema")
        }
        let hasOwner = try ["epoch", "backup_of"].contains { key in
            try db.has("SELECT 1 FROM meta WHERE key = $1", key)
        }
        if !hasOwner { findings.add("the epoch is missing") }
        let hasSecret = try db.has("SELECT 1 FROM meta WHERE key = 'fingerprint_secret'")
        if !hasSecret, applied.contains(Schema.changes) {
            findings.add("the secret for fingerprints is missing; the server cannot store messages without it")
        }
        return applied == Schema.migrations.map(\.name)
    }

    /// Returns the statements that create the tables and indexes, without comments and spaces.
    private func definitions(_ db: SQLiteConnection) throws -> [String: String] {
        let rows = try db.all("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        {
            ("\($0.text(0)) \($0.text(1))", Self.words($0.text(2)))
        }
        return Dictionary(rows, uniquingKeysWith: +)
    }

    private static func words(_ sql: String) -> String {
        sql.split(separator: "\n").map { line in line.firstRange(of: "--").map { line[..<$0.lowerBound] } ?? line }
            .flatMap { $0.split(whereSeparator: \.isWhitespace) }.joined(separator: " ")
    }
}
