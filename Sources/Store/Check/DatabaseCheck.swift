import CSQLite

/// Checks a database: the pages of an SQLite file, the definitions of the tables, and that their rows agree.
///
/// The check reads one snapshot. It reads each table once, row by row in the order of its keys. In memory it keeps one
/// message at a time, and the state of each room that has messages in the journal. A server may have the database open;
/// its write-ahead log grows by what is written during the check.
public struct DatabaseCheck: Sendable {
    /// A part of the check.
    public enum Part: String, Sendable {
        /// The file, checked by SQLite itself. Not with PostgreSQL.
        case file
        /// The rooms and their messages.
        case messages
        /// The messages that are not filed yet. None with PostgreSQL.
        case journal
        /// The members and read marks.
        case people
    }

    private let source: Source
    private let mostFindings: Int

    private enum Source {
        case file(VisitedDatabase)
        case postgres(String)
    }

    /// Default of the number of damages that are kept.
    public static let defaultFindings = 20

    /// Prepares a check of a database. Keeps the first `mostFindings` damages.
    ///
    /// - Throws: ``StoreError`` if there is no readable file.
    public init(_ database: DatabaseLocation, mostFindings: Int = Self.defaultFindings) throws(StoreError) {
        source =
            switch database {
            case .file(let path): .file(try VisitedDatabase(path))
            case .postgres(let url): .postgres(url)
            }
        self.mostFindings = mostFindings
    }

    /// Runs the check.
    ///
    /// - Parameter progress: called from time to time with the part being checked and the number of messages checked so
    ///   far.
    /// - Throws: ``StoreError`` if it is not a database of Backscroll, or one of a newer version, or if PostgreSQL
    ///   cannot be reached. Damages are reported, not thrown.
    public func run(progress: @escaping (Part, Int64) -> Void = { _, _ in }) throws(StoreError) -> CheckReport {
        let findings = Findings(most: mostFindings)
        switch source {
        case .file(let file): try run(file, findings, progress)
        case .postgres(let url): try run(url, findings, progress)
        }
        return findings.report
    }

    // MARK: SQLite

    private func run(
        _ source: VisitedDatabase, _ findings: Findings, _ progress: @escaping (Part, Int64) -> Void
    ) throws(StoreError) {
        do {
            let connection = try source.connect()
            defer { connection.close() }
            try connection.use { db in
                try db.transaction(.deferred) { try check($0, findings, progress) }
            }
        } catch let error as SQLiteError where error.isDamage {
            findings.add("the database cannot be read: \(error.message)")
        } catch {
            throw named(source.path, error)
        }
    }

    private func check(_ db: SQLiteConnection, _ findings: Findings, _ progress: @escaping (Part, Int64) -> Void) throws
    {
        progress(.file, 0)
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

// MARK: - PostgreSQL

extension DatabaseCheck {
    private func run(_ url: String, _ findings: Findings, _ progress: (Part, Int64) -> Void) throws(StoreError) {
        do {
            let connection = try PostgresConnection(
                PostgresConnection.Settings(
                    url: url, purpose: "backscroll check",
                    answerTime: PostgresConnection.Settings.commandAnswerTime))
            try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try check(connection, findings, progress)
            try connection.execute("COMMIT")
        } catch let error as StoreError {
            throw error
        } catch {
            throw .postgres("\(error)")
        }
    }

    private func check(
        _ db: PostgresConnection, _ findings: Findings, _ progress: (Part, Int64) -> Void
    ) throws {
        let schema = SchemaCheck(connection: db, findings: findings)
        guard try schema.checkVersion() else { return }
        try DatabaseCopy.checkIsWhole(db)
        try part(db, findings, "the tables") { try schema.run() }
        try part(db, findings, "the messages") {
            try MessageCheck(db, findings).run { progress(.messages, $0) }
        }
        try part(db, findings, "the rooms") { try ProgressCheck(db, findings).run() }
        progress(.people, 0)
        try part(db, findings, "members, read marks and bans") { try PeopleCheck(db, findings, [:]).run() }
        try part(db, findings, "jobs and deleted rooms") { try JobCheck(db: db, findings: findings).run() }
    }

    /// Runs one part of the check. A failed statement, such as one that needs a missing table, ends the part and is
    /// reported.
    private func part(
        _ connection: PostgresConnection, _ findings: Findings, _ name: String, _ body: () throws -> Void
    ) throws {
        try connection.execute("SAVEPOINT part")
        do {
            try body()
        } catch let error as PostgresError where error.kind == .statement {
            findings.add("the check of \(name) stopped: \(error)")
            // The statements that close cursors are still queued, and fail too.
            _ = try? connection.results()
            // The transaction continues with the same snapshot.
            try connection.execute("ROLLBACK TO SAVEPOINT part")
        }
    }
}
