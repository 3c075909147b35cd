import CSQLite

/// The check of a file of SQLite.
extension DatabaseCheck {
    func run(
        _ source: SourceDatabase, _ findings: Findings, _ progress: @escaping (Part, Int64) -> Void
    ) throws(StoreError) {
        do {
            progress(.file, 0)
            // First, because a damaged page may keep the rest from being read.
            try source.withFile { db in
                try FileCheck(findings: findings).checkChecksums(db) { progress(.file, $0) }
            }
            let connection = try source.connect()
            defer { connection.close() }
            try connection.use { db in
                // Not a transaction that is committed: SQLite ends it after an error of reading, and what follows is then
                // read without.
                try db.execute("BEGIN DEFERRED")
                defer { if db.isInTransaction { try? db.execute("ROLLBACK") } }
                try check(db, findings, progress)
            }
        } catch let error as SQLiteError where error.isDamage {
            findings.add("the database cannot be read: \(error.message)")
        } catch {
            throw named(source.path, error)
        }
    }

    private func check(_ db: SQLiteConnection, _ findings: Findings, _ progress: @escaping (Part, Int64) -> Void) throws
    {
        let tables = FileCheck(findings: findings)
        try part(findings, "the pages") {
            try tables.checkPages(db, most: mostFindings, Interrupter({ false }, progress: { progress(.file, $0) }))
        }
        let isCurrent = try tables.checkTables(db)
        guard isCurrent else {
            try part(findings, "the rooms") {
                let (rooms, messages) = try Schema.counts(db)
                findings.count(rooms: rooms, messages: messages)
            }
            return findings.note(
                "this database has an older version, so its tables were not checked: start the server once to "
                    + "upgrade it")
        }
        try part(findings, "the messages") { try MessageCheck(db, findings).run { progress(.messages, $0) } }
        progress(.journal, 0)
        var heads: [Int64: Int64] = [:]
        try part(findings, "the journal") { heads = try JournalCheck(db, findings).run() }
        progress(.people, 0)
        try part(findings, "members, read marks and bans") { try PeopleCheck(db, findings, heads).run() }
        try part(findings, "jobs and deleted rooms") { try JobCheck(db: db, findings: findings).run() }
        // The words of damaged messages are not known.
        guard findings.report.isSound else { return }
        try part(findings, "the index for searches") { try SearchCheck(db: db, findings: findings).run() }
    }

    /// Runs one part of the check. A missing page or table ends the part and is reported.
    private func part(_ findings: Findings, _ name: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as SQLiteError where error.isDamage || error.code == SQLITE_ERROR {
            findings.add("the check of \(name) stopped: \(error.message)")
        }
    }
}
