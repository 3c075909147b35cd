import GRDB

/// Checks the file with SQLite's own checks, and the definitions of its tables.
struct FileCheck {
    let findings: Findings

    /// Has SQLite check every page, and every index against its table.
    func checkPages(_ db: Database, most: Int, _ interrupter: Interrupter) throws {
        let faults = try interrupter.watch(db, total: 0) {
            try String.fetchAll(db, sql: "PRAGMA integrity_check(\(max(1, most)))")
        }
        // A fault may have several lines; the first only names the database.
        for fault in faults where fault != "ok" {
            for line in fault.split(separator: "\n") where !line.hasPrefix("*** in database") {
                findings.add(String(line))
            }
        }
        for row in try Row.fetchAll(db, sql: "PRAGMA foreign_key_check") {
            findings.add("a row of the table \(row[0] as String) refers to a missing row of \(row[2] as String)")
        }
    }

    /// Compares the tables and indexes with those of a new database of the same version.
    ///
    /// - Returns: true if the database has the current version.
    func checkTables(_ db: Database) throws -> Bool {
        let migrator = Schema.migrator
        let applied = try migrator.appliedMigrations(db)
        let pattern = try DatabaseQueue()
        if let last = applied.last { try migrator.migrate(pattern, upTo: last) }
        let expected = try pattern.read(definitions)
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
            try Bool.fetchOne(db, sql: "SELECT count(*) FROM meta WHERE key = ?", arguments: [key]) == true
        }
        if !hasOwner { findings.add("the epoch is missing") }
        let hasSecret = try Bool.fetchOne(db, sql: "SELECT count(*) FROM meta WHERE key = 'fingerprint_secret'")
        if hasSecret != true, applied.contains(Schema.changes) {
            findings.add("the secret for fingerprints is missing; the server cannot store messages without it")
        }
        return applied == migrator.migrations
    }

    /// Returns the statements that create the tables and indexes, without comments and spaces.
    private func definitions(_ db: Database) throws -> [String: String] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        return Dictionary(
            rows.map { row in ("\(row[0] as String) \(row[1] as String)", Self.words(row[2] ?? "")) },
            uniquingKeysWith: +)
    }

    private static func words(_ sql: String) -> String {
        sql.split(separator: "\n").map { line in line.firstRange(of: "--").map { line[..<$0.lowerBound] } ?? line }
            .flatMap { $0.split(whereSeparator: \.isWhitespace) }.joined(separator: " ")
    }
}
